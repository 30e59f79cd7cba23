"""How a machine joins: what it must have is looked for, then its copy of the repository and its root are made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from llmc import __version__
from llmc.config.edit import value_at, with_table, with_value, without_table
from llmc.config.load import decode
from llmc.core.names import check_worker_name
from llmc.errors import LlmcError
from llmc.fleet.reach import Reach, UnreachableError, announced, shell_word, without_banner
from llmc.fleet.registry import Machine, Member
from llmc.fleet.transport import bare_copy_command, forget_pushed, push_branch
from llmc.git.runner import MINIMUM, clean_environment
from llmc.host.base import Completed, ProgramHungError
from llmc.host.own_package import own_package
from llmc.root import Root
from llmc.site import Site
from llmc.values import Value

LOOKS_WITHIN_SECS = 40.0
MAKES_WITHIN_SECS = 1800.0
FULL_BELOW_KB = 1024
TMUX_MINIMUM = (3, 2)
MARK = "llmc-probe"
INSTALLED = "~/.local/bin/llmc"
_PROBE = r"""
say() { printf '\nllmc-probe %s %s\n' "$1" "$2"; }
say home "$HOME"; say user "$(id -un)"
say tmux "$(tmux -V 2>/dev/null)"; say git "$(git --version 2>/dev/null)"
for each in PROGRAM "$HOME/.local/bin/llmc" "$HOME/bin/llmc"; do
  found=$(command -v "$each" 2>/dev/null) && { say program "$found"; say llmc "$("$found" --version 2>&1)"; break; }
done
say python "$(python3 --version 2>/dev/null)"
say over yes
"""


_INSTALL = r"""
set -e; place="$HOME/.local/share/llmc/VERSION"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) and "it has no Python 3.11 or later")'
mkdir -p "$HOME/.local/bin"; rm -rf "$place"; python3 -m venv --without-pip "$place"
tar xzf - -C "$("$place/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
printf '#!%s\nfrom llmc.cli.main import entry\nentry()\n' "$place/bin/python" > "$place/bin/llmc"
chmod +x "$place/bin/llmc"; ln -sf "$place/bin/llmc" "$HOME/.local/bin/llmc"
"""


class Probe(Value):
    """What a machine says of itself."""

    home: str
    user: str
    tmux: str = ""
    git: str = ""
    program: str = ""
    llmc: str = ""
    python: str = ""

    @property
    def lacks_llmc(self) -> bool:
        return not self.program or self.version != __version__

    @property
    def version(self) -> str:
        return self.llmc.removeprefix("llmc ").strip()

    def problems(self) -> list[str]:
        """What keeps it from being a machine of ours, and what to do about it."""
        found = []
        for name, said, least in (("tmux", self.tmux, TMUX_MINIMUM), ("git", self.git, MINIMUM)):
            version = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
            wanted = ".".join(map(str, least))
            if not version:
                found.append(f"it has no {name}: install {name} {wanted} or later there")
            elif version < least:
                found.append(f"its {name} is {'.'.join(map(str, version))}: install {wanted} or later there")
        if not self.program:
            found.append(f"it has no llmc: install llmc {__version__} there, or `--install` does")
        elif self.version != __version__:
            found.append(f"its llmc is {self.version or 'broken'}, and here is {__version__}: `--install` does it")
        return found


def over(site: Site, reach: Reach, command: str, stdin: bytes = b"", within: float = LOOKS_WITHIN_SECS) -> Completed:
    """Runs a command of the shell there. Raises UnreachableError when it does not end."""
    env = clean_environment(site.host.environ())
    try:
        done = site.host.run(reach.argv(announced(command)), env=env, stdin=stdin, timeout=within)
    except ProgramHungError as hung:
        raise UnreachableError(
            f"{reach.words} did not answer within {within:.0f} s", "check its address and the network"
        ) from hung
    return replace(done, out=without_banner(done.out))


def probe(site: Site, reach: Reach, program: str) -> Probe:
    done = over(site, reach, _PROBE.replace("PROGRAM", shell_word(program)))
    said = dict(_probed(line) for line in done.text.splitlines() if line.startswith(f"{MARK} "))
    if "over" not in said:
        why = done.complaint.splitlines()[-1] if done.complaint else f"it ended with {done.code}"
        raise UnreachableError(f"{reach.words} cannot be reached: {why}", _reach_hint(why))
    said.pop("over")
    return Probe(**said)


def install(site: Site, reach: Reach) -> None:
    """This very llmc, in an environment of its own there, where the machine is looked through for it."""
    done = over(site, reach, _INSTALL.replace("VERSION", __version__), own_package(), MAKES_WITHIN_SECS)
    if not done.ok:
        why = done.complaint.splitlines()[-1] if done.complaint else f"it ended with {done.code}"
        raise LlmcError(f"llmc could not be installed on {reach.words}: {why}", "install it by hand there")


def _probed(line: str) -> tuple[str, str]:
    _, name, said = line.split(" ", 2)
    return name, said.strip()


def _reach_hint(why: str) -> str:
    if "Permission denied" in why or "Host key" in why:
        return "make sure that `ssh` logs in there without asking anything: a key in your agent, a known host key"
    return "try the same by hand; nothing was made"


def check_machine_name(name: str) -> None:
    try:
        check_worker_name(name)
    except LlmcError as wrong:
        wrong.args = (wrong.what.replace("a worker's", "a machine's"),)
        wrong.what = wrong.args[0]
        raise


def make_there(site: Site, machine: Machine, say: Callable[[str], None]) -> str:
    """The copy of the repository and the root, each where there is none. The id of the root; all of it or nothing."""
    member, branch = machine.member, site.config.repo.branch
    home = shell_word(member.home)
    had = over(site, machine.reach, f"test -d {home} && echo there").text.strip() == "there"
    try:
        say(f"copying {branch} to {machine.name}")
        _must(site, machine, f"mkdir -p -m 700 {home} && {bare_copy_command(member.source, branch)}")
        forget_pushed(site.git, machine, site.root.path, branch)
        push_branch(site.git, machine, site.root.path, branch, _tip(site))
        say(f"making the root on {machine.name}")
        llmc, root = shell_word(member.program), shell_word(member.root)
        init = f"{llmc} init --source {shell_word(member.source)} --target {root} --branch {branch} --json"
        _must(site, machine, f"test -e {root}/config.toml || {init}")
        return join(site, machine)
    except BaseException as failed:
        forget_pushed(site.git, machine, site.root.path, branch)
        is_full = isinstance(failed, LlmcError) and _is_full(site, machine)
        if not had:
            with suppress(LlmcError):
                over(site, machine.reach, f"rm -rf -- {home}")
        if is_full:
            what = f"{machine.name} has no space left on the disk of {member.home}"
            raise LlmcError(what, "free some, or name another directory with --home") from failed
        raise


def _is_full(site: Site, machine: Machine) -> bool:
    """Git does not always say so."""
    try:
        free = over(
            site, machine.reach, f"df -Pk {shell_word(machine.member.home)} | awk 'NR == 2 {{ print $4 }}'"
        ).text
        return int(free.split()[-1]) < FULL_BELOW_KB
    except (LlmcError, ValueError, IndexError):
        return False


def join(site: Site, machine: Machine) -> str:
    """Tells the root there whose it is, and gives it the settings of this one. Its id."""
    member = machine.member
    words = f"remote-join --hub {machine.hub} --name {machine.name} --epoch {member.epoch}"
    command = f"{shell_word(member.program)} --root {shell_word(member.root)} {words} --json"
    done = _must(site, machine, command, settings_for(site.root, member).encode())
    return str(json.loads(done.text[done.text.index("{") :])["id"])


def _tip(site: Site) -> str:
    from llmc.care.acting import newest_tip

    return newest_tip(site)


def _must(site: Site, machine: Machine, command: str, stdin: bytes = b"") -> Completed:
    done = over(site, machine.reach, command, stdin, MAKES_WITHIN_SECS)
    if not done.ok:
        from llmc.fleet.words import complaint_in

        what, hint = complaint_in(done.err.decode("utf-8", "replace"))
        raise LlmcError(f"{machine.name}: {what or f'it ended with {done.code}'}", hint or "nothing was made")
    return done


def settings_for(root: Root, member: Member) -> str:
    """The settings of this root as they hold on a machine: what is about this place alone is left out."""
    with open(root.config_file, encoding="utf-8") as file:
        text = file.read()
    raw = decode(text, root.config_file)
    for table in ("machines", "workers"):
        names = value_at(raw, (table,))
        for name in names if isinstance(names, dict) else ():
            text = without_table(text, (table, name))
    for table in ("web", "notify"):  # who is called is called here
        if value_at(raw, (table,)) is not None:
            text = without_table(text, (table,))
    if value_at(raw, ("repo", "push")):
        text = with_value(text, ("repo", "push"), "")
    return with_value(text, ("repo", "source"), member.source)


def with_own_workers(text: str, before: str) -> str:
    """New settings from the hub, with what the machine's own file says of its workers."""
    workers = value_at(decode(before, "config.toml"), ("workers",))
    for name, table in workers.items() if isinstance(workers, dict) else ():
        text = with_table(text, ("workers", name), table)
    return text
