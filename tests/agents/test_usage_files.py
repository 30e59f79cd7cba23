"""What CLIs write down of their answers: recorded files of the real programs, whose true cost the model knew."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from llmc.agents import claude, codex, copilot, gemini, kimi, pi, qwen, usage_files
from llmc.agents.gemini import project_hash
from llmc.agents.transcripts import Whereabouts
from llmc.agents.usage_files import UsageFiles, paths_of, read_on
from llmc.core.usage.answer import FilePlace, ModelAnswer, Tokens

RECORDED = Path(__file__).parent / "usage"
WORKTREE = "/code/shop"

Places = dict[str, FilePlace]


@pytest.fixture
def where(tmp_path: Path) -> Whereabouts:
    return Whereabouts(str(tmp_path / "ho[me]"), WORKTREE, str(tmp_path / "settings"))


def read_all(files: UsageFiles, where: Whereabouts, places: Places | None = None) -> dict[str, ModelAnswer]:
    """Each answer once, with the most that was told of it, as the store keeps them."""
    places = {} if places is None else places
    found: dict[str, ModelAnswer] = {}
    for path in paths_of(files, where):
        read = read_on(files, where, path, places.get(path, FilePlace()), 0.0)
        if read is not None:
            answers, places[path] = read
            found |= {answer.id: answer for answer in answers}
    return found


def total(found: dict[str, ModelAnswer]) -> Tokens:
    return sum((answer.tokens for answer in found.values()), Tokens())


def lay_out(recorded: str, directory: str) -> Path:
    """The recorded files of one CLI, where it keeps them."""
    shutil.copytree(RECORDED / recorded, directory, dirs_exist_ok=True)
    return Path(directory)


@pytest.fixture
def claude_files(where: Whereabouts) -> Path:
    return lay_out("claude", f"{where.home}/.claude/projects/-code-shop")


@pytest.mark.lesson(
    57, "each answer counts once, caches in buckets of their own, sub-agents too; unknown stays unknown"
)
def test_answers_of_claude_count_once_in_resumed_and_forked_conversations_and_those_of_sub_agents_too(
    where: Whereabouts, claude_files: Path
) -> None:
    found = read_all(claude.USAGE, where)
    of_agent = [answer for answer in found.values() if answer.id not in told_by(claude_files / "forked.jsonl")]
    assert {answer.model for answer in found.values()} == {"claude-opus-5-5"}
    assert total({answer.id: answer for answer in of_agent}) == Tokens(2028, 212, 40044, 652)
    assert total(found) == Tokens(5070 + 2028, 530 + 212, 100110 + 40044, 1630 + 652)


def told_by(path: Path) -> set[str]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {f"claude:{line['message']['id']}" for line in lines if line.get("type") == "assistant"}


def test_files_of_claude_are_where_its_variable_says(where: Whereabouts, tmp_path: Path) -> None:
    lay_out("claude", str(tmp_path / "own/projects/-code-shop"))
    assert not read_all(claude.USAGE, where)
    moved = Whereabouts(where.home, where.worktree, where.settings_dir, {"CLAUDE_CONFIG_DIR": str(tmp_path / "own")})
    assert len(read_all(claude.USAGE, moved)) == 7


def test_a_file_that_grows_is_read_from_where_the_last_look_has_ended(where: Whereabouts, claude_files: Path) -> None:
    whole = (claude_files / "first.jsonl").read_bytes()
    shutil.rmtree(claude_files)
    claude_files.mkdir()
    growing, places, found = claude_files / "first.jsonl", Places(), {}
    for end in range(0, len(whole) + 1, 97):  # also in the middle of lines
        growing.write_bytes(whole[:end]) if end == 0 else append(growing, whole[end - 97 : end])
        found |= read_all(claude.USAGE, where, places)
    append(growing, whole[len(whole) // 97 * 97 :])
    found |= read_all(claude.USAGE, where, places)
    assert total(found) == Tokens(4042, 418, 80066, 1278)
    assert places[str(growing)].offset == len(whole)
    assert not read_all(claude.USAGE, where, places)


def append(path: Path, more: bytes) -> None:
    with path.open("ab") as file:
        file.write(more)


def test_a_line_that_was_cut_short_hides_no_other(where: Whereabouts, claude_files: Path) -> None:
    """By a kill or a full disk; what is written next stands right behind it."""
    forked = claude_files / "forked.jsonl"
    lines = forked.read_bytes().splitlines(keepends=True)
    for path in claude_files.rglob("*.jsonl"):
        path.unlink()
    forked.write_bytes(lines[0] + lines[1][:200] + b"".join(lines[1:]) + lines[-1][:50])
    assert total(read_all(claude.USAGE, where)) == Tokens(5070, 530, 100110, 1630)


def test_a_file_that_became_another_one_is_read_anew(where: Whereabouts, claude_files: Path) -> None:
    places = Places()
    read_all(claude.USAGE, where, places)
    first = claude_files / "first.jsonl"
    first.write_bytes(first.read_bytes()[:100])
    assert total(read_all(claude.USAGE, where, places)) == Tokens()
    shutil.copy(RECORDED / "claude" / "first.jsonl", first)
    assert total(read_all(claude.USAGE, where, places)) == Tokens(4042, 418, 80066, 1278)


def test_a_file_that_was_written_anew_is_read_anew_whatever_its_length(where: Whereabouts, claude_files: Path) -> None:
    """In place, so that it is the same file to the system."""
    places = Places()
    read_all(claude.USAGE, where, places)
    first = claude_files / "first.jsonl"
    before = first.read_bytes()
    first.write_bytes(before.replace(b'"id":"msg_', b'"id":"gsm_'))  # as long as before
    os.utime(first, ns=(0, first.stat().st_mtime_ns + 1))
    assert total(read_all(claude.USAGE, where, places)) == Tokens(4042, 418, 80066, 1278)
    longer = before.replace(b'"id":"msg_', b'"id":"another_')
    first.write_bytes(longer + longer.replace(b'"id":"another_', b'"id":"and_one_more_'))
    assert total(read_all(claude.USAGE, where, places)) == Tokens(8084, 836, 160132, 2556)


def test_what_is_no_plain_file_is_left_alone(where: Whereabouts, claude_files: Path, tmp_path: Path) -> None:
    """An agent can put anything there: links in a circle, a pipe without an end, another one's conversation."""
    before = read_all(claude.USAGE, where)
    other = tmp_path / "other.jsonl"
    other.write_bytes((claude_files / "first.jsonl").read_bytes().replace(b'"id":"msg_', b'"id":"stolen_'))
    (claude_files / "link.jsonl").symlink_to(other)
    (claude_files / "zeros.jsonl").symlink_to("/dev/zero")
    os.mkfifo(claude_files / "pipe.jsonl")
    (claude_files / "directory.jsonl").mkdir()
    for name in ("a", "b", "c"):
        (claude_files / name).symlink_to(claude_files)
    (claude_files / "elsewhere").symlink_to(tmp_path)
    assert read_all(claude.USAGE, where) == before


def test_a_line_without_an_end_is_read_in_pieces(
    where: Whereabouts, claude_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_files, "LONGEST", 4096)
    first = claude_files / "first.jsonl"
    whole = first.read_bytes()
    places = Places()
    first.write_bytes(b'{"type":"user","usage":"' + b"x" * 10_000)
    assert read_all(claude.USAGE, where, places | {}) != {}  # of the other files
    read_all(claude.USAGE, where, places)
    assert places[str(first)].offset == 8192
    append(first, b'"}\n' + whole)
    assert total(read_all(claude.USAGE, where, places)) == Tokens(4042, 418, 80066, 1278)


def test_a_byte_that_is_no_text_hides_no_answer(where: Whereabouts, claude_files: Path) -> None:
    first = claude_files / "first.jsonl"
    before = total(read_all(claude.USAGE, where))
    first.write_bytes(first.read_bytes().replace(b'"timestamp":', b'"said":"\xff\xfe","timestamp":'))
    assert total(read_all(claude.USAGE, where)) == before


@pytest.mark.parametrize(("told", "counted"), [("3.0", 3), ("3.5", 0), ("NaN", 0), ("Infinity", 0), ("1e300", 0)])
def test_numbers_that_are_not_whole(where: Whereabouts, claude_files: Path, told: str, counted: int) -> None:
    for path in claude_files.rglob("*.jsonl"):
        path.unlink()
    line = f'{{"type":"assistant","message":{{"id":"m","usage":{{"input_tokens":1,"output_tokens":{told}}}}}}}\n'
    (claude_files / "strange.jsonl").write_text(line)
    assert total(read_all(claude.USAGE, where)) == Tokens(1, counted)


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"assistant","message":{"id":"m","usage":7}}',
        '{"type":"assistant","message":"usage"}',
        '{"type":"assistant","message":{"id":"m","usage":{"input_tokens":-5,"output_tokens":"9","x":1e999}}}',
        '{"type":"assistant","message":{"id":"m","model":"<synthetic>","usage":{"input_tokens":0,"output_tokens":0}}}',
        '["usage"]',
        "[" * 100_000 + '"usage"',
        '{"type":"assistant","message":{"id":"m","usage":{"input_tokens":1' + "0" * 5000 + "}}}",
        '\x00\xff"usage"',
    ],
)
def test_what_makes_no_sense_counts_nothing(where: Whereabouts, claude_files: Path, line: str) -> None:
    for path in claude_files.rglob("*.jsonl"):
        path.unlink()
    (claude_files / "strange.jsonl").write_bytes(line.encode("latin-1") + b"\n")
    assert read_all(claude.USAGE, where) == {}


def test_what_is_said_fast_has_a_price_of_its_own(where: Whereabouts, claude_files: Path) -> None:
    forked = claude_files / "forked.jsonl"
    forked.write_text(forked.read_text().replace('"speed":"standard"', '"speed":"fast"'))
    models = [answer.model for answer in read_all(claude.USAGE, where).values()]
    assert "claude-opus-5-5 (fast)" in models


# --- Codex ------------------------------------------------------------------------------------------


OF_CODEX = Tokens(5360, 424, 80088)


@pytest.fixture
def codex_files(where: Whereabouts) -> Path:
    return lay_out("codex", f"{where.home}/.codex/sessions/2026/11/19")


def test_answers_of_codex_count_once_in_a_conversation_and_its_fork(where: Whereabouts, codex_files: Path) -> None:
    found = read_all(codex.USAGE, where)
    assert {answer.model for answer in found.values()} == {"gpt-6-sol"}
    assert total(found) == OF_CODEX


def test_a_fork_of_codex_that_begins_with_a_copy_counts_nothing_twice(where: Whereabouts, codex_files: Path) -> None:
    """As older versions make them: with lines of its own before, and new times on those that are copied."""
    meta, *lines = (codex_files / "rollout-0.jsonl").read_text().splitlines(keepends=True)
    own = meta.replace("f5711c81", "00000000")
    (codex_files / "rollout-2.jsonl").write_text(own + meta + "".join(lines).replace("2026-11-19", "2026-11-20"))
    assert total(read_all(codex.USAGE, where)) == OF_CODEX


def test_of_codex_only_the_conversations_of_that_worktree_count(codex_files: Path, where: Whereabouts) -> None:
    other = Whereabouts(where.home, "/code/other", where.settings_dir)
    assert read_all(codex.USAGE, other) == {}


def test_a_sum_of_codex_that_is_told_twice_counts_once(where: Whereabouts, codex_files: Path) -> None:
    for path in codex_files.glob("*.jsonl"):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line * 2 if "token_count" in line else line for line in lines))
    assert total(read_all(codex.USAGE, where)) == OF_CODEX


def test_answers_count_for_the_model_that_was_asked_though_it_changes_on_the_way(
    where: Whereabouts, codex_files: Path, claude_files: Path
) -> None:
    (codex_files / "rollout-1.jsonl").unlink()
    rollout = codex_files / "rollout-0.jsonl"
    before = read_all(codex.USAGE, where)
    context = next(line for line in rollout.read_text().splitlines() if '"turn_context"' in line)
    last = next(line for line in reversed(rollout.read_text().splitlines()) if '"token_count"' in line)
    more = json.loads(last)
    more["payload"]["info"]["total_token_usage"]["output_tokens"] += 11
    append(rollout, f"{context.replace('gpt-6-sol', 'gpt-6-luna')}\n{json.dumps(more)}\n".encode())
    news = {name: answer for name, answer in read_all(codex.USAGE, where).items() if name not in before}
    assert [(answer.model, answer.tokens) for answer in news.values()] == [("gpt-6-luna", Tokens(0, 11))]

    first = claude_files / "first.jsonl"
    lines = first.read_text().splitlines(keepends=True)
    told = next(line for line in reversed(lines) if '"usage"' in line)
    append(first, told.replace("claude-opus-5-5", "claude-haiku-5-5").replace('"id":"msg_', '"id":"other_').encode())
    assert {answer.model for answer in read_all(claude.USAGE, where).values()} == {
        "claude-opus-5-5",
        "claude-haiku-5-5",
    }


# --- the others -------------------------------------------------------------------------------------


def test_answers_of_gemini_count_once_though_the_whole_conversation_is_told_again(where: Whereabouts) -> None:
    chats = lay_out("gemini", f"{where.settings_dir}/home/.gemini/tmp/shop/chats")
    (session,) = chats.glob("*.jsonl")
    first = json.loads(session.read_text().splitlines()[0])
    session.write_text(session.read_text().replace(first["projectHash"], project_hash(WORKTREE)))
    found = read_all(gemini.USAGE, where)
    assert {answer.model for answer in found.values()} == {"gemini-3.8-flash"}
    assert total(found) == Tokens(6860, 554, 100198)


LINES: list[tuple[UsageFiles, Callable[[Whereabouts], str], dict[str, object], Tokens]] = [
    (
        qwen.USAGE,
        lambda where: f"{where.home}/.qwen/projects/-code-shop/chats/a.jsonl",
        {
            "timestamp": "2026-11-19T06:29:22Z",
            "systemPayload": {
                "uiEvent": {
                    "event.name": "qwen-code.api_response",
                    "response_id": "r",
                    "model": "m",
                    "input_token_count": 21300,
                    "output_token_count": 60,
                    "cached_content_token_count": 20000,
                    "thoughts_token_count": 40,
                    "total_token_count": 21400,
                }
            },
        },
        Tokens(1300, 100, 20000),
    ),
    (
        copilot.USAGE,
        lambda where: f"{where.home}/.copilot/session-state/s/events.jsonl",
        {
            "type": "session.usage_record",
            "timestamp": "2026-11-19T06:29:22Z",
            "data": {
                "context": {"cwd": WORKTREE},
                "usage": {
                    "model": "m",
                    "apiCallId": "r",
                    "inputTokens": 21300,
                    "outputTokens": 100,
                    "cacheReadTokens": 20000,
                    "cacheWriteTokens": 50,
                },
            },
        },
        Tokens(1250, 100, 20000, 50),
    ),
    (
        pi.USAGE,
        lambda where: f"{where.home}/.pi/agent/sessions/--code-shop--/a.jsonl",
        {
            "timestamp": "2026-11-19T06:29:22Z",
            "message": {
                "role": "assistant",
                "model": "m",
                "responseId": "r",
                "usage": {"input": 1300, "output": 100, "cacheRead": 20000, "cacheWrite": 0},
            },
        },
        Tokens(1300, 100, 20000),
    ),
    (
        kimi.USAGE,
        lambda where: f"{where.settings_dir}/kimi/sessions/{kimi.trust_record(WORKTREE)[0]}/s/agents/child/wire.jsonl",
        {
            "type": "usage.record",
            "agentId": "child",
            "model": "m",
            "time": 1795069825081,
            "usage": {"inputOther": 1300, "output": 100, "inputCacheRead": 20000, "inputCacheCreation": 7},
        },
        Tokens(1300, 100, 20000, 7),
    ),
]


@pytest.mark.parametrize(("files", "place", "line", "tokens"), LINES, ids=["qwen", "copilot", "pi", "kimi"])
def test_lines_of_other_clis(
    where: Whereabouts,
    files: UsageFiles,
    place: Callable[[Whereabouts], str],
    line: dict[str, object],
    tokens: Tokens,
) -> None:
    path = Path(place(where))
    path.parent.mkdir(parents=True)
    path.write_text((json.dumps(line) + "\n") * 2)
    (answer,) = read_all(files, where).values()
    assert (answer.model, answer.tokens) == ("m", tokens)
    assert answer.at_unix > 1_700_000_000
