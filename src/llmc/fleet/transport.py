"""Git between hub and machine, over the same reach as everything else. The machine needs no credentials for it."""

from __future__ import annotations

import shlex

from llmc.errors import LlmcError
from llmc.fleet.reach import BEGINS, announced, shell_word
from llmc.fleet.registry import Machine
from llmc.git.backup_record import NAMESPACE
from llmc.git.failure import GitError
from llmc.git.own_view import view_of
from llmc.git.repository import HEADS
from llmc.git.runner import Git

_PLAIN = "env GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1"
"""An agent may have written the settings of its user, and hidden refs by them."""

BEGINS_WITHIN_SECS = 20.0
"""Nothing waits for a machine that takes the connection and says nothing."""
ENDS_WITHIN_SECS = 600.0
_WATCHED = "( trap 'kill $s' TERM; sleep {within:g} & s=$!; wait $s && kill 0 ) <&- >&- 2>&- & w=$!"
"""Else it ends git with all that it has started, which is a group of processes of its own."""
_PASSED_ON = f'while IFS= read -r line && [ "$line" != {BEGINS} ]; do :; done; kill $w 2>&-; exec cat'


def machine_ref(name: str, *parts: str) -> str:
    """Where the hub's clone keeps what it has from the machine, or knows of it."""
    return "/".join(("refs/llmc/machines", name, *parts))


def push_branch(git: Git, machine: Machine, root: str, branch: str, tip: str) -> None:
    """The branch of the machine's copy of the repository; only the hub moves it. Nothing where it is there already."""
    known = machine_ref(machine.name, "branch", branch)
    if git.objects(root, known) == (tip,):
        return
    words = ("push", "--quiet", "--no-follow-tags", f"--receive-pack={_PLAIN} git-receive-pack")
    _over(git, machine, root, *words, _place(machine.member.source), f"+{tip}:{HEADS}{branch}")
    git.run(root, "update-ref", "--no-deref", known, tip)


def forget_pushed(git: Git, machine: Machine, root: str, branch: str) -> None:
    """Its copy may have been made anew."""
    git.run(root, "update-ref", "--no-deref", "-d", machine_ref(machine.name, "branch", branch))


def fetch(git: Git, machine: Machine, root: str, *refs: str, begins_within: float = BEGINS_WITHIN_SECS) -> None:
    """From LLMC's own view of the clone there, which agents cannot configure."""
    words = ["-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]
    words += ["--no-auto-gc", "--no-recurse-submodules"]
    upload = f"--upload-pack={_PLAIN} git-upload-pack --strict"
    _over(git, machine, root, *words, upload, _place(view_of(machine.member.root)), *refs, begins_within=begins_within)


def keep_backups(git: Git, root: str, machine: str, here: frozenset[str]) -> list[str]:
    """Those of the machine also by their own names, where `llmc undo` looks. It can change none that is there, and has
    none of workers that are here."""
    found = {}
    theirs = machine_ref(machine, "backup")
    for line in git.text(root, "for-each-ref", "--format=%(refname) %(objectname)", theirs).splitlines():
        ref, sha = line.split(" ")
        name = ref.removeprefix(f"{theirs}/")
        if name.partition("/")[0] not in here:
            found[f"{NAMESPACE}{name}"] = sha
    known = git.objects(root, *found) if found else ()
    new = {ref: sha for (ref, sha), there in zip(found.items(), known, strict=True) if there is None}
    if new:
        orders = (f"create {ref} {sha}\n" for ref, sha in new.items())
        git.run(root, "update-ref", "--stdin", stdin="".join(orders).encode())
    return [*new]


def _place(path: str) -> str:
    return f"machine:{path}"


def _over(git: Git, machine: Machine, root: str, *words: str, begins_within: float = BEGINS_WITHIN_SECS) -> None:
    """Git hands a host and a command to what it takes for ssh; the host is ours to know."""
    reach = shlex.join(machine.reach.argv("@"))[: -len("@")]
    watched = _WATCHED.format(within=begins_within)
    way = f'f() {{ shift; {reach}"{announced("$1")}" | {{ {watched}; {_PASSED_ON}; }}; }}; f'
    env = {"GIT_SSH_COMMAND": way, "GIT_SSH_VARIANT": "simple", "GIT_PROTOCOL_FROM_USER": "1"}
    try:
        git.run(root, *words, env=env, timeout=ENDS_WITHIN_SECS)
    except GitError as failed:
        raise LlmcError(
            f"git could not talk to {machine.name}: {failed.words}", f"`llmc machine check {machine.name}` looks closer"
        ) from failed


def bare_copy_command(machine_source: str, branch: str) -> str:
    """Makes the machine's copy of the repository, empty, where there is none."""
    place = shell_word(machine_source)
    return f"test -d {place}/objects || git init --quiet --bare --initial-branch={shlex.quote(branch)} {place}"
