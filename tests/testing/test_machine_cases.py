"""No case of what goes wrong between a hub and its machines is without a test."""

from __future__ import annotations

from testing.machines.cases import CASES, held


def test_each_case_has_a_test_and_each_test_a_case_that_is_listed() -> None:
    assert set(held()) == set(CASES)
