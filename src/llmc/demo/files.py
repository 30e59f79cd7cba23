"""Changes to files, as the script asks for them."""

from __future__ import annotations

from pathlib import Path

from llmc.demo.steps import ScriptStep, StepFailedError


def write(step: ScriptStep) -> str:
    path = Path(step.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(step.text.encode())
    return f"Wrote {_counted(step.text)}"


def append(step: ScriptStep) -> str:
    path = Path(step.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_bytes() if path.exists() else b""
    gap = b"\n" if before and not before.endswith(b"\n") else b""
    path.write_bytes(before + gap + step.text.encode())
    return f"Added {_counted(step.text)}"


def replace(step: ScriptStep) -> str:
    path = Path(step.path)
    before, old = path.read_bytes(), step.text.encode()
    if old not in before:
        raise StepFailedError(f"{path} does not contain `{step.text}`")
    path.write_bytes(before.replace(old, step.new.encode()))
    return f"Replaced `{step.text}` by `{step.new}`"


def delete(step: ScriptStep) -> str:
    Path(step.path).unlink()
    return f"Deleted {step.path}"


def _counted(text: str) -> str:
    count = text.count("\n")
    return f"{count} line" if count == 1 else f"{count} lines"
