"""What can be wrong with LLMC's clone and with the source repository."""

from __future__ import annotations

from llmc.doctor.kinds import ERROR, NOTE, WARNING, Kind

REPOSITORY_KINDS = (
    Kind(
        "clone-broken",
        ERROR,
        "repository",
        "LLMC's own clone, the `.git` of the root, is missing or damaged",
        "`git -C {root} fsck` tells what is damaged; if it is lost, make a new root with `llmc init --target DIR`",
    ),
    Kind(
        "ref-broken",
        ERROR,
        "repository",
        "a branch, backup or other ref of the clone leads nowhere",
        "`llmc doctor --repair` puts it back where it last stood, by its own log",
    ),
    Kind(
        "git-lock-left-over",
        WARNING,
        "repository",
        "a git that was ended by force has left its lock file, and every other git refuses to work",
        "`llmc doctor --repair`, or `rm {path}` when no git runs there",
    ),
    Kind(
        "landing-cut-short",
        ERROR,
        "repository",
        "a landing was cut short (killed, or the disk was full) and has left files of it in your checkout",
        "`llmc doctor --repair` finishes it or takes it back; what you have changed yourself stays",
    ),
    Kind(
        "source-lock-left-over",
        WARNING,
        "repository",
        "a git that was ended by force has left its lock file in your repository, and no process uses it any more",
        "`llmc doctor --repair`, or `rm {path}`",
    ),
    Kind(
        "source-locked",
        WARNING,
        "repository",
        "a lock file of git in your repository keeps work from being landed",
        "wait for the program that has it, or end it; if there is none, `rm {path}`",
    ),
    Kind(
        "rerere-off",
        WARNING,
        "repository",
        "git does not remember how conflicts were resolved",
        "`git -C {root} config {setting} true`",
    ),
    Kind(
        "identity-missing",
        WARNING,
        "repository",
        "git does not know in whose name to commit, so that commits fail",
        "`git config --global user.name NAME` and `git config --global user.email ADDRESS`",
    ),
    Kind(
        "source-gone",
        ERROR,
        "repository",
        "the source repository is not where the settings say",
        "bring it back, or `llmc config set repo.source PATH` and `git -C {root} remote set-url origin PATH`",
    ),
    Kind(
        "source-differs",
        NOTE,
        "repository",
        "`origin` in the worktrees is another repository than the one that accepted work goes to",
        "`git -C {root} remote set-url origin {source}`",
    ),
    Kind(
        "branch-missing",
        ERROR,
        "repository",
        "the source repository has no such branch as the settings say",
        "bring the branch back, or name another one: `llmc config set repo.branch NAME`",
    ),
    Kind(
        "branch-orphaned",
        WARNING,
        "repository",
        "a branch of LLMC's belongs to no worker",
        "`llmc doctor --repair` removes it and keeps a backup",
    ),
)
