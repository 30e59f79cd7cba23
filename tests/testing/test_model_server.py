"""The scripted model, asked over plain HTTP as the four CLIs ask it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, IncompleteRead
from pathlib import Path
from typing import Any

import pytest

from testing.models import Ask, Commit, Drop, Fail, Hang, ModelServer, Plan, Run, Text, Write
from testing.models.conversation import Speaker, Turn, answers_since_prompt
from testing.models.heard import Heard
from testing.models.script import ScriptError, steps_in
from testing.models.steps import FOREVER
from testing.waiting import wait_until

PROJECT = Path(__file__).resolve().parent.parent.parent
USER, MODEL, TOOL = Turn(Speaker.USER, "do it"), Turn(Speaker.MODEL), Turn(Speaker.TOOL)
NOTHING_MORE = "All done: the change is in place."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer.start() as running:
        yield running


# --- scripts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "steps"),
    [
        ("no script at all, mymodel:run(x) neither", ()),
        ("model:text(hello there)", (Text("hello there"),)),
        ("model:slow(3, a, b)", (Text("a, b", 3.0),)),
        ("model:run(echo $(date; (ls)))", (Run("echo $(date; (ls))"),)),
        ("model:write(a.txt, x, y)", (Write("a.txt", "x, y\n"),)),
        ("first model:commit(a), then model:commit(b).", (Commit("a"), Commit("b"))),
        ("model:ask", (Ask(),)),
        ("model:ask(Which one?)", (Ask("Which one?"),)),
        ("model:plan(1. go)", (Plan("1. go"),)),
        ("model:fail", (Fail(500),)),
        ("model:fail(429, 2, 60)", (Fail(429, 2, 60),)),
        ("model:drop", (Drop(halfway=True, times=FOREVER),)),
        ("model:drop(before, 1)", (Drop(halfway=False, times=1),)),
        ("model:hang(5)", (Hang(5.0),)),
    ],
)
def test_words_in_a_prompt_are_steps(prompt: str, steps: tuple[object, ...]) -> None:
    assert steps_in(prompt) == steps


@pytest.mark.parametrize("prompt", ["model:dance", "model:run(echo (x)"])
def test_a_word_that_makes_no_sense_is_told(prompt: str) -> None:
    with pytest.raises(ScriptError):
        steps_in(prompt)


@pytest.mark.parametrize(
    ("turns", "answers"),
    [
        ((), 0),
        ((USER,), 0),
        ((USER, MODEL, TOOL), 1),
        ((USER, MODEL, MODEL, TOOL, MODEL, TOOL), 2),
        ((USER, MODEL, TOOL, MODEL, USER), 0),
        ((USER, MODEL, TOOL, MODEL), 1),
    ],
    ids=["nothing", "asked", "one", "an answer in two parts", "a new prompt", "a broken half"],
)
def test_answers_are_counted_since_the_newest_prompt(turns: tuple[Turn, ...], answers: int) -> None:
    assert answers_since_prompt(turns) == answers


# --- what was heard -------------------------------------------------------------------------------


def said(*prompts: str) -> list[Turn]:
    """A conversation in which every prompt but the newest was answered."""
    turns = [turn for prompt in prompts for turn in (Turn(Speaker.USER, prompt), MODEL)]
    return turns[:-1]


@pytest.mark.parametrize(
    ("conversations", "heard"),
    [
        ([said("a"), said("a"), said("a", "b")], ["a", "b"]),
        ([said("a"), said("a", "a")], ["a", "a"]),
        ([said("a", "b"), said("a")], ["a", "b", "a"]),
        ([[*said("a"), MODEL, TOOL], said("a")], ["a", "a"]),
        ([said("a", "b"), said("a", "c")], ["a", "b", "c"]),
    ],
    ids=["repeated history", "the same again", "cleared", "cleared, the same again", "taken back"],
)
def test_a_prompt_counts_as_often_as_it_was_submitted(conversations: list[list[Turn]], heard: list[str]) -> None:
    listener = Heard()
    for turns in conversations:
        listener.hear("one", turns)
    assert listener.prompts == heard


def test_the_same_prompt_in_two_sessions_counts_twice() -> None:
    listener = Heard()
    for session in ("one", "other", "one", "other"):
        listener.hear(session, said("a"))
    assert listener.prompts == ["a", "a"]


# --- the four faces -------------------------------------------------------------------------------

Body = dict[str, Any]
SCHEMA = {"type": "json_schema", "schema": {"type": "object", "properties": {"title": {"type": "string"}}}}


@dataclass(frozen=True)
class Face:
    """How one CLI asks, and what it understands of the answer."""

    path: str
    whole_path: str
    ask: Callable[[Sequence[tuple[str, str]]], Body]
    ask_for_title: Body
    wrapped: Body
    """A conversation with what the CLI adds by itself around `the task`."""
    text: Callable[[Body], str]
    calls: Callable[[Body], list[tuple[str, Any]]]
    shell: tuple[str, Body]
    """The call that runs `make`."""
    join: Callable[[list[Body]], Body]
    """One whole answer from the events of a stream."""


ANTHROPIC_ROLES = {"user": "user", "model": "assistant", "tool": "user"}


def ask_anthropic(turns: Sequence[tuple[str, str]]) -> Body:
    kinds = {"tool": {"type": "tool_result", "tool_use_id": "x", "content": "done"}}
    messages = [
        {"role": ANTHROPIC_ROLES[who], "content": [kinds.get(who, {"type": "text", "text": text})]}
        for who, text in turns
    ]
    return {"model": "m", "messages": messages, "tools": [{"name": "Bash"}], "stream": True}


def join_anthropic(events: list[Body]) -> Body:
    blocks: list[Body] = []
    for event in events:
        if event["type"] == "content_block_start":
            blocks.append({"json": "", **event["content_block"]})
        elif event["type"] == "content_block_delta":
            delta = event["delta"]
            blocks[-1]["text"] = blocks[-1].get("text", "") + delta.get("text", "")
            blocks[-1]["json"] += delta.get("partial_json", "")
    for block in blocks:
        block["input"] = json.loads(block["json"] or "{}")
    assert events[-1]["type"] == "message_stop"
    return {"content": blocks}


ANTHROPIC = Face(
    "/v1/messages?beta=true",
    "/v1/messages",
    ask_anthropic,
    {"messages": [{"role": "user", "content": "a title for this"}], "tools": [], "output_config": {"format": SCHEMA}},
    {
        "tools": [{"name": "Bash"}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "<system-reminder>\nToday is Monday.\n</system-reminder>\n\n"},
                    {"type": "text", "text": "the task"},
                ],
            },
            {"role": "system", "content": "There are agents."},
            {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
            {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]},
        ],
    },
    lambda body: "".join(block["text"] for block in body["content"] if block["type"] == "text"),
    lambda body: [(block["name"], block["input"]) for block in body["content"] if block["type"] == "tool_use"],
    ("Bash", {"command": "make", "description": "Run the command"}),
    join_anthropic,
)


def ask_responses(turns: Sequence[tuple[str, str]]) -> Body:
    items = {
        "user": lambda text: {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
        "model": lambda _: {"type": "function_call", "name": "shell_command"},
        "tool": lambda _: {"type": "function_call_output", "output": "done"},
    }
    tools = [{"type": "function", "name": "shell_command"}]
    return {"model": "m", "input": [items[who](text) for who, text in turns], "tools": tools, "stream": True}


def calls_of_responses(body: Body) -> list[tuple[str, Any]]:
    functions = [item for item in body["output"] if item["type"] == "function_call"]
    plain = [item for item in body["output"] if item["type"] == "custom_tool_call"]
    return [(item["name"], json.loads(item["arguments"])) for item in functions] + [
        (item["name"], item["input"]) for item in plain
    ]


def join_responses(events: list[Body]) -> Body:
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    whole: Body = events[-1]["response"]
    told = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert told == text_of_responses(whole)
    return whole


def text_of_responses(body: Body) -> str:
    messages = [item for item in body["output"] if item["type"] == "message"]
    return "".join(part["text"] for item in messages for part in item["content"])


RESPONSES = Face(
    "/v1/responses",
    "/v1/responses",
    ask_responses,
    {
        "input": "a title for this",
        "tools": [{"type": "custom", "name": "exec"}],
        "client_metadata": {"turn": json.dumps({"thread_source": "thread_title"})},
        "text": {"format": SCHEMA},
    },
    {
        "tools": [{"type": "custom", "name": "exec"}],
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be good."}]},
            {"type": "message", "role": "user", "content": "# AGENTS.md instructions for /here\n\nBe good."},
            {"type": "message", "role": "user", "content": "<environment_context>\n</environment_context>"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "the task"}]},
        ],
    },
    text_of_responses,
    calls_of_responses,
    ("shell_command", {"command": "make"}),
    join_responses,
)


def ask_gemini(turns: Sequence[tuple[str, str]]) -> Body:
    parts = {"tool": {"functionResponse": {"name": "x", "response": {}}}, "model": {"functionCall": {"name": "x"}}}
    contents = [
        {"role": "model" if who == "model" else "user", "parts": [parts.get(who, {"text": text})]}
        for who, text in turns
    ]
    return {"contents": contents, "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}]}


def parts_of_gemini(body: Body) -> list[Body]:
    parts: list[Body] = body["candidates"][0]["content"]["parts"]
    return parts


GEMINI = Face(
    "/v1beta/models/some:streamGenerateContent?alt=sse",
    "/v1beta/models/some:generateContent",
    ask_gemini,
    {
        "contents": [{"role": "user", "parts": [{"text": "a title for this"}]}],
        "generationConfig": {"responseJsonSchema": SCHEMA},
    },
    {
        "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "<session_context>\nHere.\n</session_context>"}, {"text": "the task"}],
            }
        ],
    },
    lambda body: "".join(part.get("text", "") for part in parts_of_gemini(body)),
    lambda body: [
        (part["functionCall"]["name"], part["functionCall"]["args"])
        for part in parts_of_gemini(body)
        if "functionCall" in part
    ],
    ("run_shell_command", {"command": "make", "description": "Run the command"}),
    lambda events: {
        "candidates": [{"content": {"parts": [part for event in events for part in parts_of_gemini(event)]}}]
    },
)


def ask_chat(turns: Sequence[tuple[str, str]]) -> Body:
    roles = {"user": "user", "model": "assistant", "tool": "tool"}
    messages = [{"role": roles[who], "content": text} for who, text in turns]
    tools = [{"type": "function", "function": {"name": "bash"}}]
    return {"model": "m", "messages": [{"role": "system", "content": "Be good."}, *messages], "tools": tools}


def join_chat(events: list[Body]) -> Body:
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    content = "".join(delta.get("content", "") for delta in deltas)
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    return {"choices": [{"message": {"content": content, "tool_calls": calls}}]}


CHAT = Face(
    "/v1/chat/completions",
    "/v1/chat/completions",
    lambda turns: ask_chat(turns) | {"stream": True},
    {"messages": [{"role": "user", "content": "a title for this"}]},
    {
        "tools": [{"type": "function", "function": {"name": "bash"}}],
        "messages": [
            {"role": "system", "content": "Be good."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "the task"},
                    {"type": "text", "text": "<system-reminder>Plan mode is on.</system-reminder>"},
                ],
            },
        ],
    },
    lambda body: body["choices"][0]["message"]["content"],
    lambda body: [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in body["choices"][0]["message"].get("tool_calls", ())
    ],
    ("bash", {"command": "make", "description": "Run the command"}),
    join_chat,
)

each_face = pytest.mark.parametrize(
    "face", [ANTHROPIC, RESPONSES, GEMINI, CHAT], ids=["anthropic", "responses", "gemini", "chat"]
)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Body:
        body: Body = json.loads(self.content)
        return body

    @property
    def events(self) -> list[Body]:
        lines = [line.removeprefix("data: ") for line in self.content.decode().splitlines() if line[:6] == "data: "]
        return [json.loads(line) for line in lines if line != "[DONE]"]


def post(server: ModelServer, path: str, body: Body) -> Answer:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        return Answer(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


def streamed(server: ModelServer, face: Face, *turns: tuple[str, str]) -> Body:
    return face.join(post(server, face.path, face.ask(turns)).events)


@each_face
def test_it_says_the_same_streamed_and_whole(server: ModelServer, face: Face) -> None:
    server.answer_with([Text("Two words,\n\nthen 漢字.", over_secs=0.05)])
    asked = face.ask([("user", "hello")])
    whole = post(server, face.whole_path, {key: value for key, value in asked.items() if key != "stream"})
    assert face.text(whole.body) == "Two words,\n\nthen 漢字."
    assert face.text(streamed(server, face, ("user", "hello"))) == "Two words,\n\nthen 漢字."


@each_face
def test_it_runs_a_command_with_the_tool_of_that_cli(server: ModelServer, face: Face) -> None:
    server.answer_with([Run("make")])
    assert face.calls(streamed(server, face, ("user", "hello"))) == [face.shell]


@each_face
def test_every_act_is_a_call_that_a_stream_and_a_whole_answer_tell_alike(server: ModelServer, face: Face) -> None:
    for act in (Write("a.txt", "x\n"), Commit("a.txt"), Ask("Which?", ("this", "that"))):
        server.answer_with([act])
        asked = face.ask([("user", "hello")])
        whole = post(server, face.whole_path, {key: value for key, value in asked.items() if key != "stream"}).body
        calls = face.calls(streamed(server, face, ("user", "hello")))
        assert len(calls) == 1
        assert calls == face.calls(whole)


@pytest.mark.parametrize(
    ("tools", "call"),
    [
        (["exec_command"], ("exec_command", {"cmd": "make"})),
        (["shell_command"], ("shell_command", {"command": "make"})),
        (["shell"], ("shell", {"command": ["bash", "-lc", "make"]})),
    ],
)
def test_codex_has_had_several_names_for_its_shell(
    server: ModelServer, tools: list[str], call: tuple[str, Body]
) -> None:
    server.answer_with([Run("make")])
    asked = ask_responses([("user", "hello")]) | {"tools": [{"type": "function", "name": name} for name in tools]}
    assert calls_of_responses(join_responses(post(server, "/v1/responses", asked).events)) == [call]


def test_codex_may_want_javascript_that_calls_its_tools(server: ModelServer) -> None:
    server.answer_with([Run("make", outside_sandbox=True)])
    asked = ask_responses([("user", "hello")])
    tools = {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}
    asked["input"].insert(0, {"type": "additional_tools", "role": "developer", "tools": [tools]})
    answer = join_responses(post(server, "/v1/responses", asked | {"tools": None}).events)
    [(name, javascript)] = calls_of_responses(answer)
    assert (name, answer["output"][0]["namespace"]) == ("exec", "functions")
    assert 'tools.exec_command({"cmd": "make"' in javascript
    assert "require_escalated" in javascript


@each_face
def test_steps_follow_each_other_as_the_agent_goes_on(server: ModelServer, face: Face) -> None:
    server.answer_with([Run("make"), Text("Made.")])
    turns = [("user", "hello"), ("model", ""), ("tool", "")]
    assert face.calls(streamed(server, face, *turns[:1])) == [face.shell]
    assert face.text(streamed(server, face, *turns)) == "Made."
    assert face.text(streamed(server, face, *turns, ("model", ""), ("tool", ""))) == NOTHING_MORE


@each_face
def test_words_in_the_prompt_come_before_the_script(server: ModelServer, face: Face) -> None:
    server.answer_with(lambda prompt: [Text(f"You said {prompt}.")])
    assert face.text(streamed(server, face, ("user", "hello"))) == "You said hello."
    assert face.text(streamed(server, face, ("user", "hello, model:text(hi)"))) == "hi"


@each_face
def test_prompts_are_heard_without_what_the_cli_adds(server: ModelServer, face: Face) -> None:
    post(server, face.path, face.wrapped)
    post(server, face.path, face.wrapped)
    assert server.prompts() == ["the task"]


def test_a_prompt_that_claude_hands_over_in_the_middle_of_a_turn_is_heard(server: ModelServer) -> None:
    asked = ask_anthropic([("user", "first"), ("model", ""), ("tool", "")])
    note = "The user sent a new message while you were working:\nsecond\n\nand more\n\nIMPORTANT: After completing this"
    asked["messages"].append({"role": "system", "content": note})
    post(server, "/v1/messages", asked)
    assert server.prompts() == ["first", "second\n\nand more"]


@each_face
def test_a_title_is_no_prompt(server: ModelServer, face: Face) -> None:
    server.answer_with([Fail(500)])
    answer = post(server, face.whole_path, face.ask_for_title).body
    assert "Scripted work" in face.text(answer)
    assert server.prompts() == []
    assert [request.auxiliary for request in server.requests] == [True]


@each_face
def test_it_fails_as_often_as_wanted_and_then_goes_on(server: ModelServer, face: Face) -> None:
    server.answer_with([Run("make"), Fail(429, times=2, retry_after=7), Text("Made.")])
    asked = face.ask([("user", "hello"), ("model", ""), ("tool", "")])
    refusals = [post(server, face.path, asked) for _ in range(2)]
    assert [(refusal.status, refusal.headers["retry-after"]) for refusal in refusals] == [(429, "7")] * 2
    assert "Rate limit" in refusals[0].body["error"]["message"]
    assert face.text(face.join(post(server, face.path, asked).events)) == "Made."
    assert server.prompts() == ["hello"]


@each_face
def test_it_drops_the_connection(server: ModelServer, face: Face) -> None:
    server.answer_with([Drop(halfway=False, times=1), Drop(halfway=True, times=1), Text("Made.")])
    with pytest.raises(ConnectionError):
        streamed(server, face, ("user", "hello"))
    with pytest.raises((ConnectionError, IncompleteRead)):
        streamed(server, face, ("user", "hello"))
    assert face.text(streamed(server, face, ("user", "hello"))) == "Made."


@pytest.mark.parametrize("step", [Hang(), Text("very slow", over_secs=600)])
def test_stopping_ends_an_answer_under_way(step: Hang | Text) -> None:
    server = ModelServer.start()
    server.answer_with([step])
    ended: list[BaseException | Answer] = []

    def ask() -> None:
        try:
            ended.append(post(server, "/v1/messages", ask_anthropic([("user", "hello")])))
        except (OSError, HTTPException) as broken:
            ended.append(broken)

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(server.prompts)
    server.stop()
    asking.join(20)
    assert len(ended) == 1


@each_face
def test_a_wrong_word_is_told_to_the_agent(server: ModelServer, face: Face) -> None:
    answer = post(server, face.path, face.ask([("user", "model:dance")]))
    assert answer.status == 400
    assert "model:dance" in answer.body["error"]["message"]


@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/messages/count_tokens", 200), ("/v1beta/models/some:countTokens", 200), ("/v1/nothing", 404)],
)
def test_what_is_not_an_answer_of_the_model(server: ModelServer, path: str, status: int) -> None:
    assert post(server, path, {"messages": []}).status == status
    assert server.requests == []


def test_models_are_listed(server: ModelServer) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("GET", "/v1/models")
    listing = json.load(connection.getresponse())
    connection.close()
    assert [model["id"] for model in listing["data"]] == ["scripted"]


def test_it_runs_as_a_program_that_keeps_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-m", "testing.models", "--port", "0", "--log", str(log)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        port = int(program.stdout.readline().strip().rpartition(":")[2])
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("POST", "/v1/messages", json.dumps(ask_anthropic([("user", "model:text(hi)")])))
        connection.getresponse().read()
        connection.close()
        program.send_signal(signal.SIGTERM)
        assert program.wait(120) == 0
    assert json.loads(log.read_text())["prompts"] == ["model:text(hi)"]
