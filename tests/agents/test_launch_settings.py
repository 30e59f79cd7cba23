"""What the CLIs with hooks are given to read: the person's own settings stay in force, and stay as they are."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llmc.agents import kimi, qwen
from llmc.agents.base import Launch, LaunchOrder
from llmc.agents.registry import BUILT_IN
from llmc.host.local import LocalHost


@pytest.fixture
def order(tmp_path: Path) -> LaunchOrder:
    return LaunchOrder("w", "/srv/My Work", "/srv/repo", str(tmp_path / "home"), str(tmp_path / "own"))


def launched(name: str, order: LaunchOrder) -> Launch:
    return BUILT_IN[name]().launch(order)


def kimi_settings(order: LaunchOrder) -> dict[str, Any]:
    return tomllib.loads(launched("kimi", order).files[f"{order.settings_dir}/kimi/config.toml"])


def at_home(order: LaunchOrder, name: str, text: str) -> Path:
    path = Path(order.home, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "hooks",
    ['[[hooks]]\nevent = "Stop"\ncommand = "beep"\n', 'hooks = [{ event = "Stop", command = "beep" }]\n'],
    ids=["tables", "inline"],
)
def test_kimi_keeps_the_hooks_and_the_models_of_the_person(order: LaunchOrder, hooks: str) -> None:
    own = at_home(order, ".kimi-code/config.toml", f'default_model = "k"\n{hooks}')
    settings = kimi_settings(order)
    assert settings["default_model"] == "k"
    assert settings["hooks"][0] == {"event": "Stop", "command": "beep"}
    assert [hook["event"] for hook in settings["hooks"][1:]] == list(kimi.READERS)
    assert "report.sh" not in own.read_text()


@pytest.mark.parametrize("text", ["", "this is = = no TOML"])
def test_kimi_starts_with_our_hooks_alone_where_there_is_nothing_to_keep(order: LaunchOrder, text: str) -> None:
    at_home(order, ".kimi-code/config.toml", text)
    assert [hook["event"] for hook in kimi_settings(order)["hooks"]] == list(kimi.READERS)


def test_kimi_asks_whatever_the_person_has_set_for_themselves(order: LaunchOrder) -> None:
    at_home(order, ".kimi-code/config.toml", 'default_permission_mode = "auto"\n')
    asking = replace(order, skip_permissions=False)
    assert kimi_settings(asking)["default_permission_mode"] == "manual"
    assert "--auto" not in launched("kimi", asking).argv
    assert "--auto" in launched("kimi", order).argv


def test_the_login_of_kimi_is_the_persons_and_its_trust_is_not(order: LaunchOrder) -> None:
    login = at_home(order, ".kimi-code/credentials/kimi.json", "{}")
    at_home(order, ".kimi-code/workspace-trust/wd_x_1", "{}")
    launch = launched("kimi", order)
    assert launch.links == {f"{order.settings_dir}/kimi/credentials": str(login.parent)}
    (record,) = [path for path in launch.files if "workspace-trust" in path]
    assert Path(record).name == "wd_my-work_700586d65c15"


def test_the_role_of_kimi_stands_behind_what_the_person_tells_it(order: LaunchOrder) -> None:
    at_home(order, ".kimi-code/AGENTS.md", "Speak plainly.")
    files = launched("kimi", replace(order, role_prompt="Be kind.")).files
    assert files[f"{order.settings_dir}/kimi/AGENTS.md"] == "Speak plainly.\n\nBe kind."


def test_qwen_keeps_what_the_machine_has_set(
    order: LaunchOrder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beep = {"hooks": [{"type": "command", "command": "beep"}]}
    machine = tmp_path / "machine.json"
    machine.write_text(json.dumps({"hooks": {"Stop": [beep]}, "ui": {"theme": "dark"}}))
    monkeypatch.setattr(qwen, "MACHINE_SETTINGS", machine)
    launch = launched("qwen", order)
    settings = json.loads(launch.files[launch.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"]])
    assert settings["ui"]["theme"] == "dark"
    assert settings["hooks"]["Stop"][0] == beep
    assert set(settings["hooks"]) == set(qwen.READERS)


def test_copilot_asks_whatever_the_environment_says(order: LaunchOrder) -> None:
    asking = launched("copilot", replace(order, skip_permissions=False))
    assert asking.env["COPILOT_ALLOW_ALL"] == "false"
    assert "--allow-all" not in asking.argv
    assert "COPILOT_ALLOW_ALL" not in launched("copilot", replace(order, skip_permissions=None)).env
    assert launched("copilot", order).env["COPILOT_ALLOW_ALL"] == "true"


@pytest.mark.parametrize("name", ["claude", "qwen", "copilot", "kimi"])
def test_a_wired_hook_reports(name: str, order: LaunchOrder, tmp_path: Path) -> None:
    """Run as the CLI would run it, with the words that the settings have."""
    launch = launched(name, order)
    for path, text in launch.files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    spool = tmp_path / "spool"
    spool.mkdir()
    env = {"LLMC_SPOOL": str(spool), "PATH": "/usr/bin:/bin"}
    said = LocalHost().run(["sh", "-c", stop_hook(name, launch)], env=env, stdin=b'{"stop_hook_active":false}')
    assert said.ok, said.complaint
    (file,) = spool.glob("*.json")
    report = BUILT_IN[name]().translate(json.loads(file.read_text()))
    assert report is not None
    assert report.kind == "turn_end"


def stop_hook(name: str, launch: Launch) -> str:
    file = {"claude": "settings.json", "qwen": "qwen.json", "copilot": "hooks.json", "kimi": "config.toml"}[name]
    (text,) = [text for path, text in launch.files.items() if path.endswith(file)]
    if name == "kimi":
        return next(str(hook["command"]) for hook in tomllib.loads(text)["hooks"] if hook["event"] == "Stop")
    (stop,) = json.loads(text)["hooks"]["Stop"]
    return str(stop["bash"] if name == "copilot" else stop["hooks"][0]["command"])
