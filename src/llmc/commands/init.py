"""`llmc init`: a root for a repository. All of it, or nothing is left behind."""

from __future__ import annotations

import os
from argparse import Namespace
from itertools import chain, count
from pathlib import Path

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.config.load import parse_config
from llmc.config.sections import CLI_AGENTS
from llmc.errors import LlmcError
from llmc.git.clone import clone_source
from llmc.git.repository import common_dir, default_branch, is_bare, toplevel
from llmc.git.runner import Git
from llmc.host.base import Host
from llmc.host.files import write_atomically
from llmc.host.locks import FileLock
from llmc.root import Root
from llmc.roots import USUAL, known_roots, remember, repositories_around, repository_of, source_of
from llmc.store.config_file import default_config_text
from llmc.store.state_file import StateFile
from llmc.tmux.server import Tmux

OPTIONAL = {
    "git-lfs": "repositories that use LFS get pointers instead of their large files",
    "difft": "`llmc review` shows plain diffs",
    "delta": "`llmc review --interface delta` shows plain diffs",
}
AGENTS = ("claude", "codex", "gemini", "opencode")
"""The ones that are recommended; there are more."""
LOCK_SECS = 1.0
OWN_DIRECTORIES = (".worktrees", "logs", "run", "run/locks", "run/spool", "run/agents", "run/attention", "templates")
OWN_FILES = ("config.toml", "config.lock", "state.json", "state.json.bak", "state.lock", "status.db", ".git")
UNFINISHED = (".cloning", ".config.toml.new")
OWN_NAMES = tuple(dict.fromkeys((*OWN_FILES, *UNFINISHED, *(name.partition("/")[0] for name in OWN_DIRECTORIES))))
BEGUN = ".init.lock"
"""There while a root is being made, and held by whoever makes it: nobody holds it when that was cut short."""


def run(app: App, args: Namespace) -> Result:
    host = app.host()
    git = Git(host)
    git.require_version()
    Tmux(host, "llmc-init").require_version()
    source = _source(git, app.cwd, args.source)
    root = Root(_named_target(app, args) or _own_target(app, source))
    _require_plain("--target", root.path)
    branch = args.branch or default_branch(git, source)
    _check_target(root, source, force=args.force)
    app.console.progress(f"cloning {source}")
    _make(git, root, source, branch)
    remember(root, app.environ)
    return _told(app, root, source, branch)


def _source(git: Git, cwd: str, given: str | None) -> str:
    path = os.path.realpath(os.path.expanduser(given)) if given else cwd
    if not os.path.isdir(path):
        raise LlmcError(f"{given} is not a directory", "give the path of a git repository with --source")
    _require_plain("--source", path)
    found = common_dir(git, path)
    if found is None:
        hint = "run `git init` there first" if given else "go into one, or name it with --source PATH"
        raise LlmcError(f"{path} is not inside a git repository", hint)
    return found if is_bare(git, path) else toplevel(git, path) or path


def _require_plain(option: str, path: str) -> None:
    """Git, tmux and the agents are told of paths in lines."""
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in path):
        raise LlmcError(
            f"the path {path!r} has a control character, such as a line break, in it",
            f"rename that directory, or give another one with {option}",
        )


def _named_target(app: App, args: Namespace) -> str | None:
    return args.target or app.given_root or app.environ.get("LLMC_ROOT")


def _own_target(app: App, source: str) -> str:
    """`~/llmc` for the first repository; for the next, if the person agrees, one with the repository's name."""
    own = [root for root in known_roots(app.environ) if repository_of(source_of(root)) == repository_of(source)]
    proposed = _free_place(source)
    if own:
        raise LlmcError(
            f"{source} has a root already: {own[0].path}",
            f"go on with it (`llmc --root {own[0].shown} status`), or make another: `llmc init --target {proposed}`",
        )
    usual = Root(USUAL)
    if not usual.exists:
        return USUAL
    if app.console.agrees(f"{usual.path} is the root of {source_of(usual)}. Make one for {source} in {proposed}?"):
        return proposed
    raise LlmcError(
        f"{usual.path} is the root of {source_of(usual) or 'a repository that its settings do not tell'}",
        f"give this one a root of its own: `llmc init --target {proposed}`",
    )


def _free_place(source: str) -> str:
    """Beside `~/llmc`, with the repository's name, as a person can type it."""
    name = os.path.basename(source).removesuffix(".git")
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name).strip("-") or "2"
    places = chain([f"{USUAL}-{plain}"], (f"{USUAL}-{plain}-{number}" for number in count(2)))
    return next(place for place in places if not os.path.lexists(os.path.expanduser(place)))


def _check_target(root: Root, source: str, *, force: bool) -> None:
    _refuse_root(root, source)
    if os.path.commonpath([root.path, source]) == source:
        raise LlmcError(
            f"{root.path} is inside the repository {source}", "choose a --target outside: worktrees would nest"
        )
    if not os.path.lexists(root.path):
        return
    if not os.path.isdir(root.path):
        raise LlmcError(f"{root.path} is not a directory", "choose another --target")
    if os.path.lexists(root.inside(BEGUN)):
        return
    taken = [name for name in OWN_NAMES if os.path.lexists(root.inside(name))]
    if taken:
        raise LlmcError(
            f"{root.path} has {', '.join(taken)} already", "choose another --target: nothing is overwritten"
        )
    terminals = os.path.basename(root.terminals)  # they may have been there first
    if set(os.listdir(root.path)) - {terminals} and not force:
        raise LlmcError(f"{root.path} is not empty", "choose another --target, or say --force to use it all the same")


def _refuse_root(root: Root, source: str) -> None:
    if root.exists:
        raise LlmcError(
            f"{root.path} is an LLMC root already, of {source_of(root)}",
            f"go on with it, or choose another place: `llmc init --target {_free_place(source)}`",
        )


def _make(git: Git, root: Root, source: str, branch: str) -> None:
    made = _missing_directories(root.path)
    try:
        Path(root.path).mkdir(mode=0o700, parents=True, exist_ok=True)
        Path(root.path).chmod(0o700)  # it may have been there before, open to others
        with FileLock(root.inside(BEGUN), name="the new root", timeout=LOCK_SECS):
            try:
                _refuse_root(root, source)  # another `init` may have been quicker
                _fill_or_empty(git, root, source, branch)
            finally:
                os.unlink(root.inside(BEGUN))
    except BaseException:
        _remove_if_empty(made)
        raise


def _fill_or_empty(git: Git, root: Root, source: str, branch: str) -> None:
    try:
        _empty(git, root)
        _fill(git, root, source, branch)
    except BaseException:
        _empty(git, root)
        raise


def _fill(git: Git, root: Root, source: str, branch: str) -> None:
    clone_source(git, source, root.path, branch)
    text = default_config_text(source, branch)
    parse_config(text)
    for name in OWN_DIRECTORIES:
        Path(root.inside(name)).mkdir(mode=0o700, exist_ok=True)
    StateFile(root.path).create()
    # Last and in one step, because it makes the directory a root.
    write_atomically(root.config_file, text, durable=True)


def _empty(git: Git, root: Root) -> None:
    """Removes what making a root has made; there was nothing of these names before."""
    for path in map(root.inside, OWN_NAMES):
        if os.path.isdir(path) and not os.path.islink(path):
            git.host.remove_tree(path)
        elif os.path.lexists(path):
            os.unlink(path)


def _missing_directories(path: str) -> list[str]:
    """The directories that making this one will bring into being, deepest first."""
    missing = []
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def _remove_if_empty(directories: list[str]) -> None:
    for directory in directories:
        if os.path.isdir(directory) and not os.listdir(directory):
            os.rmdir(directory)


def _told(app: App, root: Root, source: str, branch: str) -> Result:
    host = app.host()
    absent = [program for program in (*OPTIONAL, *AGENTS) if host.which(program) is None]
    lines = [f"made the root {root.path} for {source}, branch {branch}"]
    lines += [f"without {program}: {OPTIONAL[program]}" for program in absent if program in OPTIONAL]
    lines += _told_of_agents(host, [agent for agent in AGENTS if agent in absent])
    # Inside of the repository its root is found; a --root that was given is repeated with every advice.
    around = repository_of(source) in list(repositories_around(app.cwd))
    where = "" if around or app.given_root else f"--root {root.shown} "
    lines.append(f"next: `llmc {where}add NAME` for each worker, then `llmc {where}up`")
    data = {"root": root.path, "source": source, "branch": branch, "absent": absent}
    return Result("\n".join(lines), data)


def _told_of_agents(host: Host, absent: list[str]) -> list[str]:
    if not any(host.which(agent) for agent in CLI_AGENTS):
        return [f"no agent CLI is installed yet: install one ({', '.join(AGENTS)}) and log in before `llmc up`"]
    return [f"without {', '.join(absent)}: workers cannot use them"] if absent else []
