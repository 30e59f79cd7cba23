"""Every command with its words and an example: the parser and the shell completion are made from this."""

from __future__ import annotations

from argparse import SUPPRESS

from llmc.cli.arguments import some_lines, some_name, some_path, some_seconds, some_text
from llmc.cli.command import FAILS, FOLLOW, WORKER, Command, flag, lines, value, word
from llmc.cli.face_command_table import FACE_COMMANDS
from llmc.cli.landing_command_table import LANDING_COMMANDS
from llmc.cli.machine_command_table import MACHINE_COMMANDS
from llmc.cli.usage_command_table import USAGE_COMMANDS

SENDS = (
    "1 undelivered: nothing was sent, or the command was refused",
    "4 delivery unknown: look with `llmc peek` before you send it again",
)

MAYBE_WORKER = value("worker", "WORKER", some_name, "the worker's name", nargs="?")
YES = flag("--yes", "-y", text="do not ask")
NAMES = value("names", "WORKER", some_name, "the workers' names", nargs="*")
EVERYBODY = flag("--all", text="every worker")


def _pty_commands() -> tuple[Command, ...]:
    from llmc.cli.pty_command_table import PTY

    return PTY


def _task_commands() -> tuple[Command, ...]:
    from llmc.cli.task_command_table import TASK_COMMANDS

    return TASK_COMMANDS


COMMANDS = (
    Command(
        "demo",
        "play a whole session on this machine, with scripted agents and no account",
        ("llmc demo", "llmc demo --keep --speed 2", "llmc demo --keep --web"),
        (
            flag("--keep", text="keep the sample repository and the root afterwards"),
            flag("--web", text="with --keep: give out three more tasks, and leave the board in the browser running"),
            value("--speed", "N", float, "N times as fast (default 1)", default=1.0),
        ),
        answers=False,
        about="Everything happens in a temporary directory, which is removed at the end.",
        looks=True,
    ),
    Command(
        "init",
        "make an LLMC root for a repository",
        ("llmc init", "llmc init --source ~/code/shop --target ~/llmc --branch main"),
        (
            value("--source", "PATH", some_path, "the repository (default: the one around you)"),
            value("--target", "PATH", some_path, "the new root (default: --root, LLMC_ROOT or ~/llmc)"),
            value(
                "--branch",
                "B",
                some_name,
                "the branch that work lands on (default: the main one, else the one that is checked out)",
            ),
            flag("--force", text="use a directory that has other files in it"),
        ),
        about="The root holds a clone, the settings, the state and the worktrees; your checkout is not touched. "
        "Each repository has a root of its own: name the second one with --target.",
        looks=True,
    ),
    Command(
        "add",
        "add a worker: a worktree, a branch and a record",
        ("llmc add adam", "llmc add baker --agent codex --model gpt-5", "llmc add boss --role supervisor"),
        (
            word("name", metavar="NAME", help="letters, digits, - and _"),
            value(
                "--agent",
                "A",
                some_name,
                "claude, codex, gemini, opencode, qwen, copilot, kimi, kilo, pi, cline, aider, shell, demo, or one"
                " of your own (default: defaults.agent of the settings, which is claude)",
            ),
            value("--model", "M", some_text, "the model that the agent uses"),
            value("--role-prompt", "P", some_text, "what the agent is told about its role"),
            word("--role", choices=("supervisor",), help="supervisor: it gets tools to delegate tasks to the others"),
            flag("--exclude-from-pool", text="only gets the tasks that name it: `llmc start --worker NAME`"),
            word(
                "--sandbox",
                choices=("off", "bwrap"),
                help="bwrap: in a fence that hides your keys and your checkout (default: sandbox.mode of the settings)",
            ),
            value("--machine", "M", some_name, "on this machine, or on one with this label and a free slot"),
        ),
        about="A running daemon brings it up at once, otherwise `llmc up` does.",
    ),
    Command(
        "nuke",
        "remove workers; unmerged work is kept in a backup",
        ("llmc nuke adam", "llmc nuke --all --yes"),
        (
            value("names", "NAME", some_name, "the workers", nargs="*"),
            flag("--all", text="every worker"),
            YES,
        ),
        about="Asks first when a worker has unmerged work; `llmc undo --list` shows the backups.",
    ),
    Command(
        "up",
        "bring the workers up and look after them",
        ("llmc up", "llmc up --detach"),
        (
            flag("--no-patrol", text="no periodic check of everything"),
            flag("--detach", "-d", text="in the background, until `llmc down`"),
            flag("--force", text="without effect: what a killed daemon left behind never prevents a start"),
        ),
        about="Shows what happens until Ctrl-C, which stops the agents, and asks first when one is in the middle of a "
        "turn (a second Ctrl-C means yes). With --detach it answers when every worker is up or has failed to come up, "
        "and goes on in the background.",
        codes=("1 it did not start, or an agent did not",),
    ),
    Command(
        "down",
        "stop the workers and the daemon",
        ("llmc down", "llmc down --force"),
        (flag("--force", text="do not ask, and do not wait for agents"), YES),
        about="What each worker was working on is kept, and `llmc up` continues from there. At a terminal it asks "
        "first when an agent is in the middle of a turn.",
    ),
    Command(
        "restart",
        "end workers' agents and start them again; their work stays",
        ("llmc restart adam", "llmc restart adam --resend", "llmc restart --all --yes"),
        (
            NAMES,
            EVERYBODY,
            flag("--resend", text="give the agent its task again, as after a crash"),
            flag("--force", text="do not ask, and do not wait for the agent"),
            YES,
        ),
        about="Asks first when an agent is in the middle of a turn; in a script, pass --yes. Names the texts that "
        "waited in the agent's own queue and are lost with its session.",
        codes=(
            "1 refused, or it did not start, or its task could not be given to it again",
            "4 it is not known whether it has its task again",
        ),
    ),
    Command(
        "interrupt",
        "end the running turn of workers, and prove it",
        ("llmc interrupt adam", "llmc interrupt adam --within 30 --force", "llmc interrupt --all --json"),
        (
            NAMES,
            EVERYBODY,
            value("--within", "SECS", some_seconds, "how long the agent may take to stop (default 10)", default=10.0),
            flag("--force", text="end an agent that does not stop in time, and start it again"),
        ),
        about="Presses the agent's own key (Esc for most), but only while a turn runs, and says what shows that the "
        "turn is over: the agent's report (hook) or its screen at rest. An open dialog is refused by it. The worker "
        "then waits for you: `llmc message` lets it go on.",
        codes=(*FAILS, "4 it is not known whether the turn is over: look with `llmc peek`"),
    ),
    Command(
        "status",
        "one line per worker: status, attention, task, age, why",
        ("llmc status", "llmc status --watch", "llmc status --json"),
        (
            flag("--watch", "-w", text="show it again whenever something changes, until Ctrl-C"),
            flag("--short", text="one short line, for a status line"),
            flag("--all", text="the workers of all your roots"),
        ),
        about="The columns: the worker, its status, what its terminal seems to show (ready, busy, asks, failed), its "
        "task, how long ago something happened, and why. `llmc explain WORKER` says more.",
        looks=True,
    ),
    Command(
        "roots",
        "list all your roots: path, repository, workers, who waits for you",
        ("llmc roots", "llmc roots --json"),
        about="A root is known from its `llmc init` on; `llmc up` makes one known that is not. `llmc status --all` "
        "shows the workers of all of them.",
        looks=True,
    ),
    Command(
        "start",
        "give an idle worker a task",
        (
            'llmc start "Add a login page"',
            "llmc start --worker adam --prompt-file task.md",
            "llmc start - < task.md",
        ),
        (
            word("source", metavar="TEXT", nargs="?", help="the task; - reads it from standard input"),
            value("--worker", "W", some_name, "this worker (default: the longest idle one)"),
            word("--prompt", metavar="T", help="the task"),
            value("--prompt-file", "F", some_path, "the task is in this file"),
            value("--template", "NAME", some_name, "the task is ROOT/templates/NAME.md"),
            value("--set", "K=V", some_text, "fill in {K} of the template", action="append", default=[]),
            flag("--queue", text="where nobody is free, queue it as `llmc task add` does"),
            word("--request", help=SUPPRESS),
            flag("--wait", text="wait until the worker needs you or has finished"),
        ),
        about="Without a text your editor opens (VISUAL, EDITOR). The answer is a receipt: delivered, queued, "
        "undelivered or unknown.",
        codes=SENDS,
    ),
    Command(
        "task",
        "the queue: tasks that wait for a worker, and all there were",
        ("llmc task", 'llmc task add "Add a login page"', "llmc task import plan.md"),
        about="Without a further word it lists the tasks. The daemon gives them out as workers become free.",
        answers=False,
        parts=_task_commands,
        usual_part="list",
    ),
    Command(
        "templates",
        "list the task templates, and the variables that each needs",
        ("llmc templates", "llmc templates --json"),
        about="A template is a file ROOT/templates/NAME.md; {NAME} in it is filled in by --set NAME=VALUE, and doubled "
        "braces stand for themselves.",
        looks=True,
    ),
    Command(
        "message",
        "send a text to a worker's agent",
        ('llmc message adam "Use the existing helper"', "llmc message adam --file notes.md"),
        (
            WORKER,
            word("text", metavar="TEXT", nargs="?", help="the text, or - for standard input"),
            value("--file", "F", some_path, "the text is in this file"),
            flag("--wait", text="wait until the worker needs you or has finished"),
        ),
        about="Without a text your editor opens (VISUAL, EDITOR). The answer is a receipt: delivered, queued (the "
        "agent is busy and reads it next), undelivered or unknown. An open dialog is for `llmc answer`.",
        codes=SENDS,
    ),
    Command(
        "answer",
        "answer a worker's open permission or question dialog",
        ("llmc answer adam yes", "llmc answer adam 2", 'llmc answer adam "Use the existing helper"'),
        (
            WORKER,
            word("choice", metavar="CHOICE", help="yes, no, the number or the words of an option, or your own text"),
            value(
                "--dialog",
                "ID",
                some_name,
                "only if this dialog is still the open one (`asked.id` in `llmc status --json`)",
            ),
        ),
        about="`llmc status` says what is asked, `llmc peek WORKER` shows the dialog. The option is found by its "
        "words, and Enter is pressed only when the mark is seen on it. `yes` and `no` never take an option that holds "
        "for more than this once: choose that by its number.",
        codes=SENDS,
    ),
    Command(
        "attach",
        "open the worker's terminal (Ctrl-b d leaves it)",
        ("llmc attach adam", "llmc attach adam --read-only"),
        (WORKER, flag("--read-only", "-r", text="look, do not type")),
        answers=False,
        about="You can type at any time: LLMC never types after a half-typed line of yours.",
        looks=True,
    ),
    Command(
        "peek",
        "the last lines of a worker's terminal",
        ("llmc peek adam -n 20",),
        (WORKER, lines(40, "LINES")),
        looks=True,
    ),
    *FACE_COMMANDS,
    Command(
        "review",
        "show the work that has waited longest, or that of a worker",
        (
            "llmc review",
            "llmc review baker --interface stat",
            "llmc review baker --since-last",
            "llmc review baker --peek --json",
        ),
        (
            MAYBE_WORKER,
            flag("--since-last", text="only what has changed since the last round, or else since the last review"),
            word(
                "--interface",
                choices=("diff", "difftastic", "delta", "vscode", "stat"),
                help="how to show it (default: difftastic where installed, else diff)",
            ),
            flag("--peek", text="only look: nothing is brought up to date, and it does not count as a review"),
            value("--seen", "TREE", some_name, "show nothing: you have seen this very tree, and that is your review"),
        ),
        about="The work is brought up to date with your branch first. Without a name, `llmc accept` and `llmc reject` "
        "are about the work that you reviewed last. --since-last leaves out what your branch has changed, and shows "
        "each earlier comment beside what became of its lines: changed, gone or untouched.",
        codes=("1 no work waits for review, or it conflicts with your branch and its agent was asked to resolve that",),
    ),
    Command(
        "comment",
        "comment on lines of a worker's work, for `llmc reject` to send",
        (
            'llmc comment adam src/app.py:12 "Please use the helper"',
            'llmc comment adam "my file.txt:3-5" "Why?"',
            "llmc comment adam --list",
            "llmc comment adam --remove 2",
        ),
        (
            WORKER,
            value("place", "FILE:LINE[-LINE]", some_name, "the lines, as the diff numbers the new side", nargs="?"),
            word("text", metavar="TEXT", nargs="?", help="what you say of them, or - for standard input"),
            value("--file", "F", some_path, "the text is in this file"),
            flag("--list", text="the comments, those of earlier rounds too"),
            value("--remove", "N", some_lines, "take back the open comment N"),
        ),
        about="The lines are those of the commit that was reviewed last, or of the newest one where nobody has looked "
        "at the work yet; lines that the work deletes have no number there. Comments stay through rebases, and all "
        "that are open go to the agent as one round.",
    ),
    Command(
        "reject",
        "send the reviewed work back with feedback",
        ('llmc reject "Please handle the empty case"', "llmc reject baker --file feedback.md"),
        (
            word(
                "words", metavar="[WORKER] MESSAGE", nargs="*", help="the worker (default: last reviewed), the feedback"
            ),
            value("--file", "F", some_path, "the feedback is in this file"),
        ),
        about="One round: all open comments (`llmc comment`) with the lines that they are about, and the feedback. The "
        "agent keeps its context and gets the diff with it; the work comes back for review when it has committed "
        "again. Without comments and feedback your editor opens (VISUAL, EDITOR).",
        codes=SENDS,
    ),
    *LANDING_COMMANDS,
    *USAGE_COMMANDS,
    Command(
        "machine",
        "other machines for workers: ssh hosts, allocations of Slurm, containers",
        ("llmc machine list", "llmc machine add box --ssh me@box"),
        about="Without a further word it lists them.",
        answers=False,
        parts=lambda: MACHINE_COMMANDS,
        usual_part="list",
    ),
    Command(
        "reset",
        "back to idle on the tip of the branch; a backup is kept",
        ("llmc reset adam", "llmc reset adam baker --yes", "llmc reset --all"),
        (NAMES, EVERYBODY, YES),
        about="Ends the task. Asks first where there is work; `llmc undo WORKER` brings it back.",
    ),
    Command(
        "undo",
        "list and restore backups",
        ("llmc undo --list", "llmc undo adam", "llmc undo --landing t3"),
        (
            MAYBE_WORKER,
            flag("--list", text="only list them"),
            value("--backup", "REF", some_name, "this one; the end of its name will do"),
            value("--landing", "TASK", some_name, "take back what this task has landed, by a revert commit"),
            YES,
        ),
        about="With a worker, its newest backup that differs from what it has now is put back, and what it has now is "
        "backed up too. Without one it lists all backups. --landing adds a commit that takes a task's work out of "
        "your branch again; the task is cancelled, and `llmc task retry` queues it again.",
    ),
    Command(
        "patrol",
        "look at every worker now, and repair what was missed",
        ("llmc patrol", "llmc patrol --json"),
        about="The daemon does this by itself once a minute: signals tell it what happens, and this is the safety net.",
    ),
    Command(
        "explain", "why a worker is in its state, and what comes next", ("llmc explain adam",), (WORKER,), looks=True
    ),
    Command(
        "events",
        "the log of what happened",
        ("llmc events", "llmc events adam --follow"),
        (MAYBE_WORKER, FOLLOW, lines(50)),
        looks=True,
    ),
    Command(
        "logs",
        "a worker's log file, lines of JSON",
        ("llmc logs adam --follow", "llmc logs adam --setup"),
        (WORKER, FOLLOW, flag("--setup", text="the output of the last setup of its worktree"), lines(50)),
        about="`llmc events WORKER` shows the same as text.",
        looks=True,
    ),
    Command(
        "pty",
        "terminals without worktrees, and whether they are ready",
        ("llmc pty create ~/code/shop", "llmc pty watch --detach", "llmc pty status"),
        answers=False,
        parts=_pty_commands,
        looks=True,
    ),
    Command(
        "doctor",
        "check everything, say what is wrong, and repair it",
        ("llmc doctor", "llmc doctor --repair", "llmc doctor --rebuild", "llmc doctor --agents --json"),
        (
            flag("--repair", text="repair what can be repaired; asks first, and keeps whatever could be lost"),
            flag("--rebuild", text="make the state again from worktrees, branches, terminals and the log of events"),
            flag("--agents", text="try every installed agent CLI: reports, prompt, delivery, version"),
            YES,
        ),
        about="Without one of these flags it only looks. --agents sends each CLI one short prompt, which costs what a "
        "prompt costs.",
        codes=("1 there is an error among the findings, or an agent CLI does not work",),
        looks=True,
    ),
    Command(
        "config",
        "read and change the settings; comments stay",
        (
            "llmc config",
            "llmc config get repo.branch",
            "llmc config set policy.autonomy assist",
            """llmc config set repo.validate '["make lint", "make test"]'""",
            "llmc config check",
        ),
        (
            word(
                "action",
                choices=("list", "get", "set", "path", "check"),
                nargs="?",
                default="list",
                help="default: list",
            ),
            value("key", "K", some_text, "such as defaults.model or workers.adam.model", nargs="?"),
            value("value", "V", some_text, "the new value", nargs="?"),
        ),
        about="Without arguments it lists all settings and where each comes from. docs/configuration.md describes "
        "every key.",
        looks=True,
    ),
    Command(
        "completion",
        "print the completion script for your shell",
        ('eval "$(llmc completion bash)"', "llmc completion fish > ~/.config/fish/completions/llmc.fish"),
        (word("shell", choices=("bash", "zsh", "fish"), help="your shell"),),
        answers=False,
        looks=True,
    ),
)
