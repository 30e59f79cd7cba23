"""How LLMC's own tmux server is set up, and how a pane whose program has ended is kept from taking the server along.

tmux 3.3a dies, with every session, when a client comes to or leaves a dead pane whose program wanted to know about the
focus (most agent CLIs do). A reset of that terminal makes tmux forget it, and clears the screen: what was there goes to
a buffer first. tmux itself learns of some deaths late, so each of our own commands that could be the one asks again.
"""

from __future__ import annotations

_CALM = (
    "capture-pane -J -S -2000{at} ; set-option -p -F{at} @last_screen '#{{buffer_name}}' ; "
    "send-keys -R{at} ; set-option -p -F{at} @rows_kept '#{{pane_height}}'"
)
"""Not by `run-shell -C`: its commands crash the server, too, when the client that they run for has just left."""
_UNCALM = "#{&&:#{pane_dead},#{==:#{@rows_kept},}}"

_SETTINGS = """\
set -g remain-on-exit on
set -g exit-empty off
set -g default-size COLUMNSxROWS
set -g window-size latest
# A person sees the terminal at the size of theirs; when the last one has left, it gets its own size back.
%hidden FOLLOW="if-shell -F '#{client_control_mode}' '' 'set-option -w -u window-size'"
%hidden OTHER_SIZE="#{!=:#{window_width}x#{window_height},#{@columns}x#{@rows}}"
%hidden LEFT="#{&&:#{@columns},#{&&:#{==:#{session_attached},0},$OTHER_SIZE}}"
%hidden BACK="run-shell -C '#{S:#{?$LEFT,resize-window -t =#{session_name}: -x #{@columns} -y #{@rows} ; ,}}'"
set-hook -g client-attached "$FOLLOW"
set-hook -g client-session-changed[0] "$FOLLOW"
set-hook -g client-session-changed[1] "$BACK"
set-hook -g client-detached "$BACK"
set-hook -g pane-died { if-shell -F "UNCALM" { COMMANDS } }
bind-key d { if-shell -F "UNCALM" { COMMANDS } ; detach-client }
# The focus of a person's terminal is one more way to the same death.
set -g focus-events off
set -g history-limit 20000
set -g escape-time 0
set -g allow-rename off
set -g automatic-rename off
set -g status-left-length 40
set -g status-right ''
"""


def configuration(width: int, height: int) -> str:
    """The text of the server's configuration file; the size is that of terminals that nobody looks at."""
    calm = _SETTINGS.replace("UNCALM", _UNCALM).replace("COMMANDS", _CALM.format(at=""))
    return calm.replace("COLUMNSxROWS", f"{width}x{height}")


def calming(session: str) -> tuple[str, ...]:
    """The command that has to come before one by which a client may come to the session's pane, or leave it."""
    return ("if-shell", "-F", "-t", f"={session}:", _UNCALM, _CALM.format(at=f" -t ={session}:"))
