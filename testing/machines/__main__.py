"""`make machines`: three machines to play with by hand, and a shell beside them; they are gone when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from testing.machines.three import DROP_INCOMING as INCOMING
from testing.machines.three import DROP_OUTGOING as OUTGOING
from testing.machines.three import NAMES, Machines, NoMachinesError, three_machines
from testing.roots import GLOBAL_CONFIG

WORDS = """\
This shell is beside three machines: {names}. Each has its own files, network, tmux and sshd (try `ssh m1`).
A repository is in ~/shop. For example:
  cd ~/shop && llmc init --source . --target ~/llmc
  llmc machine add m1 --ssh m1
`cut-off m1` drops every packet from and to it, `heal m1` ends that. `exit` ends all of it."""
SETTINGS = f"""\
PS1='hub:\\w\\$ '
beside() {{ nsenter --net --target "$(pgrep -x "init $1")" nft "${{@:2}}"; }}
cut-off() {{ beside "$1" $'table inet cut {{\\n{INCOMING}\\n{OUTGOING}\\n}}'; }}
heal() {{ beside "$1" flush ruleset; }}
"""
REPOSITORY = "git init -q shop && cd shop && echo shop >README && git add README && git commit -qm 'Begin a shop'"


def main() -> int:
    try:
        with three_machines() as machines:
            return _shell(machines)
    except NoMachinesError as why:
        sys.stderr.write(f"error: {why}\nhint: run this as root on Linux\n")
        return 1


def _shell(machines: Machines) -> int:
    home = machines.place / "home"
    (home / ".gitconfig").write_text(GLOBAL_CONFIG)
    (home / ".bashrc").write_text(SETTINGS)
    kept = {name: os.environ[name] for name in ("TERM", "COLORTERM") if name in os.environ}
    programs = str(Path(sys.prefix, "bin"))
    env = machines.environment | kept | {"PATH": f"{programs}:{machines.environment['PATH']}"}
    sys.stdout.write(WORDS.format(names=", ".join(NAMES)) + "\n")
    sys.stdout.flush()
    prepared = [*machines.entering(), "env", f"--chdir={home}", "bash", "-c"]
    subprocess.run([*prepared, REPOSITORY], env=env, check=True)
    with suppress(KeyboardInterrupt):
        subprocess.run([*prepared, "exec bash -i"], env=env, check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
