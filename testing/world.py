"""A user's repository and a worker with work to accept, made once and put back for every scenario."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from llmc.model import Turn, Work
from testing.story import Story

Files = Mapping[str, "str | bytes | Link | None"]
"""What to write where; None deletes."""
TASK = "Do the task"
SOME = {
    "README": "".join(f"line {number}\n" for number in range(1, 21)),
    "src/app.py": "print('app')\n",
    "src/deep/er/util.py": "UTIL = 1\n",
    "notes.txt": "notes\n",
    "run.sh": "#!/bin/sh\n",
    ".gitignore": "*.log\nbuild/\n",
}


@dataclass(frozen=True, slots=True)
class Link:
    """A symlink to this."""

    target: str


@dataclass(slots=True)
class World:
    """`adam` is the worker; its agent does not run."""

    story: Story

    @property
    def source(self) -> Path:
        return self.story.repository

    @property
    def worktree(self) -> Path:
        return Path(self.story.root.worktrees, "adam")

    # --- what is arranged ---------------------------------------------------------------------------

    def work(self, files: Files, message: str = "The work", **env: str) -> str:
        """A commit of the worker's."""
        return self._commit(self.worktree, files, message, env)

    def upstream(self, files: Files, message: str = "By hand") -> str:
        """A commit of the user's on the branch."""
        return self._commit(self.source, files, message, {})

    def local(self, files: Files) -> None:
        """Something in the user's checkout that is not committed."""
        write(self.source, files)

    def in_source(self, *words: str) -> str:
        return self.story.git(*words, cwd=str(self.source))

    def in_worktree(self, *words: str) -> str:
        return self.story.git(*words, cwd=str(self.worktree))

    def in_clone(self, *words: str) -> str:
        return self.story.git(*words, cwd=self.story.root.path)

    def config(self, key: str, value: str) -> None:
        self.story.llmc("config", "set", key, value)

    def hook(self, name: str, script: str) -> None:
        path = Path(self.in_source("rev-parse", "--path-format=absolute", "--git-path", f"hooks/{name}"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def to_review(self) -> None:
        """The record says that the work waits for review."""
        head = self.in_clone("rev-parse", "llmc/adam")
        self.story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=head, current_prompt=TASK, turn=Turn.OVER)

    def _commit(self, where: Path, files: Files, message: str, env: dict[str, str]) -> str:
        write(where, files)
        git = self.story.site.git
        git.run(str(where), "add", "--all")
        git.run(str(where), "commit", "--quiet", "--allow-empty", "-F", "-", stdin=message.encode(), env=env)
        return git.text(str(where), "rev-parse", "HEAD")

    # --- what is to be seen -------------------------------------------------------------------------

    def picture(self) -> dict[str, object]:
        """Everything that a refusal must leave as it was."""
        worker = self.story.worker("adam")
        return {
            "source": seen(self.story, self.source),
            "work": seen(self.story, self.worktree),
            "record": (worker.work, worker.commit_sha, worker.base_sha, worker.current_prompt, worker.pending),
            "locks": self.locks(),
        }

    def locks(self) -> list[str]:
        """Lock files that a git has left behind."""
        places = [Path(self.story.root.path, ".git"), self.source / ".git", self.source]
        found = {str(path) for place in places if place.is_dir() for path in place.rglob("*.lock")}
        return sorted(path for path in found if "/objects/" not in path)


def write(where: Path, files: Files) -> None:
    for name, content in files.items():
        path = where / name
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            _put(path, content)


def _put(path: Path, content: str | bytes | Link) -> None:
    if isinstance(content, Link):
        path.symlink_to(content.target)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def seen(story: Story, checkout: Path) -> dict[str, object]:
    """Refs, HEAD, index, status and files of a checkout, the refs of a bare repository; nothing where there is none."""
    if not checkout.is_dir():
        return {}
    where = str(checkout)
    named = ("refs/heads", "refs/stash", "refs/tags")
    found: dict[str, object] = {
        "refs": story.git("for-each-ref", "--format=%(refname) %(objectname)", *named, cwd=where),
        "HEAD": story.git("rev-parse", "--symbolic-full-name", "HEAD", cwd=where),
    }
    if story.git("rev-parse", "--is-bare-repository", cwd=where) == "false":
        found["index"] = story.git("ls-files", "--stage", cwd=where)
        found["status"] = story.git("status", "--porcelain=v2", "--untracked-files=all", "--ignored", cwd=where)
        found["files"] = files_of(checkout)
    return found


def files_of(directory: Path) -> dict[str, str]:
    """Mode and content of every file of a checkout, git's own excepted."""
    found = {}
    for folder, names, files in os.walk(directory):
        names[:] = [name for name in names if name != ".git"]
        links = [name for name in names if Path(folder, name).is_symlink()]
        for name in (*files, *links):
            path = Path(folder, name)
            if name != ".git":
                found[str(path.relative_to(directory))] = _entry(path)
    return found


def _entry(path: Path) -> str:
    mode = stat.filemode(path.lstat().st_mode)
    if path.is_symlink():
        return f"{mode} {os.readlink(path)}"
    return f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"


def _remove(place: Path) -> None:
    """A database that the last command closes just now takes files of its own along."""
    while place.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(place)


@dataclass(slots=True)
class Template:
    """The world as every scenario finds it. Paths are absolute, so it is always put back to the same place."""

    base: Path
    arrange: Callable[[World], object] = lambda _: None
    """What else there is, made once too."""

    def world(self) -> World:
        place, kept = self.base / "world", self.base / "kept"
        if not kept.exists():
            self._make(place)
            shutil.copytree(place, kept, symlinks=True)
        _remove(place)
        shutil.copytree(kept, place, symlinks=True)
        return World(Story(place))

    def _make(self, place: Path) -> None:
        story = Story(place).begin("adam", "baker")
        world = World(story)
        world.upstream(SOME, "Some files")
        for name in ("adam", "baker"):
            story.llmc("reset", name, "--yes")
        self.arrange(world)
