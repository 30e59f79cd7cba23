"""The examples for service managers are ones that these would take."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from testing.namespace import PROJECT

SERVICES = PROJECT / "docs" / "services"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here to ask")
def test_systemd_takes_the_service(tmp_path: Path) -> None:
    service = shutil.copy(SERVICES / "llmc.service", tmp_path)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    checked = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", service],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_daemon_ends_and_the_agents_stay_when_a_service_is_stopped() -> None:
    assert "KillMode=process" in (SERVICES / "llmc.service").read_text()
    assert plistlib.loads((SERVICES / "llmc.plist").read_bytes())["AbandonProcessGroup"] is True


def test_launchd_starts_the_daemon_in_the_foreground() -> None:
    agent = plistlib.loads((SERVICES / "llmc.plist").read_bytes())
    assert agent["ProgramArguments"] == ["/bin/sh", "-lc", 'exec llmc --root "$HOME/llmc" up']
