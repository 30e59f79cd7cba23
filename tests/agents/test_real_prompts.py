"""Prompts on the real CLIs: what a receipt says is what the model got."""

from __future__ import annotations

import os

import pytest

from testing.models.steps import Text
from testing.real_agents import AgentRoot
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import agent_root as agent_root
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until

LINES = "\n".join(f"line {n}: the quick brown fox jumps over the lazy dog" for n in range(90))
KINDS = {
    "one line": "Please look at the parser, number {n}.",
    "many lines": "Number {n}, 5 KB:\n" + LINES,
    "wide characters": "Nummer {n}: größe 😀👩‍👩‍👧 漢字かな交じり文 한국어 e\u0301 done",
    "quotes": "Number {n}: 'single' \"double\" `back` $HOME $(id) \\n %s {{x}} <b>&amp;</b>",
    "semicolon": "Number {n} ends with a semicolon;",
    "slash": "/number {n} begins with a slash",
    "dash": "- number {n} begins with a dash",
    "bang": "!number {n} begins with a bang",
    "hash": "#number {n} begins with a hash",
    "at": "@number {n} begins with an at",
    "tabs": "Number {n}\tafter a tab\n\tindented\n\t\ttwice",
    "blank lines": "Number {n}\n\n\nafter three newlines\n\n- list\n- of\n- things",
    "long": "Number {n}, 64 KB: " + "0123456789abcdef" * 4096,
}
ROUNDS = int(os.environ.get("LLMC_PROMPT_ROUNDS", "1"))
REFUSED = {("codex", "bang")}
"""What the CLI runs as a command of its own, whatever stands before it: docs/agents.md lists them."""


@pytest.mark.lesson(1, "a receipt says delivered, queued, undelivered or unknown, and never guesses success")
@pytest.mark.lesson(7, "the Enter comes by itself, once the text is seen")
@pytest.mark.timeout(240 * ROUNDS)
def test_every_prompt_arrives_once_and_whole_or_the_receipt_says_why_not(agent_root: AgentRoot) -> None:
    agent = agent_root.machine.agent.name
    agent_root.models.answer_with([Text("Read.")])
    for round_number in range(ROUNDS):
        for number, (kind, form) in enumerate(KINDS.items()):
            prompt = form.format(n=f"{round_number}-{number}")
            receipt = agent_root.message(prompt)
            if (agent, kind) in REFUSED:
                assert receipt["outcome"] == "undelivered", (kind, receipt)
                assert "command of its own" in receipt["reason"]
                assert agent_root.times_got(prompt) == 0
                continue
            assert receipt["outcome"] in ("delivered", "queued"), (kind, receipt)
            wait_until(lambda prompt=prompt: agent_root.times_got(prompt) == 1, timeout=60)
            wait_until(lambda: agent_root.status()["attention"]["state"] == "READY", timeout=60)
    for prompt in (form.format(n=f"{ROUNDS - 1}-{number}") for number, form in enumerate(KINDS.values())):
        assert agent_root.times_got(prompt) <= 1
