"""The way out of a conflicted rebase: both sides are kept."""

from __future__ import annotations

from pathlib import Path

from llmc.demo.commits import UNSIGNED, identity, needed
from llmc.demo.requests import Doing, git
from llmc.demo.steps import StepFailedError

_MOST_ROUNDS = 200


def rebase_under_way() -> Doing[bool]:
    found = yield from git("rev-parse", "--git-path", "rebase-merge", "--git-path", "rebase-apply")
    return found.ok and any(Path(path).exists() for path in found.out.splitlines())


def abort_rebase() -> Doing[str]:
    needed((yield from git("rebase", "--abort")), "git rebase --abort")
    return "Aborted the rebase"


def resolve() -> Doing[str]:
    if not (yield from rebase_under_way()):
        return "No rebase is in progress: nothing to resolve"
    resolved: dict[str, None] = {}
    for _ in range(_MOST_ROUNDS):
        for path in (yield from _unmerged()):
            yield from _keep_both_in(path)
            resolved[path] = None
        yield from _go_on()
        if not (yield from rebase_under_way()):
            return f"Kept both sides in {', '.join(resolved) or 'no file'}; the rebase is over"
    raise StepFailedError(f"the rebase is still not over after {_MOST_ROUNDS} rounds")


def keep_both(text: bytes) -> bytes:
    """Upstream's lines first, then our own; the markers and the common ancestor's lines go."""
    kept: list[bytes] = []
    side = ""
    for line in text.splitlines(keepends=True):
        turned = _side_after(line, side)
        if turned == side and side != "ancestor":
            kept.append(line)
        side = turned
    return b"".join(kept)


def _side_after(line: bytes, side: str) -> str:
    """Where we are in a conflict after this line: outside is "", inside is upstream, ancestor or own."""
    if line.startswith(b"<<<<<<< ") and not side:
        return "upstream"
    if line.startswith(b"|||||||") and side == "upstream":
        return "ancestor"
    if line.rstrip(b"\r\n") == b"=======" and side in ("upstream", "ancestor"):
        return "own"
    if line.startswith(b">>>>>>> ") and side == "own":
        return ""
    return side


def _unmerged() -> Doing[list[str]]:
    listed = needed((yield from git("diff", "--name-only", "--diff-filter=U", "-z")), "git diff")
    return [path for path in listed.out.split("\0") if path]


def _keep_both_in(path: str) -> Doing[None]:
    """Where one side deleted the file, git has left the modified one in place, without markers."""
    file = Path(path)
    if file.is_file() and not file.is_symlink():
        content = file.read_bytes()
        if b"\0" in content:  # two binaries do not fit into one: ours is the newer
            needed((yield from git("checkout", "--theirs", "--", path)), "git checkout")
        else:
            file.write_bytes(keep_both(content))
    needed((yield from git("add", "-A", "--", path)), "git add")


def _go_on() -> Doing[None]:
    """May stop at the next conflict: the next round is for that one."""
    env = yield from identity()
    gone_on = yield from git(*UNSIGNED, "rebase", "--continue", env=env)
    if gone_on.ok or (yield from _unmerged()) or not (yield from rebase_under_way()):
        return
    if not (yield from git("diff", "--cached", "--quiet")).ok:
        raise StepFailedError(f"git rebase --continue: {gone_on.complaint}")
    yield from git(*UNSIGNED, "rebase", "--skip", env=env)
