"""The helper of a machine is killed, however that comes about: what it has begun for the hub's board ends with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from testing.story import Story
from testing.waiting import wait_until


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_whoever_follows_the_board_ends_with_a_helper_that_is_killed(story: Story) -> None:
    story.begin("adam")
    argv = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", story.root.path, "remote-serve"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as helper:
        assert helper.stdin is not None
        assert helper.stdout is not None
        helper.stdin.write(json.dumps({"id": 1, "op": "follow"}).encode() + b"\n")
        helper.stdin.flush()
        while b'"workers"' not in helper.stdout.readline():
            assert helper.poll() is None
        (follower,) = children_of(helper.pid)
        helper.kill()
        wait_until(lambda: not os.path.exists(f"/proc/{follower}"))
