"""Effects as they are kept in the state file: a daemon of tomorrow reads what one of today has saved."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.lifecycle import effects
from llmc.core.lifecycle.effects import (
    LASTING,
    OWNS_WORKTREE,
    AskToResolve,
    CheckResolution,
    ClearConversation,
    Deliver,
    LastingEffect,
    MergeWork,
    Purpose,
    RebaseWork,
    RemoveWorker,
    ResetWorktree,
    StartSession,
    StopSession,
    from_step,
    to_step,
)
from llmc.model import Step

EFFECTS = [
    StartSession(),
    StopSession(),
    StopSession(force=True),
    Deliver("text\n\t;", Purpose.TASK),
    ClearConversation(),
    RebaseWork("e" * 40),
    AskToResolve(),
    AskToResolve(help=True),
    CheckResolution(),
    MergeWork(),
    MergeWork("a message"),
    ResetWorktree(),
    ResetWorktree(drops_task=True),
    RemoveWorker(),
]


@pytest.mark.parametrize("effect", EFFECTS, ids=repr)
def test_an_effect_comes_back_as_it_was(effect):
    step = to_step(effect, "adam-7")
    assert (step.id, step.name, step.begun) == ("adam-7", type(effect).__name__, False)
    assert from_step(step) == effect


@pytest.mark.parametrize("effect", EFFECTS, ids=repr)
def test_an_effect_survives_json(effect):
    step = to_step(effect, "adam-7")
    kept = json.loads(json.dumps({"id": step.id, "name": step.name, "args": dict(step.args), "begun": True}))
    assert from_step(Step(kept["id"], kept["name"], MappingProxyType(kept["args"]), kept["begun"])) == effect


@given(st.text(), st.sampled_from(list(Purpose)))
def test_any_text_is_kept_exactly(text, purpose):
    assert from_step(to_step(Deliver(text, purpose), "x")) == Deliver(text, purpose)


def test_every_lasting_effect_can_be_kept():
    defined = {
        kind
        for _, kind in inspect.getmembers(effects, inspect.isclass)
        if issubclass(kind, LastingEffect) and kind is not LastingEffect
    }
    assert set(LASTING.values()) == defined == {type(effect) for effect in EFFECTS}
    assert all(name == kind.__name__ for name, kind in LASTING.items())


def test_what_a_later_version_adds_is_left_out():
    step = Step("adam-1", "StopSession", MappingProxyType({"force": True, "politely": 3}))
    assert from_step(step) == StopSession(force=True)


def test_what_an_earlier_version_did_not_know_has_its_default():
    assert from_step(Step("adam-1", "ResetWorktree", MappingProxyType({}))) == ResetWorktree(drops_task=False)


def test_an_unknown_effect_is_not_guessed():
    with pytest.raises(KeyError):
        from_step(Step("adam-1", "MakeCoffee"))


def test_steps_cannot_be_changed_by_accident():
    step = to_step(StopSession(), "adam-1")
    with pytest.raises(TypeError):
        step.args["force"] = True


@pytest.mark.lesson(33, "one at a time rebases a worktree")
def test_everything_that_moves_the_branch_owns_the_worktree():
    assert set(OWNS_WORKTREE) == {RebaseWork, MergeWork, ResetWorktree, RemoveWorker}
    assert not any(issubclass(kind, OWNS_WORKTREE) for kind in (StartSession, StopSession, Deliver, ClearConversation))


@pytest.mark.parametrize("kind", LASTING.values())
def test_arguments_are_plain_values(kind):
    plain = {"str", "bool", "int", "str | None"}
    assert {str(field.type) for field in fields(kind)} <= plain
