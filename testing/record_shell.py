"""Records screens of a shell with true labels: `python -m testing.record_shell [--size 80x24]`. It takes no agent."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from llmc.host.local import LocalHost
from llmc.tmux.configuration import configuration
from llmc.tmux.server import Tmux
from testing.record_screens import SCREENS
from testing.recordings import keep_frame
from testing.roots import make_repository, own_environment
from testing.terminals import end_servers

SHELL = ("env", "PS1=dev@box:\\w\\$ ", "LESS=", "PAGER=less", "bash", "--noprofile", "--norc", "-i")
QUOTES = "Do you want to continue? [Y/n]\nTraceback (most recent call last):\nValueError: x\n❯ 1. Yes\npassword:\n"
PROGRESS = """\
import sys, time
for i in range(99):
    sys.stdout.write("\\r%3d%% [%-40s]" % (i, "#" * (i // 3)))
    sys.stdout.flush()
    time.sleep(0.2)
"""
FAILING = """\
import time, traceback
try:
    int("x")
except ValueError:
    traceback.print_exc()
print("trying again", flush=True)
time.sleep(60)
"""
ASKING = "echo 'Two packages will be installed.'; read -p 'Do you want to continue? [Y/n] ' a; sleep 30"


@dataclass(frozen=True)
class Scene:
    """Lines to type, and what the screen shows a while after the last one; `keys` are pressed without Enter."""

    name: str
    label: str
    detail: str | None
    lines: Sequence[str] = ()
    typed: str = ""
    keys: Sequence[str] = ()
    alt: str | None = None


SCENES = (
    Scene("prompt", "READY", "shell"),
    Scene("listing", "READY", "shell", ["ls -la", "git --no-pager log --oneline"]),
    Scene("draft", "READY", "draft", typed="git commit -m 'half a mess"),
    Scene("draft-asks", "READY", "draft", typed="echo Go on? [y/n]"),
    Scene("continuation", "READY", "continuation", ["cat <<EOF", "one"]),
    Scene("background", "READY", "shell", ["sleep 50 &"]),
    Scene("stopped", "READY", "shell", ["sleep 99"], keys=["C-z"]),
    Scene("quotes", "READY", "shell", ["cat quotes.txt; echo fine"], alt="ERROR"),
    Scene("quotes-running", "BUSY", "tool", ["cat quotes.txt; sleep 60"]),
    Scene("sleep", "BUSY", "tool", ["sleep 60"]),
    Scene("output", "BUSY", "tool", ["for i in 1 2 3 4 5 6 7 8 9; do echo module $i; sleep 1; done"]),
    Scene("progress", "BUSY", "tool", ["python3 progress.py"]),
    Scene("trying-again", "BUSY", "tool", ["python3 failing.py"]),
    Scene("tail", "BUSY", "tool", ["tail -f README"]),
    Scene("answered", "BUSY", "tool", ["bash asking.sh", "y"]),
    Scene("yes-no", "NEEDS_CONFIRMATION", "question", ["bash asking.sh"]),
    Scene("remove", "NEEDS_CONFIRMATION", "question", ["rm -i README"]),
    Scene("any-key", "NEEDS_CONFIRMATION", "question", ["read -p 'Press ENTER to continue' a"]),
    Scene("name", "NEEDS_CONFIRMATION", "question", ["python3 -c \"input('Project name: ')\""]),
    Scene(
        "password",
        "NEEDS_CONFIRMATION",
        "password",
        ["python3 -c \"import getpass; getpass.getpass('Password for dev: ')\""],
    ),
    Scene("pager", "NEEDS_CONFIRMATION", "pager", ["seq 1 500 | less"]),
    Scene("pager-end", "NEEDS_CONFIRMATION", "pager", ["less README"]),
    Scene("editor", "NEEDS_CONFIRMATION", "editor", ["vim -u NONE README"]),
    Scene("commit", "NEEDS_CONFIRMATION", "editor", ["echo x >> README; EDITOR='vim -u NONE' git commit -a"]),
    Scene("python", "READY", "repl", ["python3 -q"]),
    Scene("python-more", "READY", "repl", ["python3 -q", "for i in range(3):"]),
    Scene("traceback", "ERROR", "traceback", ["python3 -c \"int('x')\""], alt="READY"),
    Scene("not-found", "ERROR", "command_failed", ["frobnicate --all"], alt="READY"),
    Scene("make-failed", "ERROR", "command_failed", ["make -f broken.mk"], alt="READY"),
    Scene("old-traceback", "READY", "shell", ["python3 -c \"int('x')\"", "ls"]),
    Scene("ended", "EXITED", "dead-pane", ["exit 3"]),
)


def record(size: tuple[int, int], into: Path) -> None:
    with TemporaryDirectory(prefix="llmc-") as directory, own_environment(Path(directory) / "home"):
        repository = make_repository(Path(directory) / "demo")
        files = {"quotes.txt": QUOTES, "progress.py": PROGRESS, "failing.py": FAILING, "asking.sh": ASKING}
        for name, content in {**files, "broken.mk": "all:\n\t@echo cc demo.c; exit 2\n"}.items():
            (repository / name).write_text(content)
        settings = Path(directory) / "tmux.conf"
        settings.write_text(configuration(*size))
        tmux = Tmux(LocalHost(), "llmc-shell")
        tmux.start(str(settings))
        try:
            for scene in SCENES:
                _play(tmux, scene, repository, size, into)
        finally:
            end_servers(LocalHost().environ()["TMUX_TMPDIR"])


def _play(tmux: Tmux, scene: Scene, repository: Path, size: tuple[int, int], into: Path) -> None:
    pane = tmux.new_session("scene", str(repository), SHELL, {}, size)
    time.sleep(1)
    for line in scene.lines:
        tmux.type_text(pane.id, line)
        tmux.press(pane.id, "Enter")
        time.sleep(1.5)
    if scene.typed:
        tmux.type_text(pane.id, scene.typed)
    if scene.keys:
        tmux.press(pane.id, *scene.keys)
    time.sleep(1.5)
    name = f"{scene.name}-{size[0]}x{size[1]}-1"
    known = {"label": scene.label, "detail": scene.detail, "alt_label": scene.alt}
    keep_frame(tmux, pane.id, into / "bash" / scene.label / f"{name}.txt", known, {str(repository.parent): "~"})
    tmux.kill_session("scene")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--size", action="append", help="width and height (default: 100x30 and 60x20)")
    parser.add_argument("--into", type=Path, default=SCREENS)
    args = parser.parse_args()
    for size in args.size or ["100x30", "60x20"]:
        width, height = map(int, size.split("x"))
        record((width, height), args.into)


if __name__ == "__main__":
    main()
