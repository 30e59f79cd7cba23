"""How the CLIs that speak chat completions name their tools: each is known by the tools that it offers."""

from __future__ import annotations

from testing.models.face import Block, Called, Request, Said, question_of, working_directory
from testing.models.steps import Act, Ask, Plan, Run, Write


def call_of(act: Act, request: Request) -> tuple[Block, ...]:
    if "run_shell_command" in request.tools:
        return _qwen(act, request)
    if "create" in request.tools:
        return _copilot(act, request)
    if "Bash" in request.tools:
        return _kimi(act)
    return _opencode(act, request)


def _opencode(act: Act, request: Request) -> tuple[Block, ...]:
    match act:
        case Run(command, why):
            return (Called("bash", {"command": command, "description": why}),)
        case Write(path, content):
            return (Called("write", {"filePath": f"{working_directory(request)}/{path}", "content": content}),)
        case Ask():
            return (Called("question", {"questions": [question_of(act)]}),)
        case Plan():
            return (Called("plan_exit", {}),)


def _qwen(act: Act, request: Request) -> tuple[Block, ...]:
    match act:
        case Run(command, why, in_background=later):
            return (Called("run_shell_command", {"command": command, "description": why, "is_background": later}),)
        case Write(path, content):
            where = f"{working_directory(request)}/{path}"
            return (Called("write_file", {"file_path": where, "content": content}),)
        case Ask():
            return (Called("ask_user_question", {"questions": [question_of(act)]}),)
        case Plan(text):
            return (Called("exit_plan_mode", {"plan": text}),)


def _copilot(act: Act, request: Request) -> tuple[Block, ...]:
    match act:
        case Run(command, why, in_background=later):
            mode = "async" if later else "sync"
            return (Called("bash", {"command": command, "description": why, "mode": mode}),)
        case Write(path, content):
            return (Called("create", {"path": f"{working_directory(request)}/{path}", "file_text": content}),)
        case Ask(question, options):
            choice = {"type": "string", "title": "Approach", "enum": list(options)}
            schema = {"properties": {"approach": choice}, "required": ["approach"]}
            return (Called("ask_user", {"message": question, "requestedSchema": schema}),)
        case Plan(text):
            return (Said(text),)  # its plan mode ends a turn with the plan


def _kimi(act: Act) -> tuple[Block, ...]:
    match act:
        case Run(command, why, in_background=later):
            return (Called("Bash", {"command": command, "description": why, "run_in_background": later}),)
        case Write(path, content):
            return (Called("Write", {"path": path, "content": content}),)
        case Ask():
            return (Called("AskUserQuestion", {"questions": [question_of(act)]}),)
        case Plan():
            return (Called("ExitPlanMode", {}),)
