"""`llmc` where something is missing, broken, full or forbidden: it says so, and nothing is changed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess

import pytest

from llmc.host.locks import FileLock
from testing.commands import Llmc, listing, wrong_about
from testing.namespace import Namespace, NamespaceError
from testing.waiting import wait_until


def lines(text):
    return [line.split() for line in text.strip().splitlines()]


STATUS = lines("status\nstatus --json\nstatus --short --json")
NEEDS_LOCK = lines("""
    add carl --agent demo
    nuke adam --yes
    restart adam
    start --worker baker --prompt hello
    message adam hello
    review adam
    reject adam no
    accept adam
    rebase adam
    reset adam --yes
""")
NEEDS_STATE = [
    *NEEDS_LOCK,
    *lines("down\nexplain adam\nup --detach\nattach adam\npeek adam\nlogs adam\nevents adam\nundo adam\nreview"),
]
NEEDS_SETTINGS = lines("""
    add carl --agent demo
    nuke adam --yes
    up --detach
    down --force
    restart adam
    start --worker baker --prompt hello
    message adam hello
    attach adam
    review
    undo --list
    events
    config check
    config set policy.autonomy assist
""")
SOME = lines("status\nstatus --short --json\nup --detach")

as_a_plain_user = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"] if os.geteuid() == 0 else []


# --- no root, or a broken one -----------------------------------------------------------------------


def test_no_root(place, tmp_path):
    llmc = Llmc(place.llmc.home, tmp_path / "nowhere", _sockets=place.llmc.sockets)
    said = llmc.run_all([*STATUS, *NEEDS_SETTINGS, ["config", "path"]])
    assert {words: wrong for words, each in said.items() if (wrong := wrong_about(each, 1))} == {}
    assert all("there is no LLMC root at" in each.err for each in said.values())
    assert not llmc.root.exists()


def add_settings(place, text):
    settings = place.root / "config.toml"
    settings.write_text(f"{settings.read_text()}\n{text}\n")


def test_settings_that_are_no_toml(place):
    add_settings(place, "[[")
    said = place.refuses(NEEDS_SETTINGS, 1)
    assert all("config.toml:" in each.err and "not valid TOML" in each.err for each in said.values())
    place.answers([["config", "path"]])
    said = place.llmc.run_all(STATUS)
    assert {each.code for each in said.values()} == {0}


@pytest.mark.parametrize(
    ("setting", "words"),
    [("[nonsense]\nx = 1", "unknown table `nonsense`"), ("[workers.adam]\nmodel = 3", "`workers.adam.model`")],
)
def test_settings_that_make_no_sense(place, setting, words):
    add_settings(place, setting)
    said = place.refuses(lines("up --detach\nevents\nconfig check"), 1)
    assert all(words in each.err for each in said.values())


def test_a_state_that_is_damaged(place):
    state = place.root / "state.json"
    state.write_bytes(state.read_bytes()[:100])
    said = place.refuses([*STATUS, *NEEDS_STATE], 1)
    assert all("state.json is damaged: line" in each.err for each in said.values())
    place.answers(lines("events\nconfig check\ndown --force"))


def test_a_state_of_a_newer_version(place):
    state = place.root / "state.json"
    state.write_text(state.read_text().replace('"schema": 1', '"schema": 99'))
    assert "upgrade llmc" in place.refuses(SOME, 1)["status"].err


@pytest.mark.parametrize("kind", ["empty", "absent", "directory", "link", "pipe"])
def test_a_state_that_is_no_state(place, kind):
    state = place.root / "state.json"
    state.unlink()
    make = {
        "empty": state.touch,
        "absent": lambda: None,
        "directory": state.mkdir,
        "link": lambda: state.symlink_to(place.good / "state.json"),
        "pipe": lambda: os.mkfifo(state),
    }
    make[kind]()
    assert "state.json" in place.refuses(SOME, 1)["status"].err


def test_no_daemon_is_left_when_the_state_is_broken(place):
    (place.root / "state.json").write_text("{")
    place.refuses([["up", "--detach"]], 1)
    assert not (place.root / "run" / "daemon.lock").exists()


# --- a place that cannot be written to --------------------------------------------------------------


@pytest.fixture
def machine():
    try:
        namespace = Namespace.start()
    except NamespaceError as refused:
        pytest.skip(str(refused))
    yield namespace
    namespace.stop()


def do_inside(machine, script, *args):
    done = machine.run(["sh", "-ec", script, "sh", *map(str, args)], env={"PATH": os.environ["PATH"]})
    assert done.ok, done.complaint
    return done.text


@pytest.fixture
def within(place, machine):
    """The same place, with every command inside the machine that has its own mounts."""
    place.llmc.prefix = [*machine.entering(), "env", f"--chdir={place.llmc.home}"]
    yield place
    place.llmc.prefix = ()


def test_a_read_only_disk(within, machine):
    do_inside(machine, 'mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"', within.root)
    said = within.refuses([*NEEDS_LOCK, ["up", "--detach"], ["config", "set", "policy.autonomy", "assist"]], 1)
    assert all("read-only" in each.err.lower() for each in said.values())
    within.answers(lines("status\nlogs adam\nundo --list\nconfig check\nexplain adam\ndown --force"))


FULL_DISK = """
    mount -t tmpfs -o size=8m,mode=700 none "$2"
    cp -a "$1/." "$2/"
    mount --bind "$2" "$1"
    while dd if=/dev/zero bs=64k count=1 2>/dev/null; do :; done >>"$1/logs/full" || :
    while printf x 2>/dev/null; do :; done >>"$1/logs/full" || :
"""
LISTING = """
    cd "$1"
    find . -type f ! -path './run/locks/*' ! -name '*.lock' ! -name 'status.db-*' -exec sha256sum {} +
    find . ! -type f
"""


def test_a_full_disk(within, machine, tmp_path):
    do_inside(machine, FULL_DISK, within.root, tmp_path)
    before = do_inside(machine, LISTING, within.root)
    saving = lines("""
        nuke adam --yes
        restart adam
        review adam
        accept adam
        rebase adam
        reset adam --yes
        config set policy.autonomy assist
    """)
    said = within.llmc.run_all([*saving, *lines("add carl --agent demo\nup --detach")])
    assert {words: wrong for words, each in said.items() if (wrong := wrong_about(each, 1))} == {}
    assert all("full" in said[" ".join(words)].err for words in saving)
    assert do_inside(machine, LISTING, within.root) == before
    within.answers(lines("status\nlogs adam\nundo --list\nconfig check\ndown --force"))


def test_a_root_that_one_may_not_write_to(place):
    place.llmc.prefix = as_a_plain_user
    writable = [place.root, *(path for path in place.root.rglob("*") if path.is_dir() and not path.is_symlink())]
    modes = {path: path.stat().st_mode for path in writable}
    try:
        for path in writable:
            path.chmod(0o500)
        said = place.refuses(lines("add carl --agent demo\nup --no-patrol\nconfig set policy.autonomy assist"), 1)
        assert all("permission denied" in each.err.lower() for each in said.values())
        place.answers(STATUS)
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
        place.llmc.prefix = ()


def test_a_root_that_one_may_not_look_into(place):
    place.llmc.prefix = as_a_plain_user
    place.root.chmod(0)
    try:
        said = place.llmc.run_all(SOME)
    finally:
        place.root.chmod(0o700)
        place.llmc.prefix = ()
    assert {words: wrong for words, each in said.items() if (wrong := wrong_about(each, 1))} == {}
    assert all(f"you may not look into {place.root}" in each.err for each in said.values())


# --- programs and repositories that are not there ---------------------------------------------------


def test_no_tmux(place, path_of):
    needing = lines("""
        nuke adam --yes
        up --detach
        down --force
        restart adam
        start --worker baker --prompt hello
        attach adam
        peek adam
        review adam
        accept adam
        reset adam --yes
        explain adam
        init --target elsewhere
    """)
    env = {"PATH": path_of("tmux")}
    said = place.refuses(needing, 1, env=env)
    assert all("tmux is not installed" in each.err for each in said.values())
    place.answers(lines("status\nevents\nlogs adam\nundo --list\nconfig check"), env=env)


def test_an_old_tmux(place, path_of):
    said = place.refuses(
        lines("nuke adam --yes\nup --detach\ndown --force\nrestart adam\npeek adam\ninit"),
        1,
        env={"PATH": path_of("tmux", tmux="#!/bin/sh\necho 'tmux 3.1c'\n")},
    )
    assert {words: each.err for words, each in said.items() if "tmux 3.1 is too old" not in each.err} == {}


def test_no_git(place, path_of):
    needing = lines("""
        add carl --agent demo
        nuke adam --yes
        up --detach
        start --worker baker --prompt hello
        review adam
        accept adam
        reset adam --yes
        undo --list
        init
    """)
    env = {"PATH": path_of("git")}
    said = place.refuses(needing, 1, env=env)
    assert all("git is not installed" in each.err for each in said.values())
    place.answers(lines("status\nevents\nlogs adam\nconfig check\nexplain adam"), env=env)


def test_the_repository_was_moved_away(place):
    place.source.rename(place.base / "moved")
    try:
        said = place.refuses(
            lines("add carl --agent demo\nreview adam\naccept adam\nrebase adam\nreset adam --yes\nreset baker --yes"),
            1,
        )
        assert all("repo.source" in each.err for each in said.values())
        place.answers([*STATUS, ["explain", "adam"]])
    finally:
        (place.base / "moved").rename(place.source)


def test_the_branch_was_deleted(place):
    git = ["git", "-C", str(place.source)]
    subprocess.run([*git, "branch", "-m", "main", "trunk"], check=True, env=place.llmc.environment())
    try:
        said = place.refuses(lines("add carl --agent demo\naccept adam\nreset adam --yes"), 1)
        assert all("has no branch main" in each.err for each in said.values())
    finally:
        subprocess.run([*git, "branch", "-m", "trunk", "main"], check=True, env=place.llmc.environment())


# --- where the person is ----------------------------------------------------------------------------


def run_in_shell(place, script, env=None):
    """What a shell makes of it, where `$LLMC` is the program."""
    (program,) = place.llmc.command()
    return subprocess.run(
        ["bash", "-c", script],
        env=place.llmc.environment(env or {}) | {"LLMC": program},
        cwd=place.llmc.home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("words", ["status", "--root $LLMC_ROOT status --json", "events", "init", "add carl"])
def test_the_directory_one_is_in_is_gone(place, words):
    done = run_in_shell(place, f'mkdir gone; cd gone; rmdir ../gone; "$LLMC" {words}')
    assert (done.returncode, done.stdout) == (1, "")
    # Where the program's own path has a space in it, a shell starts it, and has a word of its own to say first.
    error, hint = done.stderr.splitlines()[-2:]
    assert error == "error: the directory that you are in is gone"
    assert hint.startswith("hint: ")


def test_no_home(place):
    place.answers(STATUS, env={"HOME": None})
    said = place.llmc.run("--root", "~nobody-of-that-name/llmc", "status", check=False)
    assert wrong_about(said, 1) == []
    assert "there is no home directory for ~nobody-of-that-name" in said.err


@pytest.mark.parametrize("words", ["status", "status --json", "events", "--help", "--version"])
def test_nobody_reads_the_answer(place, words):
    done = run_in_shell(place, f'set -o pipefail; "$LLMC" {words} | true; echo $?; "$LLMC" {words} >&-; echo $?')
    assert (done.stdout, done.stderr) == ("0\n0\n", "")


def test_somebody_reads_only_a_part_of_a_long_answer(place):
    log = place.root / "logs" / "adam.log"
    log.write_text(log.read_text() * 2000)
    done = run_in_shell(place, 'set -o pipefail; "$LLMC" logs adam -n 100000 | head -1 | wc -l')
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "1", "")


@pytest.mark.parametrize("words", ["status", "logs adam", "--version"])
def test_the_answer_cannot_be_written(place, words):
    done = run_in_shell(place, f'"$LLMC" {words} >/dev/full')
    assert done.returncode == 1
    assert done.stderr.startswith("error: standard output: No space left on device\nhint: ")


def test_standard_streams_that_are_closed(place):
    done = run_in_shell(place, '"$LLMC" start --worker baker - <&-; echo $?; "$LLMC" logs nobody 2>&-; echo $?')
    assert done.stdout == "2\n1\n"
    assert done.stderr.startswith("error: the text is empty\n")


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}])
def test_a_terminal_without_unicode(place, locale):
    task = "Übersetze 漢字 😀 → done"
    state = place.root / "state.json"
    state.write_text(state.read_text().replace("Write the first note", task))
    said = place.answers(lines("status\nstatus --json\nevents\nexplain adam"), env=locale)
    assert "bersetze" in said["status"].out
    assert json.loads(said["status --json"].out)["workers"][0]["current_prompt"] == task


# --- init -------------------------------------------------------------------------------------------


@pytest.fixture
def newcomer(place, tmp_path):
    """A user with a repository and no root."""
    llmc = Llmc(place.llmc.home, tmp_path / "deep" / "root", _sockets=place.llmc.sockets)
    yield llmc, place.source
    left = list(tmp_path.rglob("*.lock"))
    assert [path.name for path in left if path.name == ".init.lock"] == []


def refuses_init(llmc, *words, cwd=None):
    above = llmc.root.parent.parent
    before = listing(above)
    said = llmc.run("init", *words, check=False, cwd=cwd)
    assert wrong_about(said, 1) == []
    assert listing(above) == before
    return said.err


@pytest.mark.parametrize("name", ["two\nlines", "bell\x07", "escape\x1b[31m"])
def test_a_path_with_a_control_character_is_no_place(newcomer, tmp_path, name):
    llmc, source = newcomer
    odd = tmp_path / name
    shutil.copytree(source, odd, symlinks=True)
    for words, cwd, option in (
        (("--source", str(odd)), None, "--source"),
        ((), str(odd), "--source"),
        (("--source", str(source), "--target", str(odd / "root")), None, "--target"),
    ):
        said = refuses_init(llmc, *words, cwd=cwd)
        assert "has a control character, such as a line break, in it" in said
        assert f"hint: rename that directory, or give another one with {option}" in said


def test_who_has_no_agent_is_told_before_it_is_missed(newcomer, path_of):
    llmc, source = newcomer
    env = {"PATH": path_of()}
    said = llmc.run("init", "--source", str(source), env=env)
    assert "no agent CLI is installed yet: install one (claude, codex, gemini, opencode)" in said.out
    assert "note: claude is not installed" in llmc.run("add", "adam", env=env).out
    assert "not installed" not in llmc.run("add", "baker", "--agent", "demo", env=env).out


def test_of_agents_only_the_missing_are_named(newcomer, path_of):
    llmc, source = newcomer
    env = {"PATH": path_of(claude="#!/bin/sh\n", gemini="#!/bin/sh\n")}
    assert (
        "without codex, opencode: workers cannot use them\n" in llmc.run("init", "--source", str(source), env=env).out
    )


def test_init_of_something_that_is_no_repository(newcomer, tmp_path):
    llmc, _ = newcomer
    (tmp_path / "plain").mkdir()
    (tmp_path / "file").touch()
    assert "is not inside a git repository" in refuses_init(llmc, "--source", str(tmp_path / "plain"))
    assert "is not inside a git repository" in refuses_init(llmc, cwd=tmp_path / "plain")
    assert "is not a directory" in refuses_init(llmc, "--source", str(tmp_path / "file"))
    assert "is not a directory" in refuses_init(llmc, "--source", "~nobody-of-that-name/x")


def test_init_of_a_repository_without_commits(newcomer, tmp_path):
    llmc, _ = newcomer
    subprocess.run(["git", "init", "--quiet", tmp_path / "empty"], env=llmc.environment(), check=True)
    assert "has no commits yet" in refuses_init(llmc, "--source", str(tmp_path / "empty"))


def test_init_with_a_branch_that_does_not_exist(newcomer):
    llmc, source = newcomer
    assert "has no branch nonsense" in refuses_init(llmc, "--source", str(source), "--branch", "nonsense")
    assert "has no branch" in refuses_init(llmc, "--source", str(source), "--branch=-x")


def test_init_inside_the_repository(newcomer):
    llmc, source = newcomer
    before = listing(source)
    words = ("--source", str(source), "--target", str(source / "llmc"))
    assert "is inside the repository" in refuses_init(llmc, *words)
    assert "is inside the repository" in refuses_init(llmc, *words, "--force", cwd=source)
    assert listing(source) == before


def test_init_twice(newcomer):
    llmc, source = newcomer
    llmc.run("init", "--source", str(source))
    assert "is an LLMC root already" in refuses_init(llmc, "--source", str(source))
    assert "is an LLMC root already" in refuses_init(llmc, "--source", str(source), "--force")


def test_init_where_other_files_are(newcomer):
    llmc, source = newcomer
    llmc.root.mkdir(parents=True)
    (llmc.root / "mine").write_text("mine\n")
    assert "is not empty" in refuses_init(llmc, "--source", str(source))
    llmc.run("init", "--source", str(source), "--force")
    assert (llmc.root / "mine").read_text() == "mine\n"


@pytest.mark.parametrize("name", ["logs", "run", "templates", ".worktrees", ".git", "state.json", "config.toml"])
def test_init_never_takes_what_it_has_not_made(newcomer, name):
    llmc, source = newcomer
    (llmc.root / name).mkdir(parents=True)
    (llmc.root / name / "mine").write_text("mine\n")
    assert f"has {name} already" in refuses_init(llmc, "--source", str(source), "--force")


def test_init_where_one_may_not_write(newcomer):
    llmc, source = newcomer
    llmc.prefix = as_a_plain_user
    llmc.root.parent.mkdir(mode=0o500)
    assert "Permission denied" in refuses_init(llmc, "--source", str(source))


def test_init_onto_a_file(newcomer):
    llmc, source = newcomer
    llmc.root.parent.mkdir()
    llmc.root.touch()
    assert "is not a directory" in refuses_init(llmc, "--source", str(source))


SLOW_CLONE = """#!/bin/sh
case " $* " in
*" clone "*)
    for target; do :; done
    mkdir -p "$target/objects" && echo half >"$target/HEAD"
    echo $$ >"$SIGN.new" && mv "$SIGN.new" "$SIGN"
    exec sleep 60;;
esac
exec "$REAL_GIT" "$@"
"""


@pytest.fixture
def stopped_half_way(newcomer, path_of, tmp_path):
    """`llmc init` in the middle of its clone, ended by a signal."""
    llmc, source = newcomer
    sign = tmp_path / "sign"
    env = {"PATH": path_of("git", git=SLOW_CLONE), "SIGN": str(sign), "REAL_GIT": shutil.which("git")}

    def stop(by):
        process = subprocess.Popen(
            llmc.command("init", "--source", str(source)),
            env=llmc.environment(env),
            cwd=llmc.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        clone = int(wait_until(lambda: sign.exists() and sign.read_text()))
        try:
            process.send_signal(by)
            process.wait(timeout=120)
        finally:
            process.kill()
            if by == signal.SIGKILL:
                os.kill(clone, signal.SIGKILL)
        with process:
            return process.returncode, *process.communicate()

    return stop


def test_init_that_is_interrupted_leaves_nothing(newcomer, stopped_half_way):
    llmc, _ = newcomer
    assert stopped_half_way(signal.SIGINT) == (130, "", "interrupted\n")
    assert not llmc.root.parent.exists()


def test_init_that_was_killed_can_be_said_again(newcomer, stopped_half_way):
    llmc, source = newcomer
    stopped_half_way(signal.SIGKILL)
    assert (llmc.root / ".git" / "HEAD").read_text() == "half\n"
    assert "there is no LLMC root" in llmc.run("status", check=False).err
    llmc.run("init", "--source", str(source))
    llmc.run("add", "adam", "--agent", "demo")
    assert llmc.run("status", "--short").out == "[adam: offline]\n"


def test_a_second_init_waits_for_nobody_and_spoils_nothing(newcomer, stopped_half_way):
    llmc, source = newcomer
    stopped_half_way(signal.SIGKILL)
    with FileLock(llmc.root / ".init.lock"):
        assert f"is locked by pid {os.getpid()}" in refuses_init(llmc, "--source", str(source))
    llmc.run("init", "--source", str(source))
