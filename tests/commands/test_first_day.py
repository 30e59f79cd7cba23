"""What a new user stumbles over on the first day, each with its test."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from llmc.model import Turn, Work
from testing.at_terminal import run_at_terminal
from testing.attached import Person
from testing.commands import PROGRAM
from testing.story import Story
from testing.waiting import wait_until


@pytest.fixture
def place(story: Story) -> Story:
    """Two workers that do not run; adam has work to review."""
    story.begin("adam", "baker")
    sha = story.commit_as("adam", "a.txt", "added line\n", "Add a")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, current_prompt="Add a file", turn=Turn.OVER)
    return story


# --- words in any order, and the ones that are meant --------------------------------------------------


@pytest.mark.parametrize("words", [["--json", "status"], ["status", "--json"]], ids=" ".join)
def test_flags_may_stand_before_the_command(place: Story, words: list[str]) -> None:
    assert json.loads(place.llmc(*words).out)["workers"]


def test_flags_may_stand_between_the_words(place: Story) -> None:
    said = place.try_llmc("message", "adam", "--wait", "hello")
    assert "is not running" in said.err  # the text was understood
    said = place.try_llmc("reject", "--json", "adam", "please change it")
    assert "is not running" in said.err or "not running" in said.err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("merge", "accept"), ("ls", "status"), ("rm", "nuke"), ("statsu", "status"), ("acept", "accept")],
)
def test_a_word_of_another_tool_leads_to_ours(place: Story, typed: str, meant: str) -> None:
    said = place.try_llmc(typed)
    assert said.code == 2
    assert f"did you mean `llmc {meant}`?" in said.err


def test_several_workers_are_reset_at_once(place: Story) -> None:
    said = place.json("reset", "adam", "baker", "--yes")
    assert [each["worker"] for each in said["workers"]] == ["adam", "baker"]
    assert place.json("reset", "adam")["worker"] == "adam"
    assert len(place.json("reset", "--all")["workers"]) == 2


def test_all_work_that_waits_is_accepted(place: Story) -> None:
    sha = place.commit_as("baker", "b.txt", "b\n", "Add b")
    place.rewrite("baker", work=Work.NEEDS_REVIEW, commit_sha=sha, current_prompt="Add b", turn=Turn.OVER)
    assert "nobody has reviewed the work of" in place.llmc("accept", "--all", code=1).err
    for name in ("adam", "baker"):
        place.llmc("review", name)
    place.llmc("accept", "--all")
    assert sorted(place.subjects()) == ["Add a", "Add b", "first"]
    assert "no work waits" in place.try_llmc("accept", "--all").err


# --- texts ---------------------------------------------------------------------------------------------


def test_lines_that_begin_with_a_hash_survive_the_editor(place: Story, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\n{ printf \'# Title\\ntext\\n\'; cat "$1"; } > "$1.new" && mv "$1.new" "$1"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    place.up()
    env = {**os.environ, "EDITOR": str(editor)}
    code, shown = run_at_terminal([str(PROGRAM), "--root", place.root.path, "message", "adam"], env, tmp_path)
    assert code == 0, shown
    events = [json.loads(line) for line in place.llmc("logs", "adam", "-n", "100").out.splitlines()]
    assert "# Title" in json.dumps(events) or "# Title" in place.screen("adam")
    assert ">8" not in place.screen("adam")


@pytest.mark.parametrize("text", ["- a list item", "-5 degrees"])
def test_a_text_may_begin_with_a_dash(place: Story, text: str) -> None:
    assert "is not running" in place.try_llmc("message", "adam", text).err


def test_what_was_written_and_could_not_be_sent_is_kept(place: Story, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "all my thoughts" > "$1"\n')
    editor.chmod(0o755)
    env = {**os.environ, "EDITOR": str(editor)}
    code, shown = run_at_terminal([str(PROGRAM), "--root", place.root.path, "message", "adam"], env, tmp_path)
    assert code == 1
    kept = shown.partition("what you wrote is kept in ")[2].split()[0]
    assert Path(kept).read_text() == "all my thoughts\n"
    Path(kept).unlink()


@pytest.fixture
def template(place: Story) -> Path:
    file = Path(place.root.path, "templates", "bugfix.md")
    file.write_text("Fix {bug} in {file}; keep {{braces}}.\n")
    return file


def test_what_a_template_leaves_open_is_refused_by_name(place: Story, template: Path) -> None:
    place.up()
    said = place.try_llmc("start", "--worker", "baker", "--template", "bugfix", "--set", "bug=it")
    assert said.code == 2
    assert "is not filled in: file" in said.err
    assert "--set file=..." in said.err
    place.llmc("start", "--worker", "baker", "--template", "bugfix", "--set", "bug=it", "--set", "file=a.py")
    assert place.worker("baker").current_prompt == "Fix it in a.py; keep {braces}.\n"


def test_templates_are_listed(place: Story, template: Path) -> None:
    assert "bugfix --set bug=... --set file=..." in place.llmc("templates").out
    assert place.json("templates")["templates"][0]["placeholders"] == ["bug", "file"]
    template.unlink()
    assert "no templates yet" in place.llmc("templates").out


# --- what is shown ---------------------------------------------------------------------------------------


def test_backups_are_listed_with_subject_and_task(place: Story) -> None:
    place.llmc("reset", "adam", "--yes")
    shown = place.llmc("undo", "--list").out
    assert '"Add a"' in shown
    assert "task: Add a file" in shown
    assert place.json("undo", "--list")[0]["subject"] == "Add a"


def test_config_lists_every_setting_with_its_source(place: Story) -> None:
    place.llmc("config", "set", "policy.autonomy", "assist")
    place.llmc("config", "set", "workers.adam.model", "small")
    settings = {each["key"]: each for each in place.json("config")["settings"]}
    assert settings["policy.autonomy"] == {"key": "policy.autonomy", "value": "assist", "source": "config.toml"}
    assert settings["repo.validate"]["source"] == "default"
    assert settings["workers.adam.model"]["value"] == "small"
    assert 'policy.autonomy = "assist"  (config.toml)' in place.llmc("config", "list").out


# --- bad input keeps its promise ---------------------------------------------------------------------------


def test_settings_of_a_worker_that_is_not_there_are_refused(place: Story) -> None:
    before = Path(place.root.config_file).read_text()
    said = place.try_llmc("config", "set", "workers.nobody.model", "small")
    assert said.code == 1
    assert "there is no worker 'nobody'" in said.err
    assert Path(place.root.config_file).read_text() == before


def test_a_repository_that_is_none_is_refused(place: Story) -> None:
    before = Path(place.root.config_file).read_text()
    assert "is not a git repository" in place.llmc("config", "set", "repo.source", "/nowhere", code=1).err
    assert Path(place.root.config_file).read_text() == before


def test_a_mistyped_name_is_not_sent_as_feedback(place: Story) -> None:
    place.llmc("review", "adam")
    assert "did you mean adam?" in place.llmc("reject", "adma", code=2).err


@pytest.mark.parametrize("form", [[], ["--short"], ["--json"]], ids=["text", "short", "json"])
def test_status_says_on_stderr_that_the_settings_are_broken(place: Story, form: list[str]) -> None:
    config = Path(place.root.config_file)
    right = config.read_text()
    assert place.llmc("status", *form).err == ""
    config.write_text(f"{right}\n[[\n")
    said = place.llmc("status", *form)
    assert "config.toml" in said.err
    assert "adam" in said.out
    config.write_text(right)
    assert place.llmc("status", *form).err == ""


def test_what_status_notes_is_not_written_through_a_link(place: Story, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("precious")
    mark = Path(place.root.path, "run", "settings-right")
    mark.unlink(missing_ok=True)
    mark.symlink_to(theirs)
    place.llmc("status")
    assert theirs.read_text() == "precious"
    mark.unlink()
    os.mkfifo(mark)
    assert "adam" in place.llmc("status").out


def test_declining_a_repair_does_not_say_that_there_was_nothing(place: Story) -> None:
    Path(place.root.path, "state.json").write_text("{")
    words = [str(PROGRAM), "--root", place.root.path, "doctor", "--repair"]
    _, shown = run_at_terminal(words, os.environ, place.place, "n\n")
    assert "0 of 1 repairs" in shown
    assert "nothing to repair" not in shown


# --- progress ----------------------------------------------------------------------------------------------


def test_who_waits_for_a_check_sees_its_last_line(place: Story) -> None:
    place.llmc("config", "set", "repo.validate", '["echo compiling the world; sleep 3"]')
    code, shown = run_at_terminal(
        [str(PROGRAM), "--root", place.root.path, "accept", "adam"], os.environ, place.place, columns=100
    )
    assert code == 0, shown
    assert "compiling the world" in shown
    assert shown.rstrip().rpartition("\r")[2].lstrip("\x1b[K").startswith("adam: accepted as")


def test_scripts_see_no_progress(place: Story) -> None:
    place.llmc("config", "set", "repo.validate", '["echo compiling the world; sleep 2"]')
    said = place.llmc("accept", "adam")
    assert said.err == ""
    assert "s `echo" not in said.out


# --- the bell ----------------------------------------------------------------------------------------------


def test_with_a_daemon_in_the_background_the_bell_rings_where_somebody_looks(place: Story) -> None:
    place.up()
    with Person([str(PROGRAM), "--root", place.root.path, "attach", "adam"], os.environ) as person:
        wait_until(lambda: b"Ctrl-b d leaves" in person.shown)
        del person.shown[:]
        place.task("baker", "write b.txt by b", "commit Add b")
        wait_until(lambda: b"\a" in person.shown)
        person.leaves()


@pytest.mark.parametrize("rings", [True, False])
def test_who_watches_the_status_hears_when_somebody_waits(place: Story, rings: bool) -> None:
    place.llmc("config", "set", "notify.bell", str(rings).lower())
    place.up()
    words = [str(PROGRAM), "--root", place.root.path, "status", "--watch"]
    with Person(words, os.environ, columns=120) as person:
        wait_until(lambda: b"baker" in person.shown)
        place.task("baker", "write b.txt by b", "commit Add b")
        wait_until(lambda: b"2 wait for you" in person.shown)
        wait_until(lambda: (b"\a" in person.shown) is rings)
