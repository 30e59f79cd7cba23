"""How much LLMC may do by itself, and after how long."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.schema import FLAG, choice, text, whole
from llmc.core.setting import option, required, rows, seconds
from llmc.core.text_checks import one_word, printable, quick_expression
from llmc.model import Autonomy
from llmc.values import Value

AUTONOMY = replace(
    choice(Autonomy),
    expects="one of " + ", ".join(f'"{word}"' for word in Autonomy),
    example=f'"{Autonomy.MANUAL}"',
    word="string",
)
AGENT = text('"claude"', "the name of an agent", printable, one_word)

DIALOGS = ("permission", "question")
"""The dialogs that say in a line what they ask for. A plan is for a person to read."""


class AutoConfirm(Value):
    """One row of `[[policy.auto_confirm]]`."""

    agent: str = required(AGENT, "the agent whose dialogs are meant")
    kind: str = required(
        text('"permission"', "one of " + ", ".join(f'"{one}"' for one in DIALOGS), lambda text: text in DIALOGS),
        "the dialogs that are meant: " + ", ".join(f"`{one}`" for one in DIALOGS),
    )
    pattern: str = required(
        text(
            '"git (status|diff)"',
            "a regular expression that is not empty and cannot take long",
            printable,
            quick_expression,
        ),
        "a regular expression that must match the whole command, or the whole question",
    )


class Policy(Value):
    """`[policy]` in the settings; for one worker, with the autonomy of its own."""

    autonomy: Autonomy = option(
        AUTONOMY,
        Autonomy.MANUAL,
        "what LLMC may do unasked: `manual` shows problems and never acts; `assist` also moves a worker that waits for "
        "you to `needs_input` and notifies; `auto` also recovers: resends, restarts, nudges, helps with conflicts",
    )
    commit_grace_secs: float = option(
        seconds("30", zero=True),
        30,
        "how long after a commit an agent without events counts as done, if its screen never went quiet",
    )
    crash_limit: int = option(whole(0, 1000, "3"), 3, "crashes after which a worker is not restarted any more")
    restart_backoff_secs: float = option(
        seconds("5", zero=True), 5, "wait before a crashed agent is restarted; twice as long after each crash"
    )
    rate_limit_wait_secs: float = option(
        seconds("300"), 300, "wait after a rate limit, where the agent does not say when it ends"
    )
    quiet_after_secs: float = option(
        seconds("60"), 60, "time without reports after which the screen of a working agent is read as well"
    )
    input_wait_secs: float = option(
        seconds("15"), 15, "time that a text waits for the agent's input line, above all for a draft of yours in it"
    )
    nudge_after_secs: float = option(
        seconds("1800"), 1800, "time without activity after which a working agent is asked how it goes"
    )
    second_nudge_after_secs: float = option(
        seconds("2400"), 2400, "time without activity after which it is asked again"
    )
    escalate_after_secs: float = option(
        seconds("2700"), 2700, "time without activity after which the worker needs input"
    )
    rebase_help_after_secs: float = option(seconds("120"), 120, "time in a conflict after which the agent is sent help")
    rebase_escalate_after_secs: float = option(seconds("300"), 300, "time in a conflict after which the user is called")
    conflict_attempts: int = option(
        whole(0, 1000, "3"), 3, "times that an agent is asked to resolve the same conflict before the user is called"
    )
    crash_count_reset_secs: float = option(
        seconds("86400"), 86_400, "time without a crash after which earlier crashes are forgotten"
    )
    auto_accept: bool = option(
        FLAG,
        False,
        "land work by itself once its checks (`repo.validate`) pass on the very tree that lands; never without checks",
    )
    auto_confirm: tuple[AutoConfirm, ...] = rows(
        AutoConfirm,
        '[{ agent = "claude", kind = "permission", pattern = "git status" }]',
        "dialogs that LLMC may confirm unasked; without a match it never does",
    )

    @property
    def screen_may_move_work(self) -> bool:
        return self.autonomy in (Autonomy.ASSIST, Autonomy.AUTO)

    @property
    def restores_worktrees(self) -> bool:
        """Nothing can be lost by it: what was in the directory is gone already."""
        return self.autonomy in (Autonomy.ASSIST, Autonomy.AUTO)

    @property
    def helps_with_conflicts(self) -> bool:
        return self.autonomy is Autonomy.AUTO

    @property
    def recovers(self) -> bool:
        return self.autonomy is Autonomy.AUTO
