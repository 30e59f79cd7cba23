"""What ssh is told about every host, as ssh itself understands it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from llmc.errors import LlmcError
from llmc.fleet.ssh import SshReach


def understood(reach: SshReach, host: str) -> dict[str, str]:
    configuration = reach.argv("true")[2]
    said = subprocess.run(["ssh", "-G", "-F", configuration, host], capture_output=True, text=True, check=True).stdout
    return dict(line.split(" ", 1) for line in said.splitlines() if " " in line)


def test_a_host_on_the_way_has_a_connection_of_its_own(tmp_path: Path) -> None:
    """ssh reaches it with the same options: over one socket for both, commands for the machine would run there."""
    private = tmp_path / "own"
    reach = SshReach("box", str(private))
    box, jump = (understood(reach, host) for host in ("box", "me@jump"))
    assert box["controlpath"].startswith(f"{private}/")
    assert box["controlpath"] != jump["controlpath"]
    assert (box["controlmaster"], box["forwardagent"], box["permitlocalcommand"]) == ("auto", "no", "no")
    assert "sendenv" not in box


def test_connections_are_shared_nowhere_that_others_can_write(tmp_path: Path) -> None:
    private = tmp_path / "open"
    private.mkdir()
    os.chmod(private, 0o777)
    with pytest.raises(LlmcError, match="not yours alone"):
        SshReach("box", str(private)).argv("true")
