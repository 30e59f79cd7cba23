"""Commits as a diligent agent makes them."""

from __future__ import annotations

import os

from llmc.demo.requests import Doing, git
from llmc.demo.script import with_trailers
from llmc.demo.shell import Finished
from llmc.demo.steps import ScriptStep, StepFailedError

# A signature could ask for a passphrase on the terminal that we draw on.
UNSIGNED = ("-c", "commit.gpgSign=false")

_IDENTITY = {"name": "LLMC demo agent", "email": "demo@localhost"}


def commit(step: ScriptStep) -> Doing[str]:
    yield from _record("-m", _message(step))
    return f"Committed {(yield from _head())}"


def amend(step: ScriptStep) -> Doing[str]:
    words = ("-m", _message(step)) if step.text else ("--no-edit",)
    yield from _record("--amend", *words)
    return f"Amended {(yield from _head())}"


def needed(done: Finished, command: str) -> Finished:
    if not done.ok:
        raise StepFailedError(f"{command}: {done.complaint}")
    return done


def identity() -> Doing[dict[str, str]]:
    """A name and an address for what the environment and git's configuration leave open."""
    missing: dict[str, str] = {}
    for key, value in _IDENTITY.items():
        if not (yield from git("config", f"user.{key}")).ok:
            names = (f"GIT_{role}_{key.upper()}" for role in ("AUTHOR", "COMMITTER"))
            missing.update({name: value for name in names if name not in os.environ})
    return missing


def _message(step: ScriptStep) -> str:
    return with_trailers(step.text) if step.trailers else step.text


def _record(*words: str) -> Doing[None]:
    needed((yield from git("add", "-A")), "git add")
    env = yield from identity()
    needed((yield from git(*UNSIGNED, "commit", "-q", *words, env=env)), "git commit")


def _head() -> Doing[str]:
    return needed((yield from git("log", "-1", "--format=%h %s")), "git log").out.strip()
