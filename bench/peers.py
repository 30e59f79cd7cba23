"""Other programs that do a part of the same work, each in a directory of its own under `.peers`."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from testing.roots import FOREIGN

PROJECT = Path(__file__).resolve().parent.parent
PINS = Path(__file__).with_name("peers.json")
PLACE = PROJECT / ".peers"


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    registry: str
    package: str
    version: str
    path: str
    """From its place to what is run of it: its command, or the Python that can import it."""

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def place(self) -> Path:
        return PLACE / self.name

    @property
    def program(self) -> str:
        return str(self.place / self.path)

    @property
    def stamp(self) -> Path:
        """Written when it is installed; holds the version."""
        return self.place / "installed"

    @property
    def complaint(self) -> Path:
        """Why it could not be installed."""
        return PLACE / f"{self.name}.failed"

    @property
    def is_here(self) -> bool:
        return self.stamp.exists() and self.stamp.read_text("utf-8") == self.version

    @property
    def absence(self) -> str:
        """Nothing, or why it is not among the measured."""
        if self.is_here:
            return ""
        why = self.complaint.read_text("utf-8").strip() if self.complaint.exists() else "`make peers` does it"
        return f"{self.title} is not installed: {why}"


def _pinned() -> dict[str, Peer]:
    pins = json.loads(PINS.read_text("utf-8"))
    return {
        name: Peer(name, pin["registry"], pin["package"], pin["version"], pin["program"]) for name, pin in pins.items()
    }


PEERS = _pinned()
LIBTMUX = PEERS["libtmux"]
ORCHESTRATOR = PEERS["cli-agent-orchestrator"]
CCMANAGER = PEERS["ccmanager"]


def own_home(home: str) -> dict[str, str]:
    """An environment in which a peer finds no settings, no sessions and no server of whoever measures."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return kept | {"HOME": home, "TMUX_TMPDIR": home}


def absences(*peers: Peer) -> str:
    """For the words under a table."""
    return "; ".join(peer.absence for peer in peers if not peer.is_here)
