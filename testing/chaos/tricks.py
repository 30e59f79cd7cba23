"""How agents set up git, for themselves or against whoever comes after them. LLMC's own git must hear none of it.

Every program that they name is a trap: it does what it should and, unless an agent runs it, writes down its name.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from testing.chaos.hands import FAILURES, at_work
from testing.chaos.world import AGENTS_MARK, HOOK, World

TRAP = """\
#!/bin/sh
[ -n "${mark}" ] || echo "$1" >>{heard}
case "$1" in
textconv) cat "$2" ;;
clean | smudge) cat ;;
upload-pack) shift; exec git-upload-pack "$@" ;;
esac
"""
HOOKS = ("reference-transaction", "post-checkout", "post-index-change", "pre-rebase", "post-rewrite")
# The first line is git's own.
EXCLUDE = "# what this agent does not want to see\nloose/\nown/\n"
SETTINGS: dict[str, dict[str, str]] = {
    "textconv": {"diff.chaos.textconv": "{trap} textconv"},
    "external diff": {"diff.external": "{trap} diff", "diff.chaos.command": "{trap} diff"},
    "filter": {"filter.chaos.clean": "{trap} clean", "filter.chaos.smudge": "{trap} smudge"},
    "merge driver": {"merge.chaos.driver": "{trap} merge"},
    "fsmonitor": {"core.fsmonitor": "{trap} fsmonitor"},
    "signature": {"commit.gpgSign": "true", "gpg.program": "{trap}"},
    "upload pack": {"remote.origin.uploadpack": "{trap} upload-pack"},
    "other origin": {"remote.origin.url": "{outside}/nowhere"},
    "other url": {"url.{outside}/nowhere.insteadOf": "{source}"},
    "alias": {"alias.st": "!{trap} alias", "alias.status": "!{trap} alias"},
    "excludes": {"core.excludesFile": "{outside}/excludes"},
    "sparse": {"core.sparseCheckout": "true"},
    "case": {"core.ignoreCase": "true", "core.fileMode": "false", "core.symlinks": "false"},
    "line ends": {"core.autocrlf": "true", "core.eol": "crlf"},
    "quotes": {"core.quotePath": "true", "status.relativePaths": "true", "color.ui": "always"},
}
ATTRIBUTES = "* diff=chaos filter=chaos merge=chaos\n"


def set_traps(world: World) -> None:
    """At the beginning, when nobody has touched the clone yet."""
    world.trap.write_text(TRAP.format(mark=AGENTS_MARK, heard=world.heard))
    world.trap.chmod(0o755)
    (world.outside / "excludes").write_text(EXCLUDE)
    shutil.copy2(_clone(world) / "config", world.outside / "config.before")


def play_a_trick(world: World) -> str:
    kinds, weights = zip(*TRICKS, strict=True)
    trick = world.random.choices(kinds, weights)[0]
    name = world.a_worker()
    done = ""
    with suppress(*FAILURES), at_work(world, name) as worktree:
        done = trick(world, name, worktree)
    return f"trick: {done}" if done else f"trick: {trick.__name__.replace('_', ' ')} (not possible)"


def configure(world: World, name: str, worktree: Path) -> str:
    kind = world.random.choice(tuple(SETTINGS))
    clone = _clone(world)
    places = {"trap": world.trap, "outside": world.outside, "source": world.source}
    file = clone / "config"
    if world.random.random() < 0.3:
        file = world.outside / "included"
        world.agents_git(name, "config", "--file", str(clone / "config"), "include.path", str(file))
    for key, value in SETTINGS[kind].items():
        world.agents_git(name, "config", "--file", str(file), key.format(**places), value.format(**places))
    if kind in ("textconv", "external diff", "filter", "merge driver"):
        (clone / "info").mkdir(exist_ok=True)
        (clone / "info" / "attributes").write_text(ATTRIBUTES)
    return kind


def exclude(world: World, name: str, worktree: Path) -> str:
    (_clone(world) / "info").mkdir(exist_ok=True)
    (_clone(world) / "info" / "exclude").write_text(EXCLUDE)
    return "exclude"


def set_hooks(world: World, name: str, worktree: Path) -> str:
    hooks = _clone(world) / "hooks"
    if world.random.random() < 0.5:
        hooks = world.outside / "hooks"
        hooks.mkdir(exist_ok=True)
        (hooks / "post-commit").write_text(HOOK)
        (hooks / "post-commit").chmod(0o755)
        world.agents_git(name, "config", "--file", str(_clone(world) / "config"), "core.hooksPath", str(hooks))
    for hook in HOOKS:
        (hooks / hook).write_text(f'#!/bin/sh\nexec {world.trap} "hook {hook}"\n')
        (hooks / hook).chmod(0o755)
    return "hooks"


def replace_a_commit(world: World, name: str, worktree: Path) -> str:
    """Git then shows another commit in its place, everywhere."""
    head, base = world.agents_git(name, "rev-parse", "HEAD", "origin/main").split()
    if head == base:
        return ""
    world.agents_git(name, "replace", "--force", head, base)
    return "replace"


def collect_garbage(world: World, name: str, worktree: Path) -> str:
    world.agents_git(name, "reflog", "expire", "--expire=now", "--all")
    world.agents_git(name, "gc", "--quiet", "--prune=now")
    return "garbage collection"


def behave(world: World, name: str, worktree: Path) -> str:
    """All settings are as they were."""
    clone = _clone(world)
    shutil.copy2(world.outside / "config.before", clone / "config")
    for file in (
        clone / "info" / "attributes",
        clone / "info" / "exclude",
        *(clone / "hooks" / hook for hook in HOOKS),
    ):
        file.unlink(missing_ok=True)
    for ref in world.agents_git(name, "for-each-ref", "--format=%(refname)", "refs/replace").split():
        world.agents_git(name, "update-ref", "-d", ref)
    return "back to what it was"


# --- a worktree that leads elsewhere ----------------------------------------------------------------


def lead_elsewhere(world: World, name: str, worktree: Path) -> str:
    """`.git` is a repository of its own, or leads to the user's, or to another worker's."""
    link = worktree / ".git"
    if not link.is_file() or name in world.led_away:
        return ""
    others = [other for other in world.workers if other != name]
    targets = {
        "a repository of its own": None,
        "the user's repository": world.source / ".git",
        "another worker's": _clone(world) / "worktrees" / world.random.choice(others or [name]),
    }
    where = world.random.choice(tuple(targets))
    world.led_away[name] = link.read_bytes()
    if target := targets[where]:
        link.write_text(f"gitdir: {target}\n")
    else:
        link.unlink()
        world.git("init", "--quiet", cwd=worktree)
    return f".git leads to {where}"


def lead_back(world: World, name: str, worktree: Path) -> str:
    """The agent puts back what it found, unless somebody else has done so."""
    was = world.led_away.pop(name, None)
    link = worktree / ".git"
    if was is None or (link.is_file() and f"worktrees/{name}" in link.read_text()):
        return ""
    if link.is_dir():
        shutil.rmtree(link)
    link.write_bytes(was)
    return ".git leads back"


def lead_all_back(world: World) -> None:
    for name in tuple(world.led_away):
        with suppress(*FAILURES), at_work(world, name) as worktree:
            lead_back(world, name, worktree)


def _clone(world: World) -> Path:
    return Path(world.root.git_dir)


TRICKS: tuple[tuple[Callable[[World, str, Path], str], int], ...] = (
    (configure, 8),
    (exclude, 2),
    (set_hooks, 2),
    (replace_a_commit, 1),
    (collect_garbage, 1),
    (behave, 4),
    (lead_elsewhere, 3),
    (lead_back, 5),
)
