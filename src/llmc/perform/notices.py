"""Telling the person. Never in the way of anything: a notice that cannot be given is dropped."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle.effects import Notify
from llmc.core.lifecycle.table import Decision
from llmc.core.notice import Notice, plain_notice
from llmc.host.background import Errands
from llmc.model import Worker
from llmc.site import Site
from llmc.store.event_log import LoggedEvent
from llmc.tmux.server import Tmux
from llmc.tmux.windows import own_server

CALLS = frozenset(
    (
        *("needs_review", "checks_failed", "needs_input", "error", "crashed", "conflict", "blocked", "stuck"),
        *("landed", "train", "budget"),
    )
)
ERRANDS = Errands()


def tell(site: Site, *decisions: Decision) -> None:
    now = site.now()
    told = [(decision.worker, notice) for decision in decisions for notice in decision.notices]
    texts = [_with_diagnostics(site, worker, notice) for worker, notice in told]
    named = [(worker.name, notice, text) for (worker, notice), text in zip(told, texts, strict=True)]
    site.ledger.write(*(LoggedEvent(now, name, "notice", detail=text) for name, _, text in named))
    for name, notice, text in named:
        if notice.kind in CALLS:
            call(site, plain_notice(name, notice.kind, text), silent=_is_silent(site, notice))


def _with_diagnostics(site: Site, worker: Worker, notice: Notify) -> str:
    """What the person is told; when somebody is called for good, with the place where all that is known is kept."""
    from llmc.perform.diagnostics import write_bundle

    written = write_bundle(site, worker, notice.text) if notice.escalates else None
    return f"{notice.text}; what is known is in {written}" if written else notice.text


def call(site: Site, notice: Notice, *, silent: bool = False) -> None:
    """In the clients that look at the workers, and in the person's own tmux where we were started in one."""
    from llmc.perform.channels import Caller  # slow to load, and most commands call nobody

    settings = replace(site.config.notify, bell=False) if silent else site.config.notify
    servers = [Tmux(site.host, server) for server in servers_of(site)]
    Caller(site.host, settings, ERRANDS).call(notice, servers)


def servers_of(site: Site) -> list[str]:
    """Where somebody may look: the server of the workers, and the person's own where we were started in one."""
    own = own_server(site.host.environ())
    return [site.tmux.socket, *([own] if own else [])]


def _is_silent(site: Site, notice: Notify) -> bool:
    return notice.kind == "needs_review" and not site.config.defaults.sound_on_review
