from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.config.layout import Lines, statements
from llmc.config.literals import literal
from llmc.config.load import load_config, parse_config
from llmc.config.problems import ConfigError, Problem
from llmc.config.sections import BUILT_IN_AGENTS
from llmc.config.settings import Config, all_options, find_option
from llmc.core.lifecycle.policy import AutoConfirm
from llmc.core.setting import settings_of
from llmc.model import Autonomy

DOCS = Path(__file__).parent.parent / "docs" / "configuration.md"
REPO = '[repo]\nsource = "/src"\nbranch = "main"\n'


def config_of(more: str = "") -> Config:
    return parse_config(REPO + more)


def refusal_of(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        parse_config(text)
    return refused.value


def test_defaults_hold_when_the_file_says_nothing():
    config = config_of()
    assert config.defaults.agent == "claude"
    assert config.defaults.model is None
    assert config.defaults.allowed_tools == ("Read", "Glob", "Grep")
    assert (config.defaults.terminal_width, config.defaults.terminal_height) == (500, 100)
    assert config.policy.autonomy is Autonomy.MANUAL
    assert (config.policy.nudge_after_secs, config.policy.escalate_after_secs) == (1800, 2700)
    assert config.repo.validate == ()
    assert (config.backup.keep_days, config.backup.keep_count) == (30, 50)
    assert config.notify.bell
    assert config.log.max_bytes == 5_000_000
    assert config.workers == {}
    assert config.agent("claude").ready_timeout_secs == 120


def test_everything_that_the_file_says_is_read():
    config = config_of(
        'validate = ["just fmt", "just check"]\ncopy = ["*.xlsm"]\n'
        '[policy]\nautonomy = "auto"\nrestart_backoff_secs = 0.5\n'
        '[[policy.auto_confirm]]\nagent = "mytool"\nkind = "permission"\npattern = "^git"\n'
        '[agents.mytool]\ncommand = ["mytool", "-i"]\nenv = { MODE = "tui" }\nclear = ""\nevents = true\n'
        "[agents.claude]\nready_timeout_secs = 5\n"
    )
    assert config.repo.validate == ("just fmt", "just check")
    assert config.policy.restart_backoff_secs == 0.5
    assert config.policy.auto_confirm == (AutoConfirm("mytool", "permission", "^git"),)
    assert config.agents["mytool"].command == ("mytool", "-i")
    assert config.agents["mytool"].env == {"MODE": "tui"}
    assert config.agents["mytool"].clear == ""
    assert config.agents["claude"].command is None
    assert config.agent("claude").ready_timeout_secs == 5


def test_a_worker_takes_its_own_settings_over_the_defaults():
    config = config_of(
        '[defaults]\nmodel = "haiku"\nrole_prompt = "Be brief."\n'
        '[workers.adam]\nmodel = "sonnet"\nautonomy = "assist"\nskip_permissions = false\nallowed_tools = []\n'
        'role_prompt = """\nYou are Adam.\nYou like tests.\n"""\nexcluded_from_pool = true\n'
    )
    adam, stranger = config.worker("adam"), config.worker("stranger")
    assert (adam.model, adam.autonomy, adam.skip_permissions, adam.allowed_tools) == ("sonnet", "assist", False, ())
    assert (adam.role_prompt, adam.excluded_from_pool) == ("You are Adam.\nYou like tests.\n", True)
    assert (stranger.model, stranger.autonomy, stranger.role_prompt) == ("haiku", Autonomy.MANUAL, "Be brief.")
    assert (stranger.skip_permissions, stranger.excluded_from_pool) == (True, False)


@pytest.mark.parametrize(
    ("more", "model"),
    [
        ("", None),
        ('[defaults]\nmodel = ""\n', None),
        ('[defaults]\nmodel = "haiku"\n', "haiku"),
        ('[defaults]\nagent = "codex"\n', None),
        ('[defaults]\nagent = "codex"\nmodel = "gpt"\n', "gpt"),
        ('[defaults]\nmodel = "haiku"\n[workers.adam]\nagent = "codex"\n', None),
        ('[defaults]\nagent = "codex"\nmodel = "gpt"\n[workers.adam]\nagent = "claude"\n', None),
        ('[workers.adam]\nmodel = ""\n', None),
    ],
)
def test_a_model_belongs_to_an_agent(more, model):
    assert config_of(more).worker("adam").model == model


def test_home_is_expanded_in_the_source(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert parse_config('[repo]\nsource = "~/code/x"\nbranch = "main"\n').repo.source == str(tmp_path / "code/x")


@pytest.mark.parametrize(
    ("more", "line", "what", "hint"),
    [
        ("validat = []\n", 4, "unknown key `repo.validat`", "did you mean `repo.validate`?"),
        ("[default]\n", 4, "unknown table `default`", "did you mean `defaults`?"),
        ("[defaults]\nvalidate = []\n", 5, "unknown key `defaults.validate`", "did you mean `repo.validate`?"),
        (
            "[workers.adam]\npatrol_interval_secs = 3\n",
            5,
            "unknown key `workers.adam.patrol_interval_secs`",
            "did you mean `defaults.patrol_interval_secs`?",
        ),
        (
            "[workers.adam]\nmodle = 'x'\n",
            5,
            "unknown key `workers.adam.modle`",
            "did you mean `workers.adam.model`?",
        ),
        (
            "[zebra]\n",
            4,
            "unknown table `zebra`",
            "known here: repo, defaults, policy, tasks, budget, backup, notify, classifier, web, sandbox, mcp, log,"
            " workers, agents, machines",
        ),
        (
            "[[policy.auto_confirm]]\nagent = 'claude'\nkind = 'question'\npattern = 'x'\nx = 1\n",
            8,
            "unknown key `policy.auto_confirm[0].x`",
            "known here: agent, kind, pattern",
        ),
        ('"repo.copy" = []\n', 4, 'unknown key `repo."repo.copy"`', "did you mean `repo.copy`?"),
        (
            '[log]\n"a b\\u001b" = 1\n',
            5,
            'unknown key `log."a b\\x1b"`',
            "known here: max_bytes, keep",
        ),
        (
            '[defaults]\nsound_on_review = "yes"\n',
            5,
            '`defaults.sound_on_review` is the string "yes", but must be true or false',
            "for example `sound_on_review = true`",
        ),
        (
            '[defaults]\nterminal_width = "wide"\n',
            5,
            '`defaults.terminal_width` is the string "wide", but must be a whole number from 20 to 10000',
            "for example `terminal_width = 500`",
        ),
        (
            "[policy]\ncrash_limit = true\n",
            5,
            "`policy.crash_limit` is true, but must be a whole number from 0 to 1000",
            "for example `crash_limit = 3`",
        ),
        (
            "[backup]\nkeep_days = -1\n",
            5,
            "`backup.keep_days` is the number -1, but must be a whole number from 1 to 36500",
            "for example `keep_days = 30`",
        ),
        (
            "[defaults]\npatrol_interval_secs = 0\n",
            5,
            "`defaults.patrol_interval_secs` is the number 0, but must be a number of seconds above 0, up to 31536000",
            "for example `patrol_interval_secs = 60`",
        ),
        (
            "[policy]\ncommit_grace_secs = nan\n",
            5,
            "`policy.commit_grace_secs` is the number nan, but must be a number of seconds from 0, up to 31536000",
            "for example `commit_grace_secs = 30`",
        ),
        (
            '[policy]\nautonomy = "full"\n',
            5,
            '`policy.autonomy` is the string "full", but must be one of "manual", "assist", "auto"',
            'for example `autonomy = "manual"`',
        ),
        (
            "[policy]\nnudge_after_secs = 2400\n",
            5,
            "`policy.second_nudge_after_secs` is 2400, but must be more than `policy.nudge_after_secs`, which is 2400",
            "these come one after the other: nudge_after_secs, second_nudge_after_secs, escalate_after_secs",
        ),
        (
            "[policy]\nrebase_help_after_secs = 10\nrebase_escalate_after_secs = 5\n",
            6,
            "`policy.rebase_escalate_after_secs` is 5, but must be more than `policy.rebase_help_after_secs`, "
            "which is 10",
            "these come one after the other: rebase_help_after_secs, rebase_escalate_after_secs",
        ),
        (
            'validate = "make check"\n',
            4,
            '`repo.validate` is the string "make check", but must be a list of strings, none of them empty',
            'for example `validate = ["make check"]`',
        ),
        (
            'validate = [\n  "make",\n  3,\n]\n',
            4,
            '`repo.validate` is the list ["make", 3], but must be a list of strings, none of them empty',
            'for example `validate = ["make check"]`',
        ),
        (
            'copy = ["../secret"]\n',
            4,
            '`repo.copy` is the list ["../secret"], but must be a list of globs relative to the repository, '
            "without `..`",
            'for example `copy = [".env", "data/*.csv"]`',
        ),
        (
            'notify = "bell"\n',
            4,
            "unknown key `repo.notify`",
            "known here: source, branch, validate, validate_timeout_secs, validate_on, validate_jobs, copy, setup, "
            "setup_timeout_secs, submodules, env, ports, push",
        ),
        (
            '[notify]\nwebhook = "ftp://x"\n',
            5,
            '`notify.webhook` is the string "ftp://x", but must be an http or https address, or empty',
            'for example `webhook = "https://example.org/hook"`',
        ),
        (
            '[notify]\ncommand = "a\\u0000b"\n',
            5,
            '`notify.command` is the string "a\\x00b", but must be a single line of text without control characters',
            'for example `command = "say done"`',
        ),
        (
            '[workers."a b"]\n',
            4,
            "`a b` cannot be a worker's name: it contains a space",
            "use 1 to 40 letters, digits, `-` or `_`, beginning with a letter, such as `adam` or `api-2`",
        ),
        (
            "[workers]\nadam = 'opus'\n",
            5,
            '`workers.adam` is the string "opus", but must be a table',
            "write it as `[workers.adam]`",
        ),
        (
            "[workers.adam]\nagent = 'cluade'\n",
            5,
            "`workers.adam.agent` is `cluade`, but there is no such agent",
            "did you mean `claude`?",
        ),
        (
            "[defaults]\nagent = 'zzz'\n",
            5,
            "`defaults.agent` is `zzz`, but there is no such agent",
            f"take one of {', '.join(BUILT_IN_AGENTS)}, or define it in `[agents.NAME]`",
        ),
        (
            "[agents.mytool]\nclear = ''\n",
            4,
            "`agents.mytool.command` is missing, and `mytool` is no built-in agent that would have one",
            f'add `command = ["mytool"]`; the built-in agents are {", ".join(BUILT_IN_AGENTS)}',
        ),
        (
            "[agents.mytool]\ncommand = []\n",
            5,
            "`agents.mytool.command` is the list [], but must be a list of strings that begins with a program",
            'for example `command = ["mytool", "--interactive"]`',
        ),
        (
            "[agents.'my tool']\ncommand = ['x']\n",
            4,
            "`my tool` cannot be an agent's name: it contains a space",
            "use 1 to 40 letters, digits, `-` or `_`, beginning with a letter",
        ),
        (
            "[agents.claude]\nenv = { A = 1 }\n",
            5,
            "`agents.claude.env` is a table, but must be a table of environment variables with string values",
            'for example `env = { MODE = "tui" }`',
        ),
        (
            "[[policy.auto_confirm]]\nagent = 'claude'\nkind = 'question'\npattern = 'x'\n"
            "[[policy.auto_confirm]]\nagent = 'claude'\nkind = 'question'\npattern = '('\n",
            11,
            '`policy.auto_confirm[1].pattern` is the string "(", but must be a regular expression that is not empty '
            "and cannot take long",
            'for example `pattern = "git (status|diff)"`',
        ),
        (
            "[[policy.auto_confirm]]\nagent = 'claude'\npattern = 'x'\n",
            4,
            "`policy.auto_confirm[0].kind` is missing",
            'add `kind = "permission"` to `policy.auto_confirm[0]`',
        ),
        (
            "[policy]\nauto_confirm = ['all']\n",
            5,
            '`policy.auto_confirm` is the list ["all"], but must be a list of tables',
            'for example `auto_confirm = [{ agent = "claude", kind = "permission", pattern = "git status" }]`',
        ),
        (
            "[log]\nmax_bytes = 2024-01-01\n",
            5,
            "`log.max_bytes` is the date or time 2024-01-01, but must be a whole number from 1000 to 1000000000000",
            "for example `max_bytes = 5000000`",
        ),
    ],
)
def test_one_mistake_is_told_with_its_line_and_the_way_out(more, line, what, hint):
    refused = refusal_of(REPO + more)
    assert refused.what == f"config.toml:{line}: {what}"
    assert refused.hint == hint


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        (
            '[repo]\nbranch = "main"\n',
            "config.toml:1: `repo.source` is missing",
            'add `source = "~/code/project"` under `[repo]`',
        ),
        (
            '[repo]\nsource = "code"\nbranch = "main"\n',
            'config.toml:2: `repo.source` is the string "code", but must be an absolute path, '
            "or one that begins with `~/`",
            'for example `source = "~/code/project"`',
        ),
        (
            '[repo]\nsource = "/x"\nbranch = ""\n',
            'config.toml:3: `repo.branch` is the string "", but must be a branch name that git accepts',
            'for example `branch = "main"`',
        ),
        (
            "repo = 3\n",
            "config.toml:1: `repo` is the number 3, but must be a table",
            "write it as `[repo]`",
        ),
        (
            '[repo]\nsource = "/x"\nbranch = main\n',
            "config.toml:3: it is not valid TOML: Invalid value",
            "fix line 3, column 10; text needs quotes, lists need brackets",
        ),
        (
            "a = " + "[" * 100_000,
            "config.toml: it is not valid TOML: brackets are nested too deeply",
            "fix the file in an editor",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_told(text, what, hint):
    refused = refusal_of(text)
    assert refused.what == what
    assert refused.hint == hint


def test_a_text_that_never_ends_is_told_with_the_last_line():
    refused = refusal_of('[repo]\nsource = """\n\n')
    assert refused.what.startswith("config.toml:2: it is not valid TOML: ")
    assert refused.hint == "fix line 2; text needs quotes, lists need brackets"


def test_an_integer_of_thousands_of_digits_is_a_mistake_like_any_other():
    assert "is a huge number, but must be" in refusal_of(REPO + f"[log]\nkeep = {'9' * 4000}\n").what
    assert "not valid TOML" in refusal_of(REPO + f"[log]\nkeep = {'9' * 9000}\n").what


def test_all_mistakes_are_told_together_in_the_order_of_the_file():
    refused = refusal_of('[log]\nkep = 1\n[repo]\nsource = "x"\nbranch = "main"\n[policy]\nautonomy = 3\n')
    assert refused.what == "config.toml:2: unknown key `log.kep`"
    assert refused.hint.splitlines() == [
        "did you mean `log.keep`?",
        'also config.toml:4: `repo.source` is the string "x", but must be an absolute path, '
        'or one that begins with `~/`; for example `source = "~/code/project"`',
        'also config.toml:7: `policy.autonomy` is the number 3, but must be one of "manual", "assist", "auto"; '
        'for example `autonomy = "manual"`',
    ]
    assert [problem.key for problem in refused.problems] == [("log", "kep"), ("repo", "source"), ("policy", "autonomy")]


def test_a_file_full_of_mistakes_does_not_flood_the_terminal():
    refused = refusal_of(REPO + "[log]\n" + "".join(f"wrong{n} = 1\n" for n in range(100)))
    assert len(refused.problems) == 100
    assert len(refused.hint.splitlines()) == 22
    assert refused.hint.endswith("\nand 79 more")


@pytest.mark.parametrize(
    ("content", "what", "hint"),
    [
        (None, ": there is no such file", "run `llmc init` to make one, or name another directory by `--root`"),
        (b'[repo]\nsource = "\xff"\n', ":2: it is not UTF-8 text", "save the file as UTF-8"),
        (b"[repo]\nsurce = 1\nsource = '/x'\nbranch = 'm'\n", ":2: unknown key `repo.surce`", "did you mean `repo."),
    ],
)
def test_a_file_names_itself_in_its_errors(content, what, hint, tmp_path):
    path = tmp_path / "config.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        load_config(path)
    assert refused.value.what == f"{path}{what}"
    assert refused.value.hint.startswith(hint)


def test_a_directory_in_the_place_of_the_file_is_told(tmp_path):
    with pytest.raises(ConfigError) as refused:
        load_config(tmp_path)
    assert refused.value.what.startswith(f"{tmp_path}: it cannot be read: ")


def test_a_file_of_a_windows_editor_is_read(tmp_path):
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbf" + REPO.replace("\n", "\r\n").encode())
    assert load_config(path).repo.branch == "main"


def test_lines_are_found_in_any_way_of_writing():
    text = (
        "top.dotted = 1 # [not.a.table]\n"
        '"quo.ted" = """\n[not.a.table]\nx = 1\\"""\n"""\n'
        "[ a . 'b' ] # comment = 1\n"
        "list = [ # [\n  '#', { x = 1 },\n]\n"
        "inline = { deep = { er = 2 } }\r\n"
        "last = '''\n[no]\n''''\n[[row]]\nx = 1\n[[row]]\nx = 2"
    )
    lines = Lines(text)
    assert lines.line(("top", "dotted")) == 1
    assert lines.line(("quo.ted",)) == 2
    assert lines.line(("a", "b")) == 6
    assert lines.line(("a", "b", "list")) == 7
    assert lines.line(("a", "b", "inline", "deep", "er")) == 10
    assert lines.line(("a", "b", "last")) == 11
    assert lines.line(("row", 0, "x")) == 15
    assert lines.line(("row", 1, "x")) == 17
    assert lines.line(("nowhere",)) is None
    assert [text[one.start : one.end] for one in statements(text) if one.is_header] == [
        "[ a . 'b' ]",
        "[[row]]",
        "[[row]]",
    ]


@given(st.text(), st.text(max_size=20))
def test_a_text_of_any_kind_does_not_hide_what_comes_after_it(value, name):
    before = f"{literal(name)} = {literal(value)} # {name!a}\n"
    lines = Lines(before + "after = 1\n")
    assert lines.line(("after",)) == before.count("\n") + 1 or name == "after"


SCALARS = st.one_of(st.text(max_size=5), st.integers(), st.floats(), st.booleans(), st.just("claude"))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from([key for key, _ in all_options()])


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_values_give_settings_or_a_telling_refusal(values):
    text = "".join(f"{'.'.join(key)} = {inline(value)}\n" for key, value in values.items())
    problems = problems_of(text)
    assert all(problem.what.isprintable() and problem.advice for problem in problems)
    assert all(problem.line for problem in problems if problem.key in values)


def problems_of(text: str) -> tuple[Problem, ...]:
    try:
        parse_config(text)
    except ConfigError as refused:
        return refused.problems
    return ()


def inline(value: object) -> str:
    return literal([value])[1:-1]


@pytest.mark.parametrize("name", [".".join(key).replace("NAME", "demo") for key, _ in all_options()])
def test_every_option_accepts_its_own_example_and_refuses_a_date(name):
    about = find_option(tuple(name.split(".")))
    assert about is not None
    required = {"repo.source": '"/x"', "repo.branch": '"main"'}
    assert parse_config(toml({**required, name: about.takes.example}))
    refused = refusal_of(toml({**required, name: "2024-01-01"}))
    assert f"`{name}` is the date or time 2024-01-01, but must be {about.takes.expects}" in refused.what


def toml(pairs: dict[str, str]) -> str:
    return "".join(f"{name} = {value}\n" for name, value in pairs.items())


def test_the_documentation_lists_every_option_with_its_default():
    documented = [line for line in DOCS.read_text().splitlines() if re.match(r"\| `[a-z]+\.", line)]
    assert sorted(documented) == sorted(documentation())


def documentation() -> list[str]:
    """The rows that docs/configuration.md must have; print them to paste them."""
    rows = []
    for key, about in all_options():
        rows.append(row(".".join(key), about))
        if about.rows is not None:
            rows += [row(f"{'.'.join(key)}[].{name}", inner) for name, inner in settings_of(about.rows).items()]
    return rows


def row(name, about) -> str:
    default = "required" if about.is_required else about.when_unset or f"`{literal(about.default)}`"
    meaning = about.meaning.replace("|", "\\|")
    return f"| `{name}` | {about.takes.word} | {default} | {meaning} |"


def test_every_example_in_the_documentation_is_valid():
    examples = re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert len(examples) == 3
    for example in examples:
        assert parse_config(example if "[repo]" in example else REPO + example)


def test_a_file_of_plain_claude_workers_is_understood():
    config = parse_config(
        '[defaults]\nmodel = "opus"\nskip_permissions = true\n'
        'allowed_tools = ["Bash", "Edit", "Read", "Write", "Glob", "Grep"]\n'
        "patrol_interval_secs = 60\nsound_on_review = true\n"
        '[repo]\nsource = "~/Documents/project"\nbranch = "master"\n'
        '[workers.adam]\nmodel = "opus"\nrole_prompt = """\nYou are Adam.\n"""\nexcluded_from_pool = false\n'
        '[workers.charlie]\nmodel = "sonnet"\nexcluded_from_pool = true  # Only receives manually-assigned work\n'
    )
    assert config.worker("charlie").model == "sonnet"


def test_reading_does_not_load_tomlkit():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, llmc.config; print('tomlkit' in sys.modules, 'difflib' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False False\n"
