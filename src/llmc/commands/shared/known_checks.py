"""What is known of the checks of work that somebody looks at: on the very tree that would land."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from llmc.core.display import age
from llmc.core.landing.plan import AcceptPlan, MakeCommit
from llmc.core.tasks.checks import TreeVerdict
from llmc.errors import LlmcError
from llmc.perform.checks import failure_words, known_verdict, state_of
from llmc.site import Site


def check_lines(site: Site, plan: AcceptPlan | LlmcError) -> list[str]:
    listed = ", ".join(f"`{command}`" for command in site.config.repo.validate)
    if not listed:
        return ["none are set (repo.validate)"]
    verdict = _verdict(site, plan)
    if verdict is None:
        early = site.config.repo.validate_on == "review"
        when = "no result for this tree yet; the daemon runs them, or accept does" if early else "run when you accept"
        return [f"{listed}: {when}"]
    ago = f"{age(site.now() - verdict.at_unix)} ago on this very tree"
    if verdict.failed is None:
        return [f"passed {ago}: {listed}"]
    first, *rest = failure_words(verdict.failed).splitlines()
    return [f"{first.rstrip(':')}, {ago}{':' if rest else ''}", *rest]


def checks_data(site: Site, plan: AcceptPlan | LlmcError) -> dict[str, Any]:
    verdict = _verdict(site, plan) if site.config.repo.validate else None
    if verdict is None:
        return {"state": "none", "failed": None, "at_unix": None, "results": []}
    return {
        "state": state_of(verdict),
        "failed": verdict.failed.command if verdict.failed is not None else None,
        "at_unix": verdict.at_unix,
        "results": [asdict(result) for result in verdict.results],
    }


def checks_fail(site: Site, plan: AcceptPlan | LlmcError) -> bool:
    """Where that is known."""
    verdict = _verdict(site, plan)
    return verdict is not None and not verdict.passed


def _verdict(site: Site, plan: AcceptPlan | LlmcError) -> TreeVerdict | None:
    steps = plan.steps if isinstance(plan, AcceptPlan) else ()
    tree = next((step.tree for step in steps if isinstance(step, MakeCommit)), None)
    return known_verdict(site, tree) if tree is not None else None
