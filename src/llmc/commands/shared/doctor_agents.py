"""`llmc doctor --agents`: every agent CLI is tried for real, away from your repository."""

from __future__ import annotations

from llmc.agents.registry import BUILT_IN
from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.config.load import load_config, parse_config
from llmc.config.settings import Config
from llmc.core.display import one_line
from llmc.doctor.agent_trial import Trial, TrialVerdict, try_agent
from llmc.root import Root
from llmc.store.config_file import default_config_text
from llmc.store.json_values import json_object

NOT_TRIED = frozenset(("shell", "demo"))
"""They come with LLMC."""
WORDS_SHOWN = 300


def try_agents(app: App, root: Root) -> Result:
    config = _settings(root)
    host = app.host()
    trials = []
    for name in (
        *(name for name in BUILT_IN if name not in NOT_TRIED),
        *sorted(config.agents.keys() - BUILT_IN.keys()),
    ):
        trials.append(try_agent(host, name, config, root.packs))
        app.console.say("\n".join(_told(trials[-1])))
    installed = [trial for trial in trials if trial.installed]
    ok = all(trial.ok for trial in installed)
    return Result(_summary(installed), {"schema": 1, "ok": ok, "agents": [_data(each) for each in trials]}, int(not ok))


def _settings(root: Root) -> Config:
    """Those of the root, because they may change how an agent is started; without a root, the usual ones."""
    return load_config(root.config_file) if root.exists else parse_config(default_config_text("/", "main"))


def _told(trial: Trial) -> list[str]:
    if not trial.installed:
        return [f"{trial.agent}: {trial.program} is not installed"]
    head = f"{trial.agent} {trial.version or '(version unknown)'}, pack {trial.pack}"
    marks = {TrialVerdict.UNKNOWN: "?", TrialVerdict.DRIFTED: "DRIFTED"}
    checks = ((marks.get(check.verdict, check.verdict.value), check) for check in trial.checks)
    return [head, *(f"  {mark:<8}{check.name}: {one_line(check.words, WORDS_SHOWN)}" for mark, check in checks)]


def _summary(installed: list[Trial]) -> str:
    if not installed:
        return "no agent CLI is installed"
    drifted = {trial.agent: trial.drifted for trial in installed if trial.drifted}
    failed = [trial.agent for trial in installed if not trial.ok and not trial.drifted]
    lines = [f"{name} has drifted from what LLMC knows: {', '.join(what)}" for name, what in drifted.items()]
    lines += [f"{name} does not work here as it is; see above" for name in failed]
    if drifted:
        lines.append("workers go on by git, process and screen where reports are missing; docs/agents.md tells more")
    return "\n".join(lines) or "every installed agent works as LLMC knows it"


def _data(trial: Trial) -> dict[str, object]:
    told = {
        "version": trial.version or None,
        "pack": trial.pack or None,
        "ok": trial.ok,
        "drifted": list(trial.drifted),
    }
    return {**json_object(trial), **told}
