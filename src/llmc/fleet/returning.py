"""What comes from a machine to stay: its work, backups and usage, and a machine that was given up and is back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llmc.core.lifecycle.signal_words import reason
from llmc.core.notice import plain_notice
from llmc.core.usage.answer import MOST_TOKENS, ModelAnswer, Tokens
from llmc.errors import LlmcError
from llmc.fleet.branches import send_branch
from llmc.fleet.calls import Calls
from llmc.fleet.link import MachineLink
from llmc.fleet.registry import Machine, change_member
from llmc.fleet.transport import fetch, keep_backups, machine_ref
from llmc.fleet.wire import answer_in
from llmc.fleet.words import complaint_in
from llmc.git.repository import HEADS
from llmc.perform.notices import call
from llmc.site import Site
from llmc.store.usage import Counted

RETIRES_WITHIN_SECS = 600.0
BACKUPS = "refs/llmc/backup/*"
_KEYS = ("task", "worker", "agent", "model", "day")
_COUNTS = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
_USAGE = {"rows": [{**dict.fromkeys(_KEYS, ""), **dict.fromkeys((*_COUNTS, "step"), 0)}]}
_CALLS = {
    "needs_review": ("has work to review", "review"),
    "needs_input": ("asks", "peek"),
    "error": ("has failed", "explain"),
}


def fetch_work(site: Site, machine: Machine) -> list[str]:
    """The present work of each under the machine's name; its backups also where `llmc undo` finds them. Those new."""
    heads = f"+{HEADS}llmc/*:{machine_ref(machine.name, 'heads')}/*"
    fetch(site.git, machine, site.root.path, heads, f"+{BACKUPS}:{machine_ref(machine.name, 'backup')}/*")
    return keep_backups(site.git, site.root.path, machine.name, frozenset(site.ledger.load().workers))


def take_back(site: Site, machine: Machine, link: MachineLink) -> list[str]:
    """It was given up: its agents are stopped there first, what they made comes here, then it is one of ours again.

    The backups that are new here.
    """
    send_branch(site, machine)
    epoch = str(machine.member.epoch)
    words = ["remote-retire", "--epoch", epoch, "--json"]
    request = f"retire.{machine.hub}.{epoch}"
    answer = answer_in(
        link.ask(RETIRES_WITHIN_SECS, op="run", words=words, request=request, repeatable=True, board=False)
    )
    if answer.code:
        raise LlmcError(*complaint_in(answer.err))
    kept = fetch_work(site, machine)
    change_member(site.root, machine.name, lambda member: replace(member, lost=False))
    up = answer_in(link.ask(RETIRES_WITHIN_SECS, op="run", words=["up", "--detach", "--json"]))
    if up.code and "runs already" not in up.err:
        raise LlmcError(*complaint_in(up.err or up.out))
    return kept


def take_usage(site: Site, calls: Calls, name: str) -> None:
    """Its sums, as if each were one answer that grows: counted again, only what is more is added."""
    answer = calls.look(name, "remote-usage", "--json")
    site.usage.count(f"*{name}*", [_counted(row, name) for row in answer.shaped(_USAGE)["rows"]], {})


def _counted(row: dict[str, Any], machine: str) -> Counted:
    key = " ".join(str(row[name]) for name in (*_KEYS, "step"))
    tokens = Tokens(*(max(0, min(row[name], MOST_TOKENS)) for name in _COUNTS))
    answer = ModelAnswer(f"machine {machine} {key}", row["model"], 0.0, tokens)
    return Counted(answer, row["task"], row["worker"], row["agent"], row["day"], row["step"])


def call_for_person(site: Site, machine: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """For workers that wait for somebody now and did not when the machine was heard last."""
    statuses = {each["name"]: each["status"] for each in before.get("workers", ())}
    for worker in after.get("workers", ()):
        name, status = worker["name"], worker["status"]
        if status not in _CALLS or statuses.get(name, status) == status:
            continue
        words, verb = _CALLS[status]
        why = reason(worker["evidence"]["signal"], worker["evidence"]["detail"])
        notice = plain_notice(name, status, f"{name} {words} on {machine}: {why}; `llmc {verb} {name}`")
        call(site, notice, silent=status == "needs_review" and not site.config.defaults.sound_on_review)
