"""What comes from a machine to stay: its work and backups, and a machine that was given up and is back."""

from __future__ import annotations

from dataclasses import replace

from llmc.errors import LlmcError
from llmc.fleet.branches import send_branch
from llmc.fleet.link import Link
from llmc.fleet.registry import Machine, change_member
from llmc.fleet.transport import fetch, machine_ref
from llmc.fleet.wire import answer_in
from llmc.fleet.words import complaint_in
from llmc.git.repository import HEADS
from llmc.site import Site

RETIRES_WITHIN_SECS = 600.0
BACKUPS = "refs/llmc/backup/*"


def fetch_work(site: Site, machine: Machine) -> None:
    """Backups under their own names, so that `llmc undo` finds them; the present work of each under the machine's."""
    heads = f"+{HEADS}llmc/*:{machine_ref(machine.name, 'heads')}/*"
    fetch(site.git, machine, site.root.path, heads, f"{BACKUPS}:{BACKUPS}")


def take_back(site: Site, machine: Machine, link: Link) -> None:
    """It was given up: its agents are stopped there first, what they made comes here, then it is one of ours again."""
    send_branch(site, machine)
    epoch = str(machine.member.epoch)
    words = ["remote-retire", "--epoch", epoch, "--json"]
    request = f"retire.{machine.hub}.{epoch}"
    answer = answer_in(
        link.ask(RETIRES_WITHIN_SECS, op="run", words=words, request=request, repeatable=True, board=False)
    )
    if answer.code:
        raise LlmcError(*complaint_in(answer.err))
    fetch_work(site, machine)
    change_member(site.root, machine.name, lambda member: replace(member, lost=False))
    link.ask(RETIRES_WITHIN_SECS, op="run", words=["up", "--detach", "--json"])
