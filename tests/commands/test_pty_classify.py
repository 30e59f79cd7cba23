"""`llmc pty classify`, and every example of docs/packs.md."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from testing.commands import PROGRAM
from testing.roots import make_repository, make_root

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "packs.md").read_text()
FILE = re.compile(r"<!-- file (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
ASKS = """\
● Bash(make install)

────────────────────────────────────────
 Bash command

   make install

 Do you want to proceed?
 ❯ 1. Yes
   2. No

 Esc to cancel · Tab to amend
"""


def classify(*words: str, stdin: bytes = b"", program: Path = PROGRAM) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program, "pty", "classify", *words], input=stdin, capture_output=True, check=False)


def answer(*words: str, stdin: bytes = b"") -> dict[str, object]:
    done = classify(*words, "--json", stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    told: dict[str, object] = json.loads(done.stdout)
    return told


# --- the answer -----------------------------------------------------------------------------------


def test_how_far_something_is_and_the_prompt_below_it() -> None:
    assert answer("--cli", "shell", "-", stdin=b"$ make\n[=====>    ] 45%\n")["state"] == "BUSY"
    at_prompt = ("--cli", "shell", "--command", "bash", "--cursor", "2,1", "-")
    assert answer(*at_prompt, stdin=b"[=====>    ] 45%\n$ \n")["state"] == "READY"


def test_the_answer_has_what_scripts_rely_on(tmp_path: Path) -> None:
    (tmp_path / "screen.txt").write_text(ASKS)
    told = answer("--cli", "claude", str(tmp_path / "screen.txt"))
    assert set(told) == {"state", "detail", "confidence", "cue", "pack", "summary", "actions_needed"}
    assert (told["state"], told["detail"], told["cue"]) == ("NEEDS_CONFIRMATION", "permission", "permission")
    assert re.fullmatch(r"claude@\d+\.\d+", str(told["pack"]))
    assert isinstance(told["confidence"], float)
    assert 0.9 < told["confidence"] < 1
    assert told["actions_needed"]


def test_what_is_not_recognised_is_unknown() -> None:
    told = answer("--cli", "claude", "-", stdin=b"Loading\n")
    assert (told["state"], told["detail"], told["confidence"], told["cue"]) == ("UNKNOWN", None, 0.0, "")
    assert told["actions_needed"] == []


def test_the_other_program_says_the_same() -> None:
    done = classify("--cli", "claude", stdin=ASKS.encode(), program=PROGRAM.with_name("conductor"))
    assert done.stdout.startswith(b"NEEDS_CONFIRMATION (permission): ")


def test_title_process_and_cursor_count() -> None:
    screen = b"$ make\n"
    assert answer("--cli", "bash", "--command", "make", "--cursor", "0,1", stdin=screen)["state"] == "BUSY"
    assert answer("--cli", "bash", "--command", "bash", "--cursor", "2,0", stdin=b"$ \n")["state"] == "READY"
    told = answer("--command", "zsh", "--cursor", "2,0", stdin=b"% \n")
    assert (told["state"], told["pack"]) == ("READY", "shell")
    assert answer("--cli", "codex", "--title", "⠋ work | demo", stdin=b"anything\n")["state"] == "BUSY"


def test_colours_may_be_in_it() -> None:
    assert answer("--cli", "bash", stdin=b"text\n\x1b[7m(END)\x1b[27m\n")["detail"] == "pager"


@pytest.mark.parametrize(
    "screen",
    [b"", b"\xff\xfe\x00\x80", b"x" * 1_000_000, b"\x1b[" * 100_000, b"a b\n" * 250_000, "❯".encode() * 100_000],
    ids=["empty", "no text", "one long line", "escapes", "many lines", "many prompts"],
)
@pytest.mark.parametrize("cli", ["claude", "shell"])
def test_any_bytes_have_an_answer(screen: bytes, cli: str) -> None:
    assert answer("--cli", cli, "-", stdin=screen)["state"] in ("UNKNOWN", "READY")


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("--cli", "nobody"), 1, "there is no pack named 'nobody'"),
        (("--cli", "claude", "/nowhere/screen.txt"), 1, "there is no file /nowhere/screen.txt"),
        ((), 2, "whose screen"),
        (("--cli", "claude", "--cursor", "3"), 2, "a column and a row"),
    ],
)
def test_what_cannot_be_answered_is_said(words: tuple[str, ...], code: int, what: str) -> None:
    done = classify(*words)
    assert done.returncode == code
    assert what in done.stderr.decode()
    assert b"hint: " in done.stderr


# --- the page -------------------------------------------------------------------------------------


@pytest.fixture
def documented(tmp_path: Path) -> Path:
    """A root with the files that docs/packs.md shows."""
    root = Path(make_root(tmp_path / "root", make_repository(tmp_path / "source")).path)
    for name, content in FILE.findall(PAGE):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


def test_the_page_shows_what_happens(documented: Path) -> None:
    told = [line for block in CONSOLE.findall(PAGE) for line in block.splitlines()]
    seen = []
    for line in (line for line in told if line.startswith("$ llmc ")):
        words = shlex.split(line.removeprefix("$ llmc "))
        done = subprocess.run([PROGRAM, *words], cwd=documented, capture_output=True, text=True, check=True)
        seen += [line, *done.stdout.replace(f"{documented}/", "").splitlines()]
    assert len(FILE.findall(PAGE)) == 5
    assert seen == told


def test_a_broken_pack_is_told_by_the_check_and_the_doctor(documented: Path) -> None:
    pack = documented / "packs" / "mytool.toml"
    pack.write_text(pack.read_text().replace('state = "BUSY"', 'state = "BAKING"'))
    check = subprocess.run([PROGRAM, "config", "check"], cwd=documented, capture_output=True, text=True, check=False)
    number = pack.read_text().splitlines().index('state = "BAKING"') + 1
    assert check.returncode == 1
    assert f"error: {pack}:{number}: cue 'spinner': `state` must be one of" in check.stderr
    doctor = subprocess.run([PROGRAM, "doctor", "--json"], cwd=documented, capture_output=True, text=True, check=False)
    assert "pack-broken" in {finding["code"] for finding in json.loads(doctor.stdout)["findings"]}


@pytest.mark.lesson(17, "what reads screens is versioned data beside recordings, and drift is told")
def test_an_example_that_no_longer_fits_is_told(documented: Path) -> None:
    (documented / "packs" / "mytool" / "busy.txt").write_text("* baking\n\n>\n")
    check = subprocess.run([PROGRAM, "config", "check"], cwd=documented, capture_output=True, text=True, check=False)
    assert check.returncode == 1
    assert "the example mytool/busy.txt of cue 'spinner' is decided by composer" in check.stderr
