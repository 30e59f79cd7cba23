"""Scripts in the prompt itself: `Please model:run(make test) and then model:commit(notes.txt)`.

| word | the model |
| --- | --- |
| `model:text(WORDS)` | says it |
| `model:slow(SECONDS, WORDS)` | says it slowly |
| `model:run(COMMAND)` | runs a shell command |
| `model:write(FILE, CONTENT)` | writes a file |
| `model:commit(FILE)` | commits a new line in a file |
| `model:ask(QUESTION)` | asks, with two answers to choose from |
| `model:plan(TEXT)` | shows a plan |
| `model:fail(STATUS, TIMES, RETRY_AFTER)` | answers with an HTTP error, so many times |
| `model:drop(halfway, TIMES)`, `model:drop(before, TIMES)` | resets the connection |
| `model:hang(SECONDS)` | says nothing |

Everything in parentheses may be left out, except commands and files; they may contain balanced parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from testing.models.steps import FOREVER, Ask, Commit, Drop, Fail, Hang, Plan, Run, Step, Text, Write

WORD = re.compile(r"(?<!\w)model:(?P<name>[a-z]+)(?P<open>\()?")
SOME_WORDS = "I read the code first, because every caller goes through it. Then I looked at the tests. " * 6


class ScriptError(ValueError):
    """The prompt asks the model for something that it cannot do."""


def steps_in(prompt: str) -> tuple[Step, ...]:
    return tuple(_step(found["name"], _argument(prompt, found)) for found in WORD.finditer(prompt))


def _step(name: str, argument: str) -> Step:
    if name not in WORDS:
        raise ScriptError(f"there is no word model:{name}; there are {', '.join(WORDS)}")
    return WORDS[name](argument)


def _argument(prompt: str, found: re.Match[str]) -> str:
    if not found["open"]:
        return ""
    depth = 1
    for at in range(found.end(), len(prompt)):
        depth += {"(": 1, ")": -1}.get(prompt[at], 0)
        if depth == 0:
            return prompt[found.end() : at]
    raise ScriptError(f"model:{found['name']}( is never closed")


def _parts(argument: str, most: int) -> list[str]:
    """At least that many, empty where there is none; the last one may contain commas."""
    parts = [part.strip() for part in argument.split(",", most - 1)]
    return parts + [""] * (most - len(parts))


def _slow(argument: str) -> Text:
    secs, words = _parts(argument, 2)
    return Text(words or SOME_WORDS, float(secs or 20))


def _write(argument: str) -> Write:
    path, content = _parts(argument, 2)
    return Write(path, (content or "one line") + "\n")


def _fail(argument: str) -> Fail:
    status, times, retry_after = _parts(argument, 3)
    return Fail(int(status or 500), int(times or FOREVER), int(retry_after) if retry_after else None)


def _drop(argument: str) -> Drop:
    when, times = _parts(argument, 2)
    return Drop(when != "before", int(times or FOREVER))


WORDS: Mapping[str, Callable[[str], Step]] = {
    "text": lambda words: Text(words or "Hello from the model."),
    "slow": _slow,
    "run": lambda command: Run(command),
    "write": _write,
    "commit": lambda path: Commit(path),
    "ask": lambda question: Ask(question) if question else Ask(),
    "plan": lambda text: Plan(text) if text else Plan(),
    "fail": _fail,
    "drop": _drop,
    "hang": lambda secs: Hang(float(secs)) if secs else Hang(),
}
