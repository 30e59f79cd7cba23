"""Chat completions as pi 0.73, Cline 3.0 and aider 0.86 use them: each has a path and tools of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from testing.models.chat import Chat
from testing.models.conversation import Speaker, Turn
from testing.models.face import Block, Body, Called, Request, Said, working_directory
from testing.models.steps import Act, Ask, Plan, Run, Write


class _OwnPath(Chat):
    """The name is the first part of the path: `/pi/v1/chat/completions`."""

    def takes(self, path: str) -> bool:
        return path.startswith(f"/{self.name}/") and super().takes(path)


class Pi(_OwnPath):
    name = "pi"

    def act(self, act: Act, request: Request) -> tuple[Block, ...]:
        match act:
            case Run(command):
                return (Called("bash", {"command": command}),)
            case Write(path, content):
                return (Called("write", {"path": path, "content": content}),)
            case Ask(question):
                return (Said(question),)
            case Plan(text):
                return (Said(text),)


class Cline(_OwnPath):
    name = "cline"

    def act(self, act: Act, request: Request) -> tuple[Block, ...]:
        match act:
            case Run(command):
                return (Called("run_commands", {"commands": [command]}),)
            case Write(path, content):
                written = {"path": f"{working_directory(request)}/{path}", "new_text": content}
                return (Called("editor", written),)
            case Ask(question, options):
                return (Called("ask_question", {"question": question, "options": list(options)}),)
            case Plan(text):
                return (Said(text),)


class Aider(_OwnPath):
    """It has no tools: files are in the answer, and it commits them by itself."""

    name = "aider"
    OWN: ClassVar = (
        "Change the greeting to be more casual",
        "I switched to a new code base.",
        "Here are summaries of some files",
        "Don't try and edit any existing code",
        "I have *added these files to the chat*",
    )
    REMINDER: ClassVar = re.compile(r"\n\nTo suggest changes to a file you MUST return.*", re.DOTALL)

    def read(self, path: str, headers: Mapping[str, str], body: Body) -> Request:
        request = super().read(path, headers, body)
        turns = tuple(self._bare(turn) for turn in request.turns if not turn.text.startswith(self.OWN))
        asks_for_message = "commit message" in str(body.get("messages", [{}])[0].get("content", ""))
        return replace(request, turns=turns, auxiliary=asks_for_message)

    def act(self, act: Act, request: Request) -> tuple[Block, ...]:
        match act:
            case Run(command):
                return (Said(f"Run this:\n\n```bash\n{command}\n```\n"),)
            case Write(path, content):
                return (Said(f"\n\n{path}\n```\n{content}```\n\nAll done: the change is in place.\n"),)
            case Ask(question):
                return (Said(question),)
            case Plan(text):
                return (Said(text),)

    def _bare(self, turn: Turn) -> Turn:
        return replace(turn, text=self.REMINDER.sub("", turn.text)) if turn.speaker is Speaker.USER else turn
