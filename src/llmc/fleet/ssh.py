"""OpenSSH as the reach: the user's own configuration says where a host is, and never lends it anything of theirs."""

from __future__ import annotations

import os
import pwd
import stat

from llmc.errors import LlmcError
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
    """A directory for the sockets of shared connections. Its path is short: theirs may have 107 bytes, and ssh adds 58
    of its own."""

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
        _require_private(self.private)
        # %C: ssh reaches a host on the way (ProxyJump) with these options too, and that has a connection of its own.
        shared = ("ControlPath", f'"{os.path.join(self.private, "%C")}"')
        options = "\n".join(f"{name} {value}" for name, value in (*OPTIONS.items(), shared))
        path = os.path.join(self.private, "ssh.conf")
        write_atomically(path, CONFIGURATION.format(options=options, user=_user_configuration()))
        return path


def _require_private(directory: str) -> None:
    """Whoever else could put a socket there would be asked in place of the machine."""
    for path in (directory, os.path.dirname(directory)):
        found = os.lstat(path)
        is_open = found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX
        if found.st_uid not in (os.geteuid(), 0) or is_open or not stat.S_ISDIR(found.st_mode):
            raise LlmcError(f"{path} is not yours alone, and connections are shared there", f"remove {path}")


def _user_configuration() -> str:
    """Where ssh itself looks for it, whatever HOME says."""
    return os.path.join(pwd.getpwuid(os.geteuid()).pw_dir, ".ssh", "config")
