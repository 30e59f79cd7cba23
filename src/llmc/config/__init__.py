"""The settings of one root: `config.toml`, read and checked. Reading never needs tomlkit."""

from __future__ import annotations

from llmc.config.load import CONFIG_NAME, load_config, parse_config
from llmc.config.problems import ConfigError, Problem
from llmc.config.sections import (
    BUILT_IN_AGENTS,
    CLI_AGENTS,
    AgentOptions,
    BackupSettings,
    Defaults,
    Log,
    NotifySettings,
    Repo,
    WorkerOptions,
)
from llmc.config.settings import Config, WorkerSettings

__all__ = [
    "BUILT_IN_AGENTS",
    "CLI_AGENTS",
    "CONFIG_NAME",
    "AgentOptions",
    "BackupSettings",
    "Config",
    "ConfigError",
    "Defaults",
    "Log",
    "NotifySettings",
    "Problem",
    "Repo",
    "WorkerOptions",
    "WorkerSettings",
    "load_config",
    "parse_config",
]
