"""The table of the API: each request with the command that answers it. Routes and OpenAPI are made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmc.commands.shared.fields import CommandWords, Field, Given
from llmc.values import Value


class Call(Value):
    """One request below `/api/v1`."""

    method: str
    path: str
    summary: str
    words: Callable[[Given], CommandWords] | None = None
    """None: it is answered by the server itself."""
    fields: tuple[Field, ...] = ()
    """Of the body, or of the query of a GET."""
    shaped: Callable[[Any, Given], Any] = lambda document, given: document
    """What is answered of the command's document."""
    is_terminal: bool = False
    """It shows one: a cookie alone is not enough."""


def _said(*argv: str, stdin: str = "") -> CommandWords:
    return CommandWords(argv, stdin)


def _text_of(given: Given) -> tuple[str, ...]:
    return ("-",) if given.get("text") is not None else ()


def _task_options(given: Given) -> list[str]:
    return [
        *(
            word
            for name in ("title", "worker", "agent", "machine", "priority")
            for word in given.option(name, f"--{name}")
        ),
        *([f"--after={','.join(given.get('after'))}"] if given.get("after") is not None else []),
        *given.option("touches", "--touches"),
        *given.option("auto_accept", "--auto-accept"),
    ]


def _place(given: Given) -> str:
    end = given.get("end_line")
    lines = f"{given.get('line')}" + (f"-{end}" if end is not None and end != given.get("line") else "")
    return f"{given.get('path')}:{lines}"


def _later(events: Any, given: Given) -> Any:  # noqa: ANN401 - the command's document
    return [event for event in events if event["id"] > given.get("since", 0)]


def _on_worker(verb: str, *more: str) -> Callable[[Given], CommandWords]:
    return lambda given: _said(verb, given.worker, *more)


def _on_task(verb: str) -> Callable[[Given], CommandWords]:
    return lambda given: _said("task", verb, given.task)


WORKER = "/workers/{worker}"
TASK = "/tasks/{task}"
TEXT = Field("text", "the text", needed=True)
FORCE = Field("force", "do not wait for the agent", "boolean")
WISHES = (
    Field("title", "a short name"),
    Field("after", "ids of the tasks that must have landed before", "strings"),
    Field("worker", "only to this worker"),
    Field("agent", "only to a worker that runs this agent"),
    Field("machine", "only to a worker on a machine with this label"),
    Field("priority", "the higher, the sooner", "integer"),
    Field("touches", "files that it will change", "strings"),
    Field("auto_accept", "lands by itself when its checks pass", "boolean"),
)

CALLS = (
    Call("GET", "/status", "the document of `llmc status --json`"),
    Call("GET", "/board", "the board as the pages draw it, with the id of its last change"),
    Call("GET", "/stream", "server-sent events: `board` first, then `change`; `Last-Event-ID` resumes"),
    Call(
        "GET",
        "/usage",
        "`llmc usage --json`: tokens and money",
        lambda given: _said("usage", *given.option("by", "--by"), *given.option("since", "--since")),
        (
            Field("by", "task, worker, agent, model or day: one sum for each"),
            Field("since", "from this day on, such as 2026-11-19 or 7d"),
        ),
    ),
    Call("GET", "/tasks", "`llmc task list --all --json`", lambda given: _said("task", "list", "--all")),
    Call("GET", TASK, "`llmc task show ID --json`", _on_task("show")),
    Call("GET", "/graph", "`llmc task graph --json`: what comes after what", lambda given: _said("task", "graph")),
    Call("GET", "/train", "`llmc train --json`", lambda given: _said("train")),
    Call(
        "GET",
        "/events",
        "`llmc events --json`, oldest first",
        lambda given: _said(
            *("events", "-n", str(given.get("lines", 200)), "--"),
            *([given.get("worker")] if given.get("worker") else []),
        ),
        (
            Field("since", "only those after this id", "integer"),
            Field("worker", "only of this worker"),
            Field("lines", "how many at most", "integer"),
        ),
        _later,
    ),
    Call("GET", "/doctor", "`llmc doctor --json`: it only looks", lambda given: _said("doctor")),
    Call("GET", WORKER, "this worker, as `llmc status --json` has it"),
    Call(
        "GET",
        f"{WORKER}/review",
        "`llmc review W --peek --json`: nothing is rebased, and it does not count as a review",
        lambda given: _said("review", given.worker, "--peek", *(["--since-last"] if given.get("since_last") else [])),
        (Field("since_last", "1: only what has changed since the last round"),),
    ),
    Call("GET", f"{WORKER}/explain", "`llmc explain W --json`", _on_worker("explain")),
    Call("GET", f"{WORKER}/comments", "`llmc comment W --list --json`", _on_worker("comment", "--list")),
    Call(
        "GET",
        f"{WORKER}/screen",
        "`llmc peek W --json`: the last lines of its terminal; needs the second secret",
        _on_worker("peek"),
        is_terminal=True,
    ),
    Call(
        "POST",
        f"{WORKER}/reviewed",
        "`llmc review W --seen TREE`: a person has seen this tree",
        lambda given: _said("review", given.worker, f"--seen={given.get('tree')}"),
        (Field("tree", "as the review names it", needed=True),),
    ),
    Call(
        "POST",
        f"{WORKER}/message",
        "`llmc message W`: a receipt",
        lambda given: _said("message", given.worker, "-", stdin=given.get("text")),
        (TEXT,),
    ),
    Call(
        "POST",
        f"{WORKER}/start",
        "`llmc start --worker W`: gives it this task, and answers with a receipt",
        lambda given: _said("start", "-", "--worker", given.worker, stdin=given.get("text")),
        (TEXT,),
    ),
    Call(
        "POST",
        f"{WORKER}/answer",
        "`llmc answer W CHOICE`: answers the open dialog, if it is still this one",
        lambda given: _said("answer", *given.option("dialog", "--dialog"), "--", given.worker, given.get("choice")),
        (
            Field("choice", "yes, no, the number or the words of an option, or your own text", needed=True),
            Field("dialog", "the id of the dialog that was seen"),
        ),
    ),
    Call(
        "POST",
        f"{WORKER}/interrupt",
        "`llmc interrupt W`: ends the running turn",
        lambda given: _said(
            "interrupt", given.worker, *given.option("within", "--within"), *given.option("force", "--force")
        ),
        (Field("within", "seconds that the agent may take to stop", "number"), FORCE),
    ),
    Call(
        "POST",
        f"{WORKER}/comment",
        "`llmc comment W FILE:LINE-LINE TEXT`: a comment of the open round",
        lambda given: _said("comment", "--", given.worker, _place(given), "-", stdin=given.get("text")),
        (
            Field("path", "the file", needed=True),
            Field("line", "its first line, as the new side numbers it", "integer", needed=True),
            Field("end_line", "the last one", "integer"),
            TEXT,
        ),
    ),
    Call(
        "POST",
        f"{WORKER}/uncomment",
        "`llmc comment W --remove N`: takes an open comment back",
        lambda given: _said("comment", given.worker, f"--remove={given.get('number')}"),
        (Field("number", "that of the comment", "integer", needed=True),),
    ),
    Call(
        "POST",
        f"{WORKER}/reject",
        "`llmc reject W`: sends the round, all open comments and the text",
        lambda given: _said("reject", given.worker, *_text_of(given), stdin=given.get("text", "")),
        (Field("text", "the feedback; none is needed where there are comments"),),
    ),
    Call(
        "POST",
        f"{WORKER}/accept",
        "`llmc accept W`: merges the work as one commit, if it is still this tree",
        lambda given: _said(
            *("accept", given.worker),
            *(word for name in ("tree", "message", "queue", "changed") for word in given.option(name, f"--{name}")),
        ),
        (
            Field("tree", "the one that was seen"),
            Field("message", "the commit's message"),
            Field("queue", "by the merge train: returns at once", "boolean"),
            Field("changed", "even if the work has changed since its review", "boolean"),
        ),
    ),
    Call(
        "POST",
        f"{WORKER}/restart",
        "`llmc restart W --yes`",
        lambda given: _said(
            "restart", given.worker, "--yes", *given.option("resend", "--resend"), *given.option("force", "--force")
        ),
        (Field("resend", "give it its task again", "boolean"), FORCE),
    ),
    Call(
        "POST",
        "/tasks",
        "`llmc task add`: queues a task",
        lambda given: _said(
            *("task", "add", "-", *_task_options(given), *given.option("hold", "--hold")), stdin=given.get("text")
        ),
        (TEXT, *WISHES, Field("hold", "not before it is released", "boolean")),
    ),
    *(
        Call("POST", f"{TASK}/{verb}", f"`llmc task {verb} ID`", _on_task(verb))
        for verb in ("hold", "release", "cancel")
    ),
    Call(
        "POST",
        f"{TASK}/retry",
        "`llmc task retry ID`: queues it again",
        lambda given: _said("task", "retry", given.task, *_text_of(given), stdin=given.get("text", "")),
        (Field("text", "added to its text"),),
    ),
    Call(
        "POST",
        f"{TASK}/edit",
        "`llmc task edit ID`: changes a task that no worker has",
        lambda given: _said(
            *("task", "edit", given.task, *_task_options(given)),
            *(["--text=-"] if given.get("text") is not None else []),
            stdin=given.get("text", ""),
        ),
        (Field("text", "the new text"), *WISHES),
    ),
    Call(
        "POST",
        "/train/drop",
        "`llmc train drop W`: takes its work out of the train",
        lambda given: _said("train", "--", "drop", given.get("worker")),
        (Field("worker", "whose work", needed=True),),
    ),
    *(
        Call("POST", f"/train/{verb}", f"`llmc train {verb}`", lambda given, verb=verb: _said("train", verb))  # type: ignore[misc]
        for verb in ("pause", "resume")
    ),
)
