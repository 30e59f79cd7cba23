"""What is wrong with the machine and with the files of the root."""

from __future__ import annotations

from collections.abc import Iterator

from llmc.core.display import age
from llmc.doctor.findings import Finding, counted, finding, some
from llmc.doctor.health import Absent, Answer, Broken, Found, Health, Newer, RootHealth, StateFacts, Unknown, Version
from llmc.doctor.kinds import ERROR, WARNING

LOW_BYTES = 100 << 20
FULL_BYTES = 5 << 20
LOW_FILES = 1000

NEEDED_FOR = {
    "git": "worktrees, branches and merges are git's",
    "tmux": "every agent runs in a terminal of tmux's",
}
OPTIONAL = {
    "difft": ("difft-missing", "`llmc review` shows plain diffs"),
    "delta": ("delta-missing", "`llmc review --interface delta` shows plain diffs"),
}


def dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def size(number: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} TB"


def machine_findings(health: Health) -> Iterator[Finding]:
    yield from _program("git", health.git, health.minimum["git"])
    yield from _program("tmux", health.tmux, health.minimum["tmux"])
    yield from _lfs(health)
    for program, (code, cost) in OPTIONAL.items():
        if not health.tools[program]:
            yield finding(code, f"{program} is not installed", cost)
    if isinstance(health.root, Absent):
        yield finding("root-missing", f"there is no LLMC root at {health.root_path}", "name yours with --root")


def _program(name: str, answer: Answer[Version], minimum: Version) -> Iterator[Finding]:
    match answer:
        case Absent():
            what = f"{name} is not installed"
            yield finding(f"{name}-missing", what, NEEDED_FOR[name], minimum=dotted(minimum))
        case Broken(what):
            yield finding("program-broken", what, NEEDED_FOR[name], program=name)
        case Found((major, minor)) if (major, minor) < minimum:
            why = f"LLMC needs {dotted(minimum)}"
            yield finding(f"{name}-old", f"{name} {major}.{minor} is too old", why, minimum=dotted(minimum))


def _lfs(health: Health) -> Iterator[Finding]:
    if health.tools["git-lfs"]:
        return
    used = isinstance(health.root, Found) and health.root.value.uses_lfs == Found(True)
    if used:
        why = "the repository uses it: worktrees have pointers in place of the large files"
        yield finding("lfs-missing", "git-lfs is not installed", why, severity=ERROR)
    else:
        why = "repositories that use it get pointers in place of their large files"
        yield finding("lfs-missing", "git-lfs is not installed", why)


def root_findings(root: RootHealth) -> Iterator[Finding]:
    yield from _access(root)
    yield from _space(root)
    yield from _settings(root)
    yield from _state(root)
    yield from _agents(root)
    if isinstance(root.broken_packs, Found):
        for what in root.broken_packs.value:
            yield finding("pack-broken", what, "the screens of that CLI are read by the built-in pack, or not at all")
    if isinstance(root.unreadable, Found):
        for each in root.unreadable.value:
            yield finding("log-unreadable", f"{each.path} cannot be read", each.why, subject=each.path, path=each.path)


def _access(root: RootHealth) -> Iterator[Finding]:
    if isinstance(root.replaced, Found):
        for path in root.replaced.value:
            what, why = f"{path} is not a directory", "LLMC keeps files of its own there"
            yield finding("directory-replaced", what, why, subject=path, path=path)
    if isinstance(root.read_only, Found) and root.read_only.value:
        first = root.read_only.value[0]
        what = f"{some(root.read_only.value)} cannot be written to"
        yield finding("root-read-only", what, "nothing that happens can be kept", subject=first, path=first)
    if isinstance(root.open_paths, Found):
        for each in root.open_paths.value:
            what = f"other users may use {each.path} (mode {each.mode:04o})"
            yield finding(
                "modes-open", what, "prompts, code and settings are in there", subject=each.path, path=each.path
            )
    if isinstance(root.directories, Absent):
        why = "without it no command takes this directory for an LLMC root"
        path = f"{root.path}/.worktrees"
        yield finding("worktrees-missing", f"{root.path} has no .worktrees", why, subject=path, path=path)


def _space(root: RootHealth) -> Iterator[Finding]:
    if not isinstance(root.space, Found):
        return
    space = root.space.value
    why = "a change that cannot be written is not made"
    if space.free_bytes < LOW_BYTES:
        severity = ERROR if space.free_bytes < FULL_BYTES else None
        what = f"only {size(space.free_bytes)} are free on the disk of {root.path}"
        yield finding("disk-low", what, why, severity=severity, path=root.path)
    elif space.free_files is not None and space.free_files < LOW_FILES:
        what = f"the disk of {root.path} has room for {counted(space.free_files, 'more file')}"
        yield finding("disk-low", what, why, path=root.path)


def _settings(root: RootHealth) -> Iterator[Finding]:
    path = f"{root.path}/config.toml"
    match root.settings:
        case Absent():
            why = "without it no command takes this directory for an LLMC root"
            yield finding("config-missing", f"there is no {path}", why, subject=path, path=path)
        case Broken(what, hint):
            yield finding("config-broken", what, hint, path=path)


def _state(root: RootHealth) -> Iterator[Finding]:
    match root.state:
        case Absent():
            yield _unusable_state("state-missing", f"there is no {root.path}/state.json", root)
        case Newer(what):
            yield finding("state-newer", what, "this version would lose what it does not know")
        case Broken(what):
            yield _unusable_state("state-broken", what, root)
        case Found(StateFacts(problems=problems)):
            why = "no command takes a state that contradicts itself"
            for each in problems:
                yield finding("state-inconsistent", each.what, why, worker=each.worker)


def _unusable_state(code: str, what: str, root: RootHealth) -> Finding:
    match root.backup:
        case Found(float(seconds)):
            why = f"state.json.bak is usable, from {age(seconds)} ago"
            return finding(code, what, why, repair="`llmc doctor --repair` restores state.json.bak")
        case Broken(trouble):
            why = f"state.json.bak is no help: {trouble}"
        case Absent():
            why = "there is no state.json.bak"
        case Unknown(reason):
            why = f"whether state.json.bak is usable is not known: {reason}"
    return finding(code, what, why, repair="`llmc doctor --rebuild` makes it from the worktrees and terminals")


def _agents(root: RootHealth) -> Iterator[Finding]:
    if not isinstance(root.agents, Found):
        return
    for agent in root.agents.value:
        users = some(agent.workers)
        worker = agent.workers[0] if len(agent.workers) == 1 else None
        if not agent.program:
            what = f"nobody has described the agent {agent.name}"
            why = f"{users} cannot start" if users else "new workers would use it and could not start"
            config = f"{root.path}/config.toml"
            yield finding("agent-unknown", what, why, worker=worker, agent=agent.name, config=config)
        elif not agent.installed:
            what = f"{agent.program}, which runs the agent {agent.name}, is not installed"
            why = f"{users} cannot start" if users else "new workers would use it and could not start"
            severity = ERROR if users else WARNING
            yield finding("agent-missing", what, why, worker=worker, severity=severity, program=agent.program)
