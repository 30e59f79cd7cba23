"""The settings, `config.toml`, and the user's own screen packs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from llmc.agents.packs import broken_packs
from llmc.config.load import load_config
from llmc.config.prices import price_book
from llmc.config.problems import ConfigError
from llmc.config.settings import Config
from llmc.doctor.answers import Absent, Answer, Broken, Found, given, known
from llmc.doctor.findings import Finding, Topic
from llmc.doctor.health import Health, Looking
from llmc.doctor.repairs import Repair, RepairContext, RepairStage, fix
from llmc.errors import LlmcError
from llmc.git.clone import REMOTE, TRACKING
from llmc.git.parse import decode
from llmc.git.runner import Git
from llmc.root import Root
from llmc.store.config_file import default_config_text
from llmc.values import Value

TOPIC = Topic("settings")


# --- look -----------------------------------------------------------------------------------------


class SettingsSeen(Value):
    config: Answer[Config] = field(metadata=TOPIC.asks("config.toml", required=True))
    broken_packs: Answer[tuple[str, ...]] = field(metadata=TOPIC.asks("the screen packs"))
    """What is wrong with them."""
    broken_prices: Answer[str] = field(metadata=TOPIC.asks("the prices"))
    """The same of `prices.toml`; empty where that is right, or not there."""


def look(looking: Looking, seen: Health) -> SettingsSeen:
    config = looking.config
    packs = given(config, lambda config: _find_broken_packs(looking.root, config))
    return SettingsSeen(config, packs, _find_broken_prices(looking.root))


def read_settings(root: Root) -> Answer[Config]:
    if not os.path.lexists(root.config_file):
        return Absent()
    if not Path(root.config_file).is_file():
        return Broken(f"{root.config_file} is not a file", "put a file in its place")
    try:
        return Found(load_config(root.config_file))
    except ConfigError as wrong:
        return Broken(wrong.what, wrong.hint)


def _find_broken_packs(root: Root, config: Config) -> Answer[tuple[str, ...]]:
    return Found(tuple(wrong.what for wrong in broken_packs(root.packs, config.agents.values())))


def _find_broken_prices(root: Root) -> Answer[str]:
    try:
        price_book(root.prices)
    except ConfigError as wrong:
        return Found(wrong.what)
    return Found("")


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.REPOSITORY, "write settings", "write {subject} with the source and the branch that the clone knows")
def _write_settings(context: RepairContext, repair: Repair) -> str:
    git, root = Git(context.host, as_agents=True), context.root.path
    url = git.run(root, "config", "--get", f"remote.{REMOTE}.url", check=False)
    head = git.run(root, "symbolic-ref", "--quiet", f"{TRACKING}HEAD", check=False)
    source = decode(url.out).strip() if url.ok else ""
    branch = decode(head.out).strip().removeprefix(TRACKING)
    if not source or not branch:
        raise LlmcError("the clone does not say what its source and branch are", f"write {repair.subject} by hand")
    context.host.write(repair.subject, default_config_text(source, branch).encode())
    return f"source {source}, branch {branch}; other settings are back to their defaults"


# --- judgement ------------------------------------------------------------------------------------

MISSING = TOPIC.error(
    "config-missing",
    "the root has no `config.toml` any more",
    "write {path} with `source` and `branch` under `[repo]`, as in docs/configuration.md",
    _write_settings,
)
BROKEN = TOPIC.error(
    "config-broken", "`config.toml` has a mistake", "fix {path}; `llmc config check` tells when it is right"
)
PACK_BROKEN = TOPIC.warning(
    "pack-broken",
    "a screen pack of yours has a mistake",
    "fix it as docs/packs.md tells; `llmc config check` tells when it is right",
)
PRICES_BROKEN = TOPIC.warning(
    "prices-broken",
    "`prices.toml` has a mistake",
    "fix it as docs/usage.md tells; `llmc config check` tells when it is right",
)


def judge(health: Health) -> Iterator[Finding]:
    seen, path = health.of(SettingsSeen), health.root.config_file
    match seen.config:
        case Absent():
            why = "without it no command takes this directory for an LLMC root"
            yield MISSING.finding(f"there is no {path}", why, path=path)
        case Broken(what, hint):
            yield BROKEN.finding(what, hint, path=path)
    for what in known(seen.broken_packs, ()):
        yield PACK_BROKEN.finding(what, "the screens of that CLI are read by the built-in pack, or not at all")
    if wrong := known(seen.broken_prices, ""):
        yield PRICES_BROKEN.finding(wrong, "budgets are kept by the prices that LLMC brings along")


def summary(health: Health) -> str:
    return TOPIC.name
