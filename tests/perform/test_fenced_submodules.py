"""Submodules of a fenced worker are filled from outside, and through no link that its agent puts in their way."""

from __future__ import annotations

from pathlib import Path

from llmc.model import Session
from llmc.perform.fence import fenced_command
from testing.roots import make_repository
from testing.story import Story, told_in


def _inside(story: Story, *words: str) -> str:
    done = story.site.host.run(fenced_command(story.site, "adam", words, {}), env=story.site.host.environ())
    assert done.ok, done.complaint
    return done.text


def test_a_fenced_worker_has_submodules(tmp_path: Path) -> None:
    library = tmp_path / "library"
    make_repository(library)
    with told_in(tmp_path) as story:
        story.begin(sandbox__mode="bwrap", repo__submodules="true")
        story.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(library), "libs/one")
        story.git("commit", "--quiet", "-m", "Add a submodule")
        story.llmc("add", "adam", "--agent", "demo")
        story.up()
        story.wait("adam", session=Session.UP)
        readme = Path(story.root.worktree("adam"), "libs/one/README")
        assert readme.exists()
        assert _inside(story, "git", "submodule", "status").startswith(" ")

        record, before = f"{story.root.git_dir}/worktrees/adam", sorted(library.rglob("*"))
        for trick in (
            f"rm -rf libs && ln -s {tmp_path} libs && mv .gitmodules m && sed s,libs/one,libs/library, m > .gitmodules",
            f"rm -rf {record}/modules && ln -s {library} {record}/modules",
        ):
            _inside(story, "sh", "-c", trick)
            story.try_llmc("reset", "adam", "--yes")
            assert sorted(library.rglob("*")) == before
            assert story.git("status", "--porcelain", cwd=str(library)) == ""
