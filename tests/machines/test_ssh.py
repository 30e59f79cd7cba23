"""OpenSSH as the reach: nothing of the user's goes over with it, and no connection is waited for that is gone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from testing.machines.three import Hub, Machines
from testing.waiting import wait_until

GENEROUS = """
Host *
  ForwardAgent yes
  ForwardX11 yes
  ForwardX11Trusted yes
  PermitLocalCommand yes
  LocalCommand touch {place}/local-command-ran
  RemoteForward 7777 127.0.0.1:22
  SendEnv *
  SetEnv GIVEN=secret
  RequestTTY force
  RemoteCommand echo not this
  ControlPath {place}/others-%C
  ServerAliveInterval 0
"""

ASK = """
import sys
from llmc.fleet.ssh import SshReach
print(*SshReach("m1", sys.argv[1]).argv("env; tty; ss -tln; echo over"), sep="\\0", end="")
"""


def test_nothing_of_the_users_goes_over(machines: Machines) -> None:
    settings = machines.place / "home" / ".ssh" / "config"
    before = settings.read_text()
    settings.write_text(before + GENEROUS.format(place=machines.place))
    agent = machines.run("ssh-agent", "-s").out
    variables = dict(line.split(";")[0].split("=") for line in agent.splitlines() if "=" in line)
    ran_here = machines.place / "local-command-ran"
    env = {**machines.environment, **variables, "SECRET_TOKEN": "secret", "DISPLAY": ":9"}
    try:
        argv = machines.run(sys.executable, "-c", ASK, str(machines.place / "private")).out.split("\0")
        plain = machines.run("ssh", "m1", env=env, check=False).out
        ran_here.unlink()
        said = machines.run(*argv, env=env).out
    finally:
        settings.write_text(before)
        machines.run("kill", variables["SSH_AGENT_PID"])
    assert "not this" in plain  # what the user has set holds for the user
    assert said.endswith("over\n")
    assert "not a tty" in said
    for leaked in ("secret", "SSH_AUTH_SOCK", "DISPLAY", ":7777"):
        assert leaked not in said
    assert not ran_here.exists()
    assert not list(machines.place.glob("others-*"))


@pytest.mark.failure_case("a socket of a shared connection that nobody serves")
def test_a_connection_that_was_left_behind_is_replaced(machines: Machines, hub: Hub) -> None:
    hub.run("machine", "add", "m1", "--ssh", "m1")
    (socket,) = (path for path in Path(hub.sockets).glob("llmc-*/*") if path.is_socket())
    machines.run("ssh", "-O", "check", "-o", f"ControlPath={socket}", "m1")
    master = machines.run("pgrep", "-f", str(socket)).out.split()[0]
    machines.kill(int(master))
    assert socket.exists()
    assert hub.run("machine", "check", "m1").code == 0

    machines["m1"].cut()
    cut_off = hub.run("machine", "check", "m1", check=False)
    assert (cut_off.code, "m1" in cut_off.err) == (1, True)
    machines["m1"].heal()
    wait_until(lambda: hub.run("machine", "check", "m1", check=False).code == 0)


@pytest.mark.failure_case("more sessions than sshd allows")
def test_more_questions_than_one_connection_may_carry(machines: Machines, hub: Hub) -> None:
    """sshd refuses sessions beyond MaxSessions: they get a connection of their own."""
    m1 = machines["m1"]
    m1.run("sed", "-i", "s/^MaxSessions.*/MaxSessions 1/", "/etc/ssh/machine_config")
    m1.run("sh", "-c", "kill -HUP $(cat /run/sshd.pid)")
    try:
        hub.run("machine", "add", "m1", "--ssh", "m1")
        hub.run("up", "--detach")
        wait_until(lambda: json.loads(hub.run("status", "--json").out)["machines"][0]["state"] == "ok")
        assert hub.run("machine", "check", "m1").code == 0
    finally:
        m1.run("sed", "-i", "s/^MaxSessions.*/MaxSessions 64/", "/etc/ssh/machine_config")
