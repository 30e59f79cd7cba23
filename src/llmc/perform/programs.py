"""Asking the installed agent program what it is and which options it knows, before it is started with them."""

from __future__ import annotations

import time

from llmc.agents.base import Agent, program_of
from llmc.core.program import InstalledProgram, options_in, version_in
from llmc.errors import LlmcError
from llmc.host.base import Host
from llmc.root import Root
from llmc.store.program_file import Binary, forget_program, keep_program, look_at, read_program

ANSWER_SECS = 10.0
"""A start never waits longer: without an answer the program is taken to know every option."""


def installed_program(host: Host, root: Root, agent: Agent, within: float = ANSWER_SECS) -> InstalledProgram:
    """What it says of itself: asked once, and again when it was replaced."""
    binary = _binary(host, agent)
    if binary is None:
        return InstalledProgram()
    host.make_dir(root.programs)
    # Workers that start at once wait for the one that asks.
    with host.alone(f"{root.programs}/.lock", within):
        known = read_program(root.programs, binary, agent.asked_for_help, time.time())
        if known is None:
            known = ask_program(host, binary.path, agent.asked_for_help, within)
            keep_program(root.programs, binary, agent.asked_for_help, known, time.time())
    return known


def known_program(host: Host, root: Root, agent: Agent) -> InstalledProgram | None:
    """The same without asking: None when nobody has asked yet."""
    binary = _binary(host, agent)
    return None if binary is None else read_program(root.programs, binary, agent.asked_for_help, time.time())


def forget_installed(host: Host, root: Root, agent: Agent) -> None:
    """A start that failed may have failed for an answer that does not hold any more."""
    binary = _binary(host, agent)
    if binary is not None:
        forget_program(root.programs, binary)


def _binary(host: Host, agent: Agent) -> Binary | None:
    path = host.which(program_of(agent)) if agent.asked_for_help else None
    return look_at(path) if path else None


def ask_program(host: Host, program: str, commands: tuple[str, ...], within: float) -> InstalledProgram:
    """All questions at once, because some CLIs take seconds for each."""
    from concurrent.futures import ThreadPoolExecutor  # slow to load, and most commands ask no program

    questions = [(program, "--version"), *((program, *command.split(), "--help") for command in commands)]

    with ThreadPoolExecutor(len(questions)) as pool:
        version, *pages = pool.map(lambda question: _answer(host, question, within), questions)
    options = {command: found for command, page in zip(commands, pages, strict=True) if (found := options_in(page))}
    return InstalledProgram(version_in(version), options)


def _answer(host: Host, question: tuple[str, ...], within: float) -> str:
    try:
        said = host.run(question, cwd="/", timeout=within)
    except LlmcError:
        return ""
    # A program that fails tells of its failure: its words are no list of options.
    return f"{said.text}\n{said.err.decode('utf-8', 'replace')}" if said.ok else ""
