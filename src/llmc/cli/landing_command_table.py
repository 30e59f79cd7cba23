"""How work gets from a worker's branch onto yours, for `command_table`."""

from __future__ import annotations

from llmc.cli.arguments import some_name, some_tree
from llmc.cli.command import WORKER, Command, flag, value, word

LANDING_COMMANDS = (
    Command(
        "accept",
        "merge the reviewed work as one commit",
        (
            "llmc accept",
            'llmc accept baker --message "Add profile page"',
            "llmc accept adam baker",
            "llmc accept --all --queue",
        ),
        (
            value("names", "WORKER", some_name, "the workers (default: the last reviewed)", nargs="*"),
            flag("--all", text="all work that waits and was reviewed"),
            word("--message", "-m", metavar="M", help="the commit's message"),
            flag("--changed", text="even if the work has changed since its review"),
            value("--tree", "SHA", some_tree, "only this very tree, as `review --json` names it"),
            flag("--queue", text="put it into the merge train and return at once: the daemon lands it"),
            flag("--dry-run", "-n", text="show every step with what it would do, and change nothing"),
        ),
        about="Rebases, runs the checks of repo.validate unless they passed on just this tree, makes one commit with a "
        "clean message, moves your branch forward and puts the worker back to idle. Your uncommitted changes are never "
        "touched. Work that has changed since its review is refused, with the difference; a rebase alone is no change. "
        "Work that nobody reviewed is accepted when its worker is named, and the answer says so. Several works go by "
        "the merge train: checked ahead of time on top of each other, landed in the order of their names as each "
        "passes; --all chooses the order with the fewest conflicts.",
        codes=("1 refused, and nothing was merged; of several works at least one was, and the others may have landed",),
    ),
    Command(
        "train",
        "the merge train: accepted works that land one after the other",
        ("llmc train", "llmc train --watch", "llmc train drop adam", "llmc train pause"),
        (
            word(
                "action",
                choices=("show", "drop", "pause", "resume"),
                nargs="?",
                default="show",
                help="show it (default), take a worker's work out of it, let it stand still, let it go on",
            ),
            value("worker", "WORKER", some_name, "whose work is taken out", nargs="?"),
            flag("--watch", "-w", text="show it again whenever something changes, until Ctrl-C"),
        ),
        about="`llmc accept` with several names, or with --queue, puts work in. What fails is tried again, then told "
        "with whose work it fails, and goes back to its agent; the others go on. A paused train finishes the landing "
        "that is under way.",
        looks=True,
    ),
    Command(
        "pr",
        "push a worker's work as a branch, and open a pull request",
        ("llmc pr adam", "llmc pr adam --remote upstream"),
        (
            WORKER,
            word("--remote", metavar="R", type=some_name, help="the remote (default: repo.push, else origin)"),
            word("--message", "-m", metavar="M", help="title and text of the commit and of the pull request"),
            flag("--changed", text="even if the work has changed since its review"),
        ),
        about="The work goes there as one clean commit on top of your branch, which stays where it is; nothing is ever "
        "forced. The pull request is opened by gh or glab where they are installed, else its address is printed. The "
        "worker goes on waiting: `llmc reset` frees it when the request is merged.",
    ),
    Command(
        "rebase",
        "bring a worker's work up to date with your branch",
        ("llmc rebase adam",),
        (WORKER,),
        about="Conflicts are given to the agent that made the work, with its task and the steps.",
        codes=(
            "1 refused, or it conflicts and its agent could not be asked to resolve that",
            "4 it conflicts, and it is not known whether its agent was asked",
        ),
    ),
    Command(
        "conflicts",
        "which workers will conflict with the branch or with each other, and where",
        ("llmc conflicts", "llmc conflicts --fresh", "llmc conflicts --json"),
        (flag("--fresh", text="check now, instead of using what the daemon saw last"),),
        looks=True,
    ),
)
