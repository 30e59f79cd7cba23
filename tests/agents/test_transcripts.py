"""What the CLIs write down themselves: found, and read from its end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from llmc.agents import claude, codex, gemini
from llmc.agents.transcripts import BLOCK, Transcripts, Whereabouts, last_state, prompts_since
from llmc.core.delivery.texts import told_digest
from llmc.host.processes import end_tree
from llmc.observe.transcript import read_transcript


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def codex_event(kind: str, at: float) -> str:
    return json.dumps({"timestamp": stamp(at), "type": "event_msg", "payload": {"type": kind}})


def codex_prompt(text: str, at: float) -> str:
    content = [{"type": "input_text", "text": text}]
    said = {"type": "message", "role": "user", "content": content}
    return json.dumps({"timestamp": stamp(at), "type": "response_item", "payload": said})


def codex_begin(worktree: str) -> str:
    return json.dumps({"timestamp": stamp(1), "type": "session_meta", "payload": {"cwd": worktree}})


@pytest.fixture
def where(tmp_path: Path) -> Whereabouts:
    return Whereabouts(str(tmp_path / "ho[me]"), "/code/shop.d/w", str(tmp_path / "settings"))


def rollout(where: Whereabouts, *lines: str, name: str = "a") -> Path:
    path = Path(where.home, ".codex", "sessions", "2026", "11", "16", f"rollout-{name}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def prompts(transcripts: Transcripts, where: Whereabouts, since: float, *texts: str) -> bool:
    return prompts_since(transcripts, where, since) == {told_digest(text) for text in texts}


def test_prompts_of_codex_are_those_of_its_own_directory_since_then(where: Whereabouts) -> None:
    lines = [codex_prompt("Before.", 50), codex_prompt("Now.", 150), codex_event("task_started", 151)]
    rollout(where, codex_begin(where.worktree), *lines)
    rollout(where, codex_begin("/code/other"), codex_prompt("Of another.", 150), name="b")
    assert prompts(codex.TRANSCRIPTS, where, 100, "Now.")
    assert prompts(codex.TRANSCRIPTS, where, 0, "Before.", "Now.")
    assert prompts(codex.TRANSCRIPTS, where, time.time() + 60)


def test_prompts_of_claude_are_found_by_the_name_of_the_directory(where: Whereabouts) -> None:
    file = Path(where.home, ".claude", "projects", "-code-shop-d-w", "c.jsonl")
    file.parent.mkdir(parents=True)
    said = {"type": "user", "timestamp": stamp(150), "message": {"content": "Now."}}
    result = {
        "type": "user",
        "timestamp": stamp(151),
        "message": {"content": [{"type": "tool_result", "content": "x"}]},
    }
    file.write_text(f"{json.dumps(said)}\n{json.dumps(result)}\n" + '{"type": "user", "mess')
    assert prompts(claude.TRANSCRIPTS, where, 100, "Now.")


def test_prompts_of_gemini_are_those_of_its_own_project(where: Whereabouts) -> None:
    file = Path(where.settings_dir, "home", ".gemini", "tmp", "w", "chats", "session-1.jsonl")
    file.parent.mkdir(parents=True)
    said = {"id": "1", "type": "user", "timestamp": stamp(150), "content": [{"text": "Now."}]}
    for project, expected in (("another", ()), (gemini.project_hash(where.worktree), ("Now.",))):
        file.write_text(f"{json.dumps({'projectHash': project})}\n{json.dumps(said)}\n")
        assert prompts(gemini.TRANSCRIPTS, where, 100, *expected)


def test_what_is_not_there_or_no_json_says_nothing(where: Whereabouts) -> None:
    assert prompts(codex.TRANSCRIPTS, where, 0)
    path = rollout(where, "[]", "task_started", '{"payload": 1, "x": "task_started"}', '"user"')
    assert prompts(codex.TRANSCRIPTS, where, 0)
    assert last_state(codex.TRANSCRIPTS, str(path), 0) is None
    assert last_state(codex.TRANSCRIPTS, str(path) + "x", 0) is None


@pytest.mark.parametrize("size", [10, BLOCK - 100, BLOCK, 3 * BLOCK])
def test_the_state_is_what_the_last_line_says_however_much_came_after_it(where: Whereabouts, size: int) -> None:
    quoted = codex_prompt('says "task_complete" {"type":"event_msg"} ' + "x" * size, 160)
    path = rollout(where, codex_begin("/"), codex_event("task_complete", 140), codex_event("task_started", 150), quoted)
    found = last_state(codex.TRANSCRIPTS, str(path), 100)
    assert found is not None
    assert (found.state, found.at_unix) == ("BUSY", 150)
    assert last_state(codex.TRANSCRIPTS, str(path), 200) is None


# --- whose it is ------------------------------------------------------------------------------------


@pytest.fixture
def program(where: Whereabouts) -> Iterator[tuple[int, Path]]:
    """A shell that has started a program, which keeps its transcript open."""
    path = rollout(where, codex_begin("/"))
    holds = f"import time; file = open({str(path)!r}, 'a'); print('up', flush=True); time.sleep(1000)"
    argv = ["sh", "-c", '"$0" -c "$1"; true', sys.executable, holds]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as shell:
        assert shell.stdout is not None
        assert shell.stdout.readline() == b"up\n"
        yield shell.pid, path
        end_tree(shell.pid)


def test_an_agent_that_keeps_its_transcript_open_is_followed(program: tuple[int, Path]) -> None:
    pid, path = program
    assert read_transcript("codex", [pid]) is None
    for kind, state in (("task_started", "BUSY"), ("task_complete", "READY"), ("turn_aborted", "READY")):
        with path.open("a") as file:
            file.write(codex_event(kind, time.time() + 5) + "\n")
        told = read_transcript("codex", [pid])
        assert told is not None
        assert (told["state"], told["source"]) == (state, "transcript")
    assert read_transcript("claude", [pid]) is None
    assert read_transcript("bash", [pid]) is None


def test_what_was_written_before_the_program_was_started_is_old(program: tuple[int, Path]) -> None:
    """A conversation that was cut short and is taken up again."""
    pid, path = program
    with path.open("a") as file:
        file.write(codex_event("task_started", time.time() - 3600) + "\n")
    assert read_transcript("codex", [pid]) is None
