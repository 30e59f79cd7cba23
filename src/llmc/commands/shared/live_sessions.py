"""Which sessions run, where no daemon says so. For status lines: imports next to nothing."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from llmc.root import Root


def live_sessions(root: Root) -> set[str] | None:
    """Without a daemon nobody keeps the state and the cache current: tmux is asked. None: not known."""
    directory = os.environ.get("TMUX_TMPDIR") or "/tmp"
    if not os.path.exists(os.path.join(directory, f"tmux-{os.getuid()}", root.tmux_socket)):
        return set()
    from llmc.errors import LlmcError
    from llmc.host.local import LocalHost
    from llmc.tmux.server import Tmux

    try:
        panes = Tmux(LocalHost(), root.tmux_socket).panes()
    except LlmcError:
        return None
    return {name for name, pane in panes.items() if not pane.dead}
