"""OpenSSH as the reach: the user's own configuration says where a host is, and never lends it anything of theirs."""

from __future__ import annotations

import hashlib
import os
import pwd

from llmc.fleet.known import UNREACHABLE
from llmc.host.files import write_atomically
from llmc.values import Value

CONNECTS_WITHIN_SECS = 10
ALIVE_EVERY_SECS = 3
MISSED_AT_MOST = 2
SHARED_FOR_SECS = 600

OPTIONS = {
    # Agents run over there: they get none of the user's keys, screens or tunnels, and nothing here is run for them.
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "ForwardX11Trusted": "no",
    "PermitLocalCommand": "no",
    "ClearAllForwardings": "yes",
    "Tunnel": "no",
    "RemoteCommand": "none",
    "StdinNull": "no",
    "ForkAfterAuthentication": "no",
    "SetEnv": "LLMC_MACHINE=1",
    "BatchMode": "yes",
    # A connection whose other end is gone is noticed, and nothing waits for it for ever.
    "ConnectTimeout": str(CONNECTS_WITHIN_SECS),
    "ServerAliveInterval": str(ALIVE_EVERY_SECS),
    "ServerAliveCountMax": str(MISSED_AT_MOST),
    "ControlMaster": "auto",
    "ControlPersist": str(SHARED_FOR_SECS),
}


CONFIGURATION = """\
# Made by LLMC. What stands first holds; the variables of the user's environment are taken out again at the end.
{options}
Include "{user}"
Include /etc/ssh/ssh_config
Match all
    SendEnv -*
"""


class SshReach(Value):
    host: str
    private: str
    """A directory for the sockets of shared connections. Its path is short: sockets have 107 bytes."""

    @property
    def words(self) -> str:
        return f"ssh {self.host}"

    @property
    def keeps_processes(self) -> bool:
        return True

    def state_after(self, complaint: str) -> str:
        return UNREACHABLE

    def argv(self, command: str, *, terminal: bool = False) -> list[str]:
        return ["ssh", "-F", self._configuration(), "-tt" if terminal else "-T", "--", self.host, command]

    def _configuration(self) -> str:
        os.makedirs(self.private, mode=0o700, exist_ok=True)
        socket = os.path.join(self.private, hashlib.sha256(self.host.encode()).hexdigest()[:12])
        options = "\n".join(f"{name} {value}" for name, value in (*OPTIONS.items(), ("ControlPath", f'"{socket}"')))
        write_atomically(f"{socket}.conf", CONFIGURATION.format(options=options, user=_user_configuration()))
        return f"{socket}.conf"


def _user_configuration() -> str:
    """Where ssh itself looks for it, whatever HOME says."""
    return os.path.join(pwd.getpwuid(os.geteuid()).pw_dir, ".ssh", "config")
