"""The commands of `llmc machine`, and those that a hub types on its machines, for `command_table`."""

from __future__ import annotations

from llmc.cli.arguments import some_flags, some_lines, some_name, some_path, some_seconds, some_text, some_tree
from llmc.cli.command import WORKER, Command, flag, value, word

MACHINE = value("name", "MACHINE", some_name, "the machine's name")
MACHINE_COMMANDS = (
    Command(
        "add",
        "make another machine one of this root",
        (
            "llmc machine add box --ssh me@box --labels gpu --slots 8",
            'llmc machine add big --slurm "--partition=cpu --cpus-per-task=8 --time=8:00:00"',
            'llmc machine add pod --command "kubectl exec -i pod-1 --"',
        ),
        (
            MACHINE,
            value("--ssh", "HOST", some_text, "a host as ssh knows it"),
            value("--slurm", "FLAGS", some_flags, "an allocation of Slurm, by flags of sbatch"),
            value("--command", "PREFIX", some_text, "any program that runs what is put behind it over there"),
            value("--labels", "A,B", some_text, "what tasks may ask for", action="append", default=[]),
            value("--slots", "N", some_lines, "how many tasks at the same time (default 4)"),
            value("--program", "P", some_path, "the llmc over there (default: the one on its PATH)"),
            value("--home", "DIR", some_path, "the directory there for LLMC (default: in its home)", dest="place"),
            flag("--install", text="install this llmc there where it has none"),
        ),
        about="Checks tmux, git and llmc there, then makes a copy of your branch and a root of its own. Its own daemon "
        "looks after its workers, whether or not this one is there. It needs no credentials of yours.",
    ),
    Command(
        "list",
        "the machines: labels, slots, load, and how old what is known of each is",
        ("llmc machine list", "llmc machine list --json"),
        looks=True,
    ),
    Command("check", "look closely whether a machine works", ("llmc machine check box",), (MACHINE,)),
    Command(
        "lost",
        "give a machine up: its tasks go to others",
        ("llmc machine lost box",),
        (MACHINE, flag("--yes", "-y", text="do not ask")),
        about="Only for one that will not come back soon: LLMC never decides that by itself. If it does come back, "
        "its agents are stopped and what they made is kept as backups here.",
    ),
    Command(
        "remove",
        "take a machine out; only when no worker is left there",
        ("llmc machine remove box",),
        (MACHINE, flag("--yes", "-y", text="do not ask")),
        about="One that was given up is only forgotten: nobody there is asked.",
    ),
)

REMOTE_COMMANDS = (
    Command(
        "remote-serve",
        "what a hub talks to on a machine",
        ("llmc remote-serve",),
        answers=False,
        looks=True,
        hidden=True,
        home="llmc.cli.remote_serve",
    ),
    Command(
        "remote-ending",
        "typed by an allocation that is about to end",
        ("llmc remote-ending --within 20",),
        (value("--within", "SECS", some_seconds, "how long turns have to end", default=20.0),),
        hidden=True,
    ),
    Command(
        "remote-join",
        "typed by a hub: this root is its machine",
        ("llmc remote-join --hub ID --name box --epoch 1",),
        (
            word("--hub", required=True, help="the hub's own name"),
            value("--name", "NAME", some_name, "what the hub calls this machine", required=True),
            value("--epoch", "N", some_lines, "the hub's count", required=True),
        ),
        hidden=True,
    ),
    Command(
        "remote-propose",
        "typed by a hub: what would land",
        ("llmc remote-propose adam --tip SHA",),
        (
            WORKER,
            value("--tip", "SHA", some_name, "where the branch is", required=True),
            value("--message", "M", some_text, "the commit's message"),
            value("--tree", "SHA", some_tree, "only this very tree"),
            flag("--changed", text="even if the work has changed since its review"),
            flag("--check", text="run the checks, too"),
            flag("--unattended", text="nobody has asked for it"),
        ),
        hidden=True,
    ),
    Command(
        "remote-landed",
        "typed by a hub: it has landed",
        ("llmc remote-landed adam --sha SHA --head SHA",),
        (
            WORKER,
            value("--sha", "SHA", some_name, "the commit", required=True),
            value("--head", "SHA", some_name, "the work that it was made of", required=True),
            flag("--reviewed", text="just this work was reviewed"),
        ),
        hidden=True,
    ),
    Command("remote-usage", "typed by a hub: what was spent here", ("llmc remote-usage",), looks=True, hidden=True),
    Command("remote-wait", "typed by a hub: wait for a worker", ("llmc remote-wait adam",), (WORKER,), hidden=True),
    Command(
        "remote-retire",
        "typed by a hub that had given this machine up: begin anew",
        ("llmc remote-retire --epoch 2",),
        (value("--epoch", "N", some_lines, "the hub's count", required=True),),
        hidden=True,
    ),
)
