"""How much LLMC may do by itself, and after how long."""

from __future__ import annotations

from llmc.model import Autonomy
from llmc.values import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    autonomy: Autonomy = Autonomy.MANUAL
    commit_grace_secs: float = 30.0
    crash_limit: int = 3
    restart_backoff_secs: float = 5.0
    crash_count_reset_secs: float = 86_400.0
    rebase_help_after_secs: float = 120.0
    rebase_escalate_after_secs: float = 300.0
    conflict_attempts: int = 3
    rate_limit_wait_secs: float = 300.0
    quiet_after_secs: float = 60.0
    nudge_after_secs: float = 1_800.0
    second_nudge_after_secs: float = 2_400.0
    escalate_after_secs: float = 2_700.0

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
