from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmc.config.edit import EditError, value_at, with_table, with_value, without_table
from llmc.config.literals import key_literal, literal
from llmc.config.load import load_config, parse_config
from llmc.config.problems import ConfigError
from llmc.config.sections import BUILT_IN_AGENTS, AgentOptions
from llmc.core.setting import settings_of
from llmc.errors import InvalidUsageError
from llmc.host.files import DiskError
from llmc.host.locks import FileLock
from llmc.store.config_file import default_config_text, get_value, remove_worker_table, set_value, set_worker_table

AGENT_OPTIONS = tuple(settings_of(AgentOptions))
TEXT = """\
# At the top.

[defaults]
agent = "claude" # the agent
patrol_interval_secs   =  60   # often

# Where the work goes.
[repo]
source = "/src"
branch = 'main'
# copy = []
validate = [
  "make lint",  # first
  "make test",
]

[workers.adam] # the first
model = "opus"
# Adam has no role yet.

# Baker does the screens.
[workers.baker]
role_prompt = \"\"\"
You are Baker.
[not.a.table]
\"\"\"
# The end.
"""


@pytest.fixture
def path(tmp_path) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(TEXT)
    return file


def changes(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that went and the lines that came."""
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("name", "text", "value", "gone", "come"),
    [
        (
            "defaults.patrol_interval_secs",
            "30",
            30,
            ["patrol_interval_secs   =  60   # often"],
            ["patrol_interval_secs   =  30   # often"],
        ),
        ("defaults.patrol_interval_secs", " 0.5 ", 0.5, None, ["patrol_interval_secs   =  0.5   # often"]),
        ("defaults.agent", "codex", "codex", None, ['agent = "codex" # the agent']),
        ("defaults.sound_on_review", "No", False, [], ["sound_on_review = false"]),
        ("defaults.skip_permissions", "on", True, [], ["skip_permissions = true"]),
        ("repo.branch", "feature/x", "feature/x", ["branch = 'main'"], ['branch = "feature/x"']),
        ("repo.copy", ".env, data/*.csv", [".env", "data/*.csv"], [], ['copy = [".env", "data/*.csv"]']),
        ("repo.copy", '["a, b", "[x]*"]', ["a, b", "[x]*"], [], ['copy = ["a, b", "[x]*"]']),
        ("repo.copy", "", [], [], ["copy = []"]),
        ("log.max_bytes", "1_000_000", 1_000_000, [], ["[log]", "max_bytes = 1000000"]),
        ("policy.autonomy", "assist", "assist", [], ["[policy]", 'autonomy = "assist"']),
        ("workers.adam.model", "sonnet", "sonnet", ['model = "opus"'], ['model = "sonnet"']),
        ('"workers" . \'adam\'."autonomy"', "auto", "auto", [], ['autonomy = "auto"']),
        ("workers.carol.excluded_from_pool", "yes", True, [], ["[workers.carol]", "excluded_from_pool = true"]),
        ("agents.claude.env", '{ A = "1" }', {"A": "1"}, [], ["[agents.claude]", 'env = { A = "1" }']),
        ("agents.my.command", "my", ["my"], [], ["[agents.my]", 'command = ["my"]']),
        ("notify.command", 'say "hi" \\o/', 'say "hi" \\o/', [], ["[notify]", 'command = "say \\"hi\\" \\\\o/"']),
        (
            "policy.auto_confirm",
            '[{ agent = "claude", kind = "question", pattern = "." }]',
            [{"agent": "claude", "kind": "question", "pattern": "."}],
            [],
            ["[policy]", 'auto_confirm = [{ agent = "claude", kind = "question", pattern = "." }]'],
        ),
    ],
)
def test_a_value_is_set_and_nothing_else_changes(path, name, text, value, gone, come):
    assert set_value(path, name, text) == value
    assert get_value(path, name) == value
    went, came = changes(TEXT, path.read_text())
    assert came == come
    assert gone is None or went == gone
    assert load_config(path)


def test_a_new_key_stands_with_its_table_and_not_below_the_comment_of_the_next(path):
    set_value(path, "defaults.model", "haiku")
    set_value(path, "workers.adam.autonomy", "auto")
    assert path.read_text() == TEXT.replace("# often\n", '# often\nmodel = "haiku"\n').replace(
        'model = "opus"\n', 'model = "opus"\nautonomy = "auto"\n'
    )


def test_a_new_worker_stands_below_the_last_and_goes_without_a_trace(path):
    set_worker_table(path, "carol", agent="codex", model="gpt", role_prompt="Carol.\n", excluded=True)
    added = (
        '\n[workers.carol]\nagent = "codex"\nmodel = "gpt"\nrole_prompt = """\nCarol.\n"""\nexcluded_from_pool = true\n'
    )
    assert path.read_text() == TEXT + added
    carol = load_config(path).worker("carol")
    assert (carol.agent, carol.model, carol.role_prompt, carol.excluded_from_pool) == ("codex", "gpt", "Carol.\n", True)
    remove_worker_table(path, "carol")
    assert path.read_text() == TEXT


def test_a_worker_that_is_there_keeps_what_is_not_given(path):
    set_worker_table(path, "baker", model="haiku")
    assert path.read_text() == TEXT.replace("# The end.", 'model = "haiku"\n# The end.')
    assert load_config(path).worker("baker").role_prompt == "You are Baker.\n[not.a.table]\n"
    set_worker_table(path, "baker")
    assert get_value(path, "workers.baker.model") == "haiku"


def test_a_worker_without_settings_gets_an_empty_table(path):
    set_worker_table(path, "carol")
    assert path.read_text() == TEXT + "\n[workers.carol]\n"
    assert "carol" in load_config(path).workers


def test_a_worker_goes_with_its_own_comments_and_leaves_those_of_others(path):
    remove_worker_table(path, "adam")
    own = '[workers.adam] # the first\nmodel = "opus"\n# Adam has no role yet.\n\n'
    assert path.read_text() == TEXT.replace(own, "")
    remove_worker_table(path, "baker")
    assert path.read_text().endswith("]\n\n# Baker does the screens.\n")
    assert load_config(path).workers == {}


def test_removing_a_worker_that_is_not_there_changes_nothing(path):
    before = path.stat()
    remove_worker_table(path, "nobody")
    assert path.stat().st_ino == before.st_ino
    assert path.read_text() == TEXT


def test_a_comment_that_touches_the_next_table_is_that_ones():
    text = '[workers.a]\nmodel = "x"\n# About b.\n[workers.b]\n'
    assert without_table(text, ("workers", "a")) == "# About b.\n[workers.b]\n"


WAYS_TO_WRITE = [
    "[workers]\nadam = { model = 'x' } # here\nbaker = { model = 'y' }\n",
    "[workers]\nadam.model = 'x'\nbaker.model = 'y' # here\n",
    "workers.adam.model = 'x' # here\nworkers.baker.model = 'y'\n",
    "workers = { adam = { model = 'x' }, baker = { model = 'y' } } # here\n",
    "[workers.adam]\nmodel = 'x' # here\n[log]\nkeep = 1\n[workers.baker]\nmodel = 'y'\n",
    "[ 'workers' . \"adam\" ]\nmodel = 'x' # here\n[workers.baker]\nmodel = 'y'",
    "[workers.baker]\r\nmodel = 'y' # here\r\n\r\n[workers.adam]\r\nmodel = 'x'\r\n",
    "[workers.adam]\nmodel = 'x'\n\n[workers.baker] # here\nmodel = 'y'\n[workers]\n",
]


@pytest.mark.parametrize("text", WAYS_TO_WRITE)
def test_every_way_to_write_a_table_can_be_changed(text):
    raw = tomllib.loads(text)
    replaced = with_value(text, ("workers", "baker", "model"), "z")
    assert tomllib.loads(replaced) == {**raw, "workers": {"adam": {"model": "x"}, "baker": {"model": "z"}}}
    with_key = with_value(text, ("workers", "baker", "agent"), "codex")
    assert value_at(tomllib.loads(with_key), ("workers", "baker")) == {"model": "y", "agent": "codex"}
    with_worker = with_table(text, ("workers", "carol"), {"model": "a\nb"})
    assert value_at(tomllib.loads(with_worker), ("workers", "carol")) == {"model": "a\nb"}
    without = without_table(text, ("workers", "adam"))
    assert value_at(tomllib.loads(without), ("workers",)) == {"baker": {"model": "y"}}
    assert all("# here" in result for result in (replaced, with_key, with_worker))
    assert ("\r\n" in text) == ("\r\n" in with_worker)
    assert not re.search(r"[^\r]\n", with_worker) or "\r\n" not in text


def test_what_cannot_be_changed_safely_is_refused():
    with pytest.raises(EditError) as refused:
        with_value("workers = 3\n", ("workers", "adam", "model"), "x")
    assert refused.value.what == "`workers.adam.model` cannot be changed in the way that the settings file is written"
    assert refused.value.hint == "change it in an editor, then run `llmc config check`"


@pytest.mark.parametrize(
    ("name", "text", "what", "hint"),
    [
        ("repo.validat", "x", "there is no option `repo.validat`", "did you mean `repo.validate`?"),
        ("validate", "x", "there is no option `validate`", "did you mean `repo.validate`?"),
        (
            "repo",
            "x",
            "`repo` is a table of options",
            "name one of them: source, branch, validate, validate_timeout_secs, validate_on, validate_jobs, copy, "
            "setup, setup_timeout_secs, submodules, env, ports, push",
        ),
        ("log", "x", "`log` is a table of options", "name one of them: max_bytes, keep"),
        (
            "agents.claude",
            "x",
            "`agents.claude` is a table of options",
            f"name one of them: {', '.join(AGENT_OPTIONS)}",
        ),
        (
            "agents",
            "x",
            "`agents` is a table of options",
            f"name one of them: {', '.join(f'NAME.{name}' for name in AGENT_OPTIONS)}",
        ),
        ("workers.adam.modle", "x", "there is no option `workers.adam.modle`", "did you mean `workers.adam.model`?"),
        (
            "repo..x",
            "x",
            "`repo..x` is not the name of an option",
            "write it with dots, such as `repo.validate` or `workers.adam.model`",
        ),
        (
            'repo."\\q"',
            "x",
            '`repo."\\q"` is not the name of an option',
            "write it with dots, such as `repo.validate` or `workers.adam.model`",
        ),
        (
            "defaults.sound_on_review",
            "maybe",
            '`defaults.sound_on_review` is the string "maybe", but must be true or false; nothing was changed',
            "for example `sound_on_review = true`",
        ),
        (
            "log.keep",
            "1.5",
            "`log.keep` is the number 1.5, but must be a whole number from 0 to 1000; nothing was changed",
            "for example `keep = 3`",
        ),
        (
            "log.keep",
            "1__0",
            '`log.keep` is the string "1__0", but must be a whole number from 0 to 1000; nothing was changed',
            "for example `keep = 3`",
        ),
        (
            "repo.validate",
            '["a"]\nbranch = "x"\ny = [1]',
            '`repo.validate` is the string "["a"]\\nbranch = "x"\\ny = [1]", but must be a list of strings, '
            "none of them empty; nothing was changed",
            'for example `validate = ["make check"]`',
        ),
        (
            "notify.command",
            "a\x1b[0m",
            '`notify.command` is the string "a\\x1b[0m", but must be a single line of text without control characters; '
            "nothing was changed",
            'for example `command = "say done"`',
        ),
        (
            "defaults.role_prompt",
            "\udcff",
            '`defaults.role_prompt` is the string "\\udcff", but must be a string without control characters; '
            "nothing was changed",
            'for example `role_prompt = "You care about simple code."`',
        ),
        (
            "policy.nudge_after_secs",
            "9999",
            "`policy.second_nudge_after_secs` is 2400, but must be more than `policy.nudge_after_secs`, "
            "which is 9999; nothing was changed",
            "these come one after the other: nudge_after_secs, second_nudge_after_secs, escalate_after_secs",
        ),
        (
            "workers.'a b'.model",
            "x",
            "`a b` cannot be a worker's name: it contains a space; nothing was changed",
            "use 1 to 40 letters, digits, `-` or `_`, beginning with a letter, such as `adam` or `api-2`",
        ),
        (
            "agents.new.clear",
            "/new",
            "`agents.new.command` is missing, and `new` is no built-in agent that would have one; nothing was changed",
            f'add `command = ["new"]`; the built-in agents are {", ".join(BUILT_IN_AGENTS)}',
        ),
        (
            "defaults.agent",
            "cluade",
            "`defaults.agent` is `cluade`, but there is no such agent; nothing was changed",
            "did you mean `claude`?",
        ),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_written(path, name, text, what, hint):
    with pytest.raises(InvalidUsageError) as refused:
        set_value(path, name, text)
    assert (refused.value.what, refused.value.hint) == (what, hint)
    assert path.read_text() == TEXT


def test_a_file_with_several_mistakes_is_mended_key_by_key(path):
    path.write_text('[repo]\nsource = "x"\nbranch = ""\n')
    set_value(path, "repo.source", "/src")
    with pytest.raises(InvalidUsageError):
        set_value(path, "repo.branch", "")
    with pytest.raises(ConfigError) as refused:
        get_value(path, "repo.source")
    assert refused.value.what.startswith(f"{path}:3: `repo.branch` is")
    set_value(path, "repo.branch", "main")
    assert get_value(path, "repo.source") == "/src"


def test_a_file_that_is_no_toml_is_left_alone(path):
    path.write_text("[repo\n")
    for change in (
        lambda: set_value(path, "log.keep", "1"),
        lambda: set_worker_table(path, "adam"),
        lambda: remove_worker_table(path, "adam"),
    ):
        with pytest.raises(ConfigError) as refused:
            change()
        assert refused.value.what.startswith(f"{path}:1: it is not valid TOML")
    assert path.read_text() == "[repo\n"


def test_where_there_is_no_file_nothing_is_left_behind(tmp_path):
    with pytest.raises(ConfigError) as refused:
        set_value(tmp_path / "config.toml", "log.keep", "1")
    assert refused.value.what == f"{tmp_path}/config.toml: there is no such file"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("defaults.agent", "claude"),
        ("defaults.model", None),
        ("repo.validate", ["make lint", "make test"]),
        ("policy.autonomy", "manual"),
        ("policy.auto_confirm", []),
        ("backup.keep_days", 30),
        ("workers.adam.model", "opus"),
        ("workers.baker.model", None),
        ("workers.baker.autonomy", "manual"),
        ("workers.stranger.allowed_tools", ["Read", "Glob", "Grep"]),
        ("agents.claude.env", {}),
        ("agents.claude.command", None),
    ],
)
def test_what_the_file_does_not_say_is_answered_by_what_holds(path, name, value):
    assert get_value(path, name) == value


def test_the_source_is_told_as_it_was_written(path, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    set_value(path, "repo.source", "~/code")
    assert get_value(path, "repo.source") == "~/code"
    assert load_config(path).repo.source == str(tmp_path / "code")


def test_the_mode_stays_and_no_temporary_file(path):
    path.chmod(0o640)
    set_value(path, "log.keep", "1")
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(file.name for file in path.parent.iterdir()) == ["config.lock", "config.toml"]


def test_a_link_stays_a_link(path, tmp_path):
    (tmp_path / "dotfiles").mkdir()
    kept = path.rename(tmp_path / "dotfiles" / "llmc.toml")
    path.symlink_to(kept)
    set_value(path, "log.keep", "1")
    assert path.is_symlink()
    assert tomllib.loads(kept.read_text())["log"] == {"keep": 1}
    assert [file.name for file in kept.parent.iterdir()] == ["llmc.toml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_protected_file_is_not_replaced(path):
    path.chmod(0o400)
    with pytest.raises(DiskError) as refused:
        set_value(path, "log.keep", "1")
    assert refused.value.what == f"{path}: the file is protected from writing"
    assert path.read_text() == TEXT


def test_a_change_waits_for_the_one_before_it(path):
    command = "import sys; from llmc.store.config_file import set_worker_table as add; add(sys.argv[1], sys.argv[2])"
    names = [f"worker-{number}" for number in range(6)]
    with FileLock(path.with_name("config.lock")):
        running = [subprocess.Popen([sys.executable, "-c", command, str(path), name]) for name in names]
        assert path.read_text() == TEXT
    assert [process.wait(120) for process in running] == [0] * len(names)
    assert set(load_config(path).workers) == {"adam", "baker", *names}


PLAIN = st.characters(blacklist_categories=["Cs", "Cc"])
PROMPTS = st.text(PLAIN | st.sampled_from('\n\n\t"\\')) | st.sampled_from(
    ['"""', 'a\n"', 'a\n""""""', "\na", "a\\\n  b", "a\n'''\n[x]\n# y = 1", "\n", "trailing \n \n"]
)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(PROMPTS)
def test_any_role_prompt_survives(path, prompt):
    path.write_text(TEXT)
    set_worker_table(path, "carol", role_prompt=prompt)
    set_value(path, "workers.baker.role_prompt", prompt)
    set_value(path, "workers.adam.role_prompt", prompt)
    assert [load_config(path).worker(name).role_prompt for name in ("adam", "baker", "carol")] == [prompt] * 3
    comments = re.findall(r"# (?:At the top|the first|Adam has|Baker does|The end)", path.read_text())
    assert len(comments) >= 5


@quick
@given(st.lists(st.text(PLAIN, min_size=1).filter(str.strip), max_size=4))
def test_any_list_survives(path, words):
    assert set_value(path, "repo.validate", literal(words)) == words
    assert get_value(path, "repo.validate") == words


@quick
@given(st.text(PLAIN), st.text(PLAIN, min_size=1).filter(lambda word: word.split() == [word]))
def test_set_then_get_gives_it_back(path, line, model):
    assert set_value(path, "notify.command", line) == line
    assert set_value(path, "workers.adam.model", model) == model
    assert get_value(path, "notify.command") == line
    assert get_value(path, "workers.adam.model") == model


NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True).filter(lambda name: name not in ("all", "adam", "baker"))
BLOCKS = st.lists(
    st.sampled_from(
        [
            "[log]\nkeep = 1 # few\n",
            "# Alone.\n",
            "# Attached.\n[backup]\n# inside\nkeep_days = 3\n",
            "[workers.adam]\nmodel = 'x'\n# below\n",
            "[workers.baker]\n",
            "[notify]\ncommand = '''\n[x]\n'''\n",
        ]
    ),
    unique=True,
)


@quick
@given(BLOCKS, NAMES)
def test_adding_and_removing_a_worker_gives_the_same_text(blocks, name):
    text = "\n".join(["[repo]\nsource = '/x'\nbranch = 'main'\n", *blocks])
    added = with_table(text, ("workers", name), {"model": "m", "role_prompt": "a\nb\n"})
    assert all(line in added.splitlines() for line in text.splitlines())
    assert without_table(added, ("workers", name)) == text


@quick
@given(st.text(max_size=10), st.text(max_size=10) | st.integers() | st.booleans() | st.lists(st.text(max_size=3)))
def test_keys_and_values_of_any_kind_are_written_so_that_toml_reads_them(part, value):
    assert tomllib.loads(f"{key_literal(part)} = {literal(value)}") == {part: value}


@quick
@given(st.text(PLAIN, max_size=30), st.sampled_from(["main", "feature/x", "ünï", "a'b", 'a"b']))
def test_the_first_settings_are_valid(tail, branch):
    config = parse_config(default_config_text(f"/{tail}", branch))
    assert config.repo.source == str(Path(f"/{tail}"))
    assert config.repo.branch == branch
    assert config.workers == {}


def test_what_the_first_settings_show_as_defaults_are_the_defaults():
    text = default_config_text("/src", "main")
    shown = re.sub(r"(?m)^# ([a-z_]+ = )", r"\1", text.partition("# Settings of one worker")[0])
    assert len(changes(text, shown)[1]) == 9
    config, plain = parse_config(shown), parse_config(text)
    assert config.worker("any") == plain.worker("any")
    assert (config.repo, config.policy, config.notify) == (plain.repo, plain.policy, plain.notify)


def test_the_first_settings_name_the_agent_and_its_model():
    config = parse_config(default_config_text("/src", "main"))
    assert (config.worker("any").agent, config.worker("any").model) == ("claude", "opus")


def test_the_worker_that_the_first_settings_show_is_valid():
    text, _, sample = default_config_text("/src", "main").partition("# Settings of one worker")
    adam = re.sub(r"(?m)^# ?", "", sample.partition("#\n")[2])
    assert (
        parse_config(text + adam).worker("adam").role_prompt == "You are Adam. You prefer simple, direct solutions.\n"
    )


def test_the_first_settings_can_be_changed(path):
    text = default_config_text("/src", "main")
    path.write_text(text)
    set_value(path, "defaults.model", "haiku")
    set_value(path, "policy.autonomy", "auto")
    set_worker_table(path, "adam", model="sonnet")
    assert (
        path.read_text()
        == text.replace('model = "opus"', 'model = "haiku"', 1).replace("[policy]\n", '[policy]\nautonomy = "auto"\n')
        + '\n[workers.adam]\nmodel = "sonnet"\n'
    )
