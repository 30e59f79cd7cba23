"""An older version of a real CLI, from an empty home to an accepted commit. `make drift` tries many more."""

from __future__ import annotations

import pytest

from testing.drift.cells import try_cells
from testing.drift.install import matrix, place_of
from testing.npm import programs_in
from testing.real_agents import not_here

OLDEST = matrix()["claude"][-1]


@pytest.mark.lesson(17, "what reads screens is versioned data beside recordings, and drift is told")
@pytest.mark.timeout(240)
def test_the_oldest_claude_of_the_matrix_commits_a_task() -> None:
    programs = programs_in(place_of("claude", OLDEST))
    if not (programs / "claude").exists():
        not_here(f"Claude Code {OLDEST} is not installed: run `make agents`")
    assert dict(try_cells("claude", programs, ["start", "task"])) == {"start": "", "task": ""}
