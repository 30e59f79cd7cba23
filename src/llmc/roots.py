"""Which root is meant: the roots of this user, and the repository around us. Light on imports.

They are kept in mind as links of one directory, each named as the root's tmux server: no file that two could write.
"""

from __future__ import annotations

import os

from llmc.errors import LlmcError
from llmc.root import NowhereError, Root, is_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


USUAL = os.path.join("~", "llmc")


class RootMissingError(LlmcError):
    """There is no LLMC root where we looked."""


class SeveralRootsError(LlmcError):
    """The repository around us has more than one root, and none was named."""


def find_root(given: str | None, environ: Mapping[str, str], cwd: str) -> Root:
    """The root that was named, else that of the environment, the one around us, that of our repository, `~/llmc`."""
    root = Root(given or environ.get("LLMC_ROOT") or _around(cwd) or _of_repository(cwd, environ) or USUAL)
    if not root.exists:
        raise _missing(root)
    return root


def find_terminals_root(given: str | None, environ: Mapping[str, str], cwd: str) -> Root:
    """The same, for terminals: they need no repository, so a directory that holds only them will do.

    One that was named must be there; `~/llmc` is made when it is first needed, and `llmc init` may fill it later.
    """
    try:
        return find_root(given, environ, cwd)
    except RootMissingError:
        named = given or environ.get("LLMC_ROOT")
        root = Root(named or USUAL)
        usable = os.path.isdir(root.terminals) if named else os.path.isdir(root.path) or not os.path.lexists(root.path)
        if not usable:
            raise
        return root


def _missing(root: Root) -> RootMissingError:
    if os.path.isdir(root.path) and not os.access(root.path, os.R_OK | os.X_OK):
        return RootMissingError(f"you may not look into {root.path}", "check who owns it and its permissions")
    return RootMissingError(
        f"there is no LLMC root at {root.path}", "make one with `llmc init`, or name yours with --root or LLMC_ROOT"
    )


def _around(cwd: str) -> str | None:
    here = os.path.abspath(cwd)
    while not is_root(here):
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent
    return here


def here() -> str:
    """The directory that the person is in."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NowhereError("the directory that you are in is gone", "go to another one, such as `cd ~`") from None


def remember(root: Root, environ: Mapping[str, str]) -> None:
    """A home that cannot be written to costs the list, and nothing else."""
    register = _register(environ)
    link = os.path.join(register, root.tmux_socket)
    try:
        os.makedirs(register, mode=0o700, exist_ok=True)
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(root.path, link)
    except OSError:
        return


def known_roots(environ: Mapping[str, str]) -> list[Root]:
    register = _register(environ)
    try:
        names = os.listdir(register)
    except OSError:
        names = []
    roots = {root.path: root for root in map(Root, [USUAL, *(os.path.join(register, name) for name in names)])}
    return [roots[path] for path in sorted(roots) if roots[path].exists]


def _of_repository(cwd: str, environ: Mapping[str, str]) -> str | None:
    """The root of the innermost repository around us that has one."""
    around = list(repositories_around(cwd))[:1]
    around += [outer for outer in repositories_around(cwd) if around and _is_submodule(around[0], outer)]
    roots = known_roots(environ) if around else []
    by_repository = [(root, repository_of(source_of(root))) for root in roots]
    for repository in around:
        found = [root for root, of in by_repository if of == repository]
        if len(found) > 1:
            raise SeveralRootsError(
                f"this repository has {len(found)} roots: {', '.join(root.path for root in found)}",
                "name the one that you mean with --root",
            )
        if found:
            return found[0].path
    return None


def _is_submodule(repository: str, outer: str) -> bool:
    """A repository that merely lies in another one is a project of its own."""
    return repository.startswith(os.path.join(outer, "modules", ""))


def foreign_source(root: Root, cwd: str) -> str | None:
    """The repository of this root where we stand in another one; None where we do not, or it cannot be told."""
    if os.path.commonpath((root.path, os.path.realpath(cwd))) == root.path:
        return None
    around, source = list(repositories_around(cwd)), source_of(root)
    own = repository_of(source)
    ours = [each for each in around if each == around[0] or _is_submodule(around[0], each)]
    return source if around and source and own not in ours else None


def repositories_around(cwd: str) -> Iterator[str]:
    """The git directories of the repositories that we stand in, innermost first: of a submodule, then of the whole."""
    place = os.path.realpath(cwd)
    while True:
        found = _repository_at(place)
        if found:
            yield found
        parent = os.path.dirname(place)
        if parent == place:
            return
        place = parent


def repository_of(path: str | None) -> str | None:
    return _repository_at(os.path.realpath(path)) if path else None


def source_of(root: Root) -> str | None:
    """The repository that it was made for, as its settings say; None where they cannot be read."""
    try:
        with open(root.config_file, encoding="utf-8") as config:
            text = config.read()
        found = _plainly_written(text) or _parsed(text)
        return found and os.path.expanduser(found)
    except (OSError, ValueError):
        return None


def _plainly_written(text: str) -> str | None:
    """As `llmc init` writes it: a parser of TOML would take longer to load than `llmc status` takes."""
    import json

    _, found, after = text.partition('\n[repo]\nsource = "')
    return json.JSONDecoder().raw_decode('"' + after)[0] if found else None


def _parsed(text: str) -> str | None:
    import tomllib

    repo = tomllib.loads(text).get("repo")
    source = repo.get("source") if isinstance(repo, dict) else None
    return source if isinstance(source, str) else None


def _repository_at(place: str) -> str | None:
    """The git directory that all worktrees of a repository share."""
    git = os.path.join(place, ".git")
    if os.path.isdir(git):
        return os.path.realpath(_shared(git))
    if os.path.isfile(git):
        pointed = _line(git).removeprefix("gitdir: ")
        return os.path.realpath(_shared(os.path.join(place, pointed))) if pointed else None
    bare = all(os.path.exists(os.path.join(place, part)) for part in ("HEAD", "objects", "refs"))
    return os.path.realpath(place) if bare else None


def _shared(git_dir: str) -> str:
    return os.path.join(git_dir, _line(os.path.join(git_dir, "commondir")))


def _line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().rstrip("\n")
    except OSError:
        return ""


def ports_lock(environ: Mapping[str, str]) -> str:
    """Held while somebody chooses ports: all roots choose from the same ones."""
    return os.path.join(os.path.dirname(_register(environ)), "ports.lock")


def _register(environ: Mapping[str, str]) -> str:
    state = environ.get("XDG_STATE_HOME") or ""
    home = state if os.path.isabs(state) else os.path.expanduser("~/.local/state")
    return os.path.join(home, "llmc", "roots")
