"""Does what a prompt asks, step by step, asking its host for everything that takes time or a person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from llmc.demo import files
from llmc.demo.commits import amend, commit
from llmc.demo.dialog import NO, YES, Asking
from llmc.demo.rebase import abort_rebase, rebase_under_way, resolve
from llmc.demo.requests import Crashed, Doing, Ending, FailedTurn, Kill, Pause, SpoolReport, Tell, Tone, TurnOver, ask
from llmc.demo.script import Script, note_idea, parse
from llmc.demo.steps import ScriptStep, StepFailedError
from llmc.demo.text import lines_of

Result = str | Ending
"""What came of a step: words, or an ending when nothing may follow."""

SPENT = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_UNANNOUNCED = ("say", "fail", "crash", "signal", "nothing", "misunderstood")
"""The verbs that do not look like tool calls."""


def work(prompt: str, pace: float) -> Doing[Ending]:
    """One turn. Each step is announced `pace` seconds before it happens."""
    script = parse(prompt)
    last = ""
    for step in script.steps or (yield from _improvised(prompt, script)):
        result = yield from _announced(step, pace)
        if isinstance(result, TurnOver):
            yield Tell(result.last_message)
        if not isinstance(result, str):
            return result
        last = result
    return TurnOver(last)


def _improvised(prompt: str, script: Script) -> Doing[tuple[ScriptStep, ...]]:
    if "conflict" in prompt.lower() and (yield from rebase_under_way()):
        return (ScriptStep("resolve"),)
    idea = note_idea(prompt)
    note = ScriptStep("append" if Path(idea.path).exists() else "write", idea.path, f"{idea.line}\n")
    return (note, ScriptStep("commit", text=idea.message, trailers=script.trailers))


def _announced(step: ScriptStep, pace: float) -> Doing[Result]:
    if step.verb in _UNANNOUNCED:
        return (yield from _attempted(step, pace))
    tool = "Bash" if step.verb == "permit" else step.verb.title().replace("-", "")
    subject = step.path or lines_of(step.text)[0] or (f"{step.number:g} s" if step.verb == "sleep" else "")
    yield Tell(f"● {tool}({subject})" if subject else f"● {tool}", Tone.BOLD)
    yield SpoolReport("activity", {"tool": tool, "phase": "start"})
    result = yield from _attempted(step, pace)
    if isinstance(result, str):
        yield Tell(f"  ⎿ {result}", Tone.DIM)
    yield SpoolReport("activity", {"tool": tool, "phase": "end"})
    return result


def _attempted(step: ScriptStep, pace: float) -> Doing[Result]:
    if step.verb != "crash":
        yield Pause(pace)
    try:
        if act := _AT_ONCE.get(step.verb):
            return act(step)
        return (yield from _IN_TIME[step.verb](step))
    except (StepFailedError, OSError, ValueError) as failure:
        yield Tell(f"  ⎿ Error: {failure}", Tone.ERROR)
        return TurnOver(f"I could not go on: {failure}")


def _sleep(step: ScriptStep) -> Doing[Result]:
    yield Pause(step.number)
    return f"Slept for {step.number:g} s"


def _hang(step: ScriptStep) -> Doing[Result]:
    yield Pause(None)
    return "Woke up"


def _say(step: ScriptStep) -> Doing[Result]:
    yield Tell("● " + "\n  ".join(lines_of(step.text)))
    return step.text


def _question(step: ScriptStep) -> Doing[Result]:
    yield SpoolReport("question", {"text": step.text})
    answer = yield from ask(Asking(step.text, free_text=True))
    if answer.choice == NO and not answer.typed:
        return TurnOver("You said no, so I stop here.")
    return f"You answered: {answer.choice}"


def _permit(step: ScriptStep) -> Doing[Result]:
    yield SpoolReport("permission", {"tool": "Bash", "command": step.text})
    detail = ("Bash command", f"  {step.text}")
    answer = yield from ask(Asking("Do you want to run this command?", detail, letters=True))
    if answer.choice != YES:
        return TurnOver("I may not run this command, so I stop here.")
    return "Permitted (the demo agent only asks, it runs nothing)"


def _signal(step: ScriptStep) -> Doing[Result]:
    yield Kill(int(step.number))
    return f"Survived signal {step.number:g}"


def _spend(step: ScriptStep) -> Doing[Result]:
    """What an answer of a model would have cost: nobody answers here."""
    *counts, model = step.text.split()
    tokens = dict(zip(SPENT, map(int, counts), strict=False))
    yield SpoolReport("usage", {"id": f"demo:{uuid4()}", "model": model, **tokens})
    return f"Spent {sum(tokens.values())} tokens"


def _misunderstood(step: ScriptStep) -> Result:
    raise StepFailedError(step.text)


_AT_ONCE: dict[str, Callable[[ScriptStep], Result]] = {
    "write": files.write,
    "append": files.append,
    "replace": files.replace,
    "delete": files.delete,
    "fail": lambda step: FailedTurn(step.kind, step.text),
    "crash": lambda step: Crashed(int(step.number)),
    "nothing": lambda _: TurnOver("There is nothing to do."),
    "misunderstood": _misunderstood,
}
"""The steps that need nothing of their host."""

_IN_TIME: dict[str, Callable[[ScriptStep], Doing[Result]]] = {
    "commit": commit,
    "amend": amend,
    "resolve": lambda _: resolve(),
    "abort-rebase": lambda _: abort_rebase(),
    "sleep": _sleep,
    "hang": _hang,
    "say": _say,
    "ask": _question,
    "permit": _permit,
    "signal": _signal,
    "spend": _spend,
}
