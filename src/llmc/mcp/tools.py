"""The table of the tools: each with its kind, its arguments and what it does. What clients are shown is made of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from llmc.commands.shared.delegating import delegate
from llmc.commands.shared.fields import CommandWords, Field, Given
from llmc.core.display import counted, one_line
from llmc.errors import InvalidUsageError, LlmcError
from llmc.mcp.desk import Desk
from llmc.mcp.reading import USUAL_LINES, board, events, read_terminal, result, review, worker
from llmc.mcp.waiting import LONGEST_WAIT_SECS, Tell, told_meanwhile, wait
from llmc.values import Value

LONGEST_WORD = 10_000
MOST_LOGGED = 200
"""Characters of an argument."""
Act = Callable[[Desk, Given, Tell], Awaitable[Any]]


class McpTool(Value):
    name: str
    kind: str
    about: str
    act: Act
    fields: tuple[Field, ...] = ()
    tells: bool = True
    """What it answers may have texts in it that agents and programs have written."""

    @property
    def looks(self) -> bool:
        return self.kind == "read" or self.name == "review"


def _by_command(words: Callable[[Given], CommandWords]) -> Act:
    async def act(desk: Desk, given: Given, tell: Tell) -> Any:  # noqa: ANN401 - the command's document
        asked = words(given)
        return await told_meanwhile(desk.ask(asked), tell, f"`llmc {asked.argv[0]}` is under way")

    return act


def _text(given: Given) -> str:
    return str(given.get("text", ""))


def _place(given: Given) -> str:
    end = given.get("end_line")
    return f"{given.get('path')}:{given.get('line')}" + (f"-{end}" if end is not None else "")


async def _delegate(desk: Desk, given: Given, tell: Tell) -> dict[str, str]:
    request = str(given.get("request_id", ""))
    task = await desk.beside(lambda site: delegate(site, desk.worker, _text(given), given.fields, request))
    return {"id": task.id}


async def _cancel(desk: Desk, given: Given, tell: Tell) -> Any:  # noqa: ANN401 - the command's document
    task = await desk.beside(lambda site: site.ledger.tasks.task(given.get("id")))
    if desk.worker and task.asked_by != desk.worker:
        raise LlmcError(f"{task.id} was not delegated by {desk.worker}", "only the person can cancel it")
    return await desk.ask(CommandWords(("task", "cancel", task.id)))


WORKER = Field("worker", "the worker's name", needed=True)
TASK_ID = Field("id", "the task's id, such as t3", needed=True)
TEXT = Field("text", "the text", needed=True)

TOOLS = (
    McpTool("board", "read", "who does what, and who needs the person and why", board),
    McpTool("worker", "read", "one worker: its work, its task, what it asks, its last words", worker, (WORKER,)),
    McpTool(
        "read_terminal",
        "read",
        "the last lines of a worker's terminal",
        read_terminal,
        (WORKER, Field("lines", f"how many (default {USUAL_LINES})", "integer")),
    ),
    McpTool(
        "wait",
        "read",
        "waits until a task needs somebody or is over, at most `secs`, and answers its state. It costs no tokens: "
        "call it again until the task is where you want it, rather than looking again and again",
        wait,
        (
            TASK_ID,
            Field("secs", f"answer after so many seconds at the latest, up to {LONGEST_WAIT_SECS:.0f}", "number"),
            Field("known", "the state that you know: waits for any other one, such as `landed` after `review`"),
        ),
    ),
    McpTool(
        "result",
        "read",
        "what came of a task: its commit, the diff, the checks, the agent's last words",
        result,
        (TASK_ID,),
    ),
    McpTool(
        "events",
        "read",
        "the log of what happened, oldest first",
        events,
        (Field("since", "only those after the event of this id; without it the last ones", "integer"),),
    ),
    McpTool(
        "delegate",
        "delegate",
        "queues a task for another worker, and answers its id at once. Its agent sees nothing but this text",
        _delegate,
        (
            Field("text", "the whole task, for somebody who knows nothing else", needed=True),
            Field("title", "a short name"),
            Field("after", "ids of tasks whose work must have landed before", "strings"),
            Field("agent", "only to a worker that runs this agent"),
            Field("worker", "only to this worker"),
            Field("priority", "the higher, the sooner", "integer"),
            Field("request_id", "a name of your own for this request: asked again, nothing is delegated twice"),
        ),
        tells=False,
    ),
    McpTool("cancel", "delegate", "takes a task that no worker has out of the queue", _cancel, (TASK_ID,)),
    McpTool(
        "message",
        "message",
        "sends a text to a worker's agent, and answers with a receipt",
        _by_command(lambda given: CommandWords(("message", "--", given.get("worker"), "-"), _text(given))),
        (WORKER, TEXT),
    ),
    McpTool(
        "interrupt",
        "message",
        "ends the running turn of a worker's agent",
        _by_command(lambda given: CommandWords(("interrupt", "--", given.get("worker")))),
        (WORKER,),
    ),
    McpTool(
        "answer",
        "answer",
        "answers the open dialog of a worker's agent, if it is still this one",
        _by_command(
            lambda given: CommandWords(
                ("answer", f"--dialog={given.get('dialog')}", "--", given.get("worker"), given.get("choice"))
            )
        ),
        (
            WORKER,
            Field("choice", "yes, no, the number or the words of an option, or a text", needed=True),
            Field("dialog", "the dialog's id, as `worker` tells it in `asked`", needed=True),
        ),
    ),
    McpTool(
        "review",
        "review",
        "a worker's work: diff, checks, comments. It does not count as the person's review",
        review,
        (WORKER,),
    ),
    McpTool(
        "comment",
        "review",
        "a comment on lines of a worker's work, kept until `reject` sends all of them as one round",
        _by_command(
            lambda given: CommandWords(("comment", "--", given.get("worker"), _place(given), "-"), _text(given))
        ),
        (
            WORKER,
            Field("path", "the file, as the diff names it", needed=True),
            Field("line", "its first line, as the new side numbers it", "integer", needed=True),
            Field("end_line", "the last one", "integer"),
            TEXT,
        ),
    ),
    McpTool(
        "reject",
        "review",
        "sends the work back with all open comments and the text, as one round",
        _by_command(
            lambda given: CommandWords(
                ("reject", "--", given.get("worker"), *(["-"] if given.get("text") is not None else [])), _text(given)
            )
        ),
        (WORKER, Field("text", "the feedback; none is needed where there are comments")),
    ),
    McpTool(
        "accept",
        "accept",
        "lands a worker's work as one commit on the person's branch",
        _by_command(lambda given: CommandWords(("accept", *given.option("tree", "--tree"), "--", given.get("worker")))),
        (WORKER, Field("tree", "only this very tree, as `review` names it")),
    ),
)


def check_lengths(given: Given) -> None:
    """Texts have a bound of their own; whatever else is a word of a command, or a line of the log."""
    for name, value in given.fields.items():
        long = max(map(len, value), default=0) if isinstance(value, list) else len(str(value))
        if name != "text" and long > LONGEST_WORD:
            raise InvalidUsageError(f"{name!r} has {long:,} characters", f"give at most {LONGEST_WORD:,}")


def words_of(tool: McpTool, given: Given) -> str:
    """What is asked for, for the log: names, and of texts how long they are."""
    parts = [tool.name]
    for field in tool.fields:
        value = given.get(field.name)
        if value is not None and field.name in ("text", "choice"):
            parts.append(f"({counted(len(str(value)), 'character')})")
        elif value is not None:
            parts.append(f"{field.name}={one_line(str(value), MOST_LOGGED)}")
    return " ".join(parts)
