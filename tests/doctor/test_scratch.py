"""The worktrees in which checks run are LLMC's own: known, repaired by making them again, and left by nobody."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from llmc.app import open_site
from llmc.cli.main import main
from llmc.perform.checks import check_commit
from llmc.perform.scratch import MARK, scratch_lock
from testing.damage import adam as adam
from testing.damage import doctor as doctor
from testing.damage import root as root
from testing.damage import source as source


@pytest.fixture
def scratch(root, adam):
    """One that was used."""
    assert main(["--root", root.path, "config", "set", "repo.validate", '["true"]']) == 0
    assert check_commit(open_site(root), "refs/heads/llmc/adam").passed
    return Path(root.scratch, "1")


def lose_pointer(scratch, root):
    (scratch / ".git").unlink()


def lose_record(scratch, root):
    shutil.rmtree(Path(root.git_dir, "worktrees", "1"))


def make_link(scratch, root):
    shutil.rmtree(scratch)
    scratch.symlink_to(root.worktrees)


@pytest.mark.parametrize("damage", [lose_pointer, lose_record, make_link])
def test_a_damaged_one_is_made_again(doctor, root, scratch, damage):
    assert doctor().codes == set()
    damage(scratch, root)
    found = doctor().one("scratch-damaged")
    assert str(scratch) in found["what"]
    with scratch_lock(open_site(root), "1"):
        assert doctor().codes == set()  # somebody checks in it
    report = doctor("--repair", "--yes")
    assert (report.not_done, report.codes) == ([], set())
    assert (scratch / "README").exists()
    assert Path(root.worktrees, "adam", "README").exists()


def test_programs_of_a_check_that_nobody_waits_for_are_ended(doctor, root, scratch):
    with subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: str(scratch)}, process_group=0) as left:
        assert doctor().one("checks-left-running")["what"] == "1 program of a check still runs"
        report = doctor("--repair", "--yes")
        assert (report.not_done, report.codes) == ([], set())
        assert left.wait() < 0
