"""`llmc pr`: the work as a branch of a remote, with a pull request."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip
from llmc.commands.shared.elsewhere import PlaceElsewhere, place_elsewhere
from llmc.commands.shared.result import Result
from llmc.core.landing.commit_message import first_line
from llmc.core.lifecycle.effects import MergeWork
from llmc.errors import LlmcError
from llmc.git.copying import bring_objects
from llmc.git.publishing import Forge, branch_of, forge_of, push, remotes
from llmc.model import Worker
from llmc.perform.accept import NotMergedError, commit_of_work
from llmc.site import Site
from llmc.store.machine_file import require_no_hub
from llmc.values import Value

OPEN_SECS = 120.0
KIND = "pr"


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    require_no_hub(site.root, "pull requests are opened there")
    remote = _remote(site, args.remote)
    there, wanted = place_elsewhere(site, args.worker), MergeWork(args.message, args.changed)
    if there is not None:
        made, message = _commit_there(site, there, wanted)
        branch = _push(site, there.worker, remote, made)
    else:
        with acting_for(site, args.worker) as worker:
            made, message = _commit(site, worker, newest_tip(site), wanted)
            branch = _push(site, worker.name, remote, made)
            site.ledger.note(worker.name, site.now(), KIND, f"{branch} at {made[:12]} pushed to {remote}")
    title, _, body = message.partition("\n")
    opened = _open(site, remote, branch, title, body.strip())
    data = {"worker": args.worker, "branch": branch, "remote": remote, "commit": made, "url": opened.url}
    return Result(f"{args.worker}: pushed as {branch} to {remote}\n{opened.words}", data)


def _remote(site: Site, wanted: str | None) -> str:
    known = remotes(site.git, site.config.repo.source)
    chosen = wanted or site.config.repo.push or ("origin" if "origin" in known else next(iter(known), ""))
    if chosen not in known:
        what = f"{site.config.repo.source} has no remote {chosen}".rstrip()
        raise LlmcError(what, f"the remotes there: {', '.join(known) or 'none; `git remote add` makes one'}")
    return chosen


def _commit(site: Site, worker: Worker, tip: str, wanted: MergeWork) -> tuple[str, str]:
    """What accept would not merge is not pushed either."""
    try:
        return commit_of_work(site, worker, tip, wanted)
    except NotMergedError as refused:
        raise _not_pushed(refused) from None


def _commit_there(site: Site, there: PlaceElsewhere, wanted: MergeWork) -> tuple[str, str]:
    from llmc.fleet.calls import Calls
    from llmc.fleet.landing import commit_there

    try:
        with Calls(site) as calls:
            return commit_there(site, calls, calls.machine(there.machine), there.worker, wanted)
    except NotMergedError as refused:
        raise _not_pushed(refused) from None


def _not_pushed(refused: NotMergedError) -> LlmcError:
    what = refused.what.replace("accept needs", "a pull request needs").replace("was merged", "was pushed")
    return LlmcError(what, refused.hint.replace("`llmc accept ", "`llmc pr "))


def _push(site: Site, worker: str, remote: str, made: str) -> str:
    """A branch of that name with other commits is somebody's: the next name is taken then."""
    source, name = site.config.repo.source, f"llmc/{worker}"
    bring_objects(site.git, source, site.root.path, made, made)
    site.progress(f"pushing to {remote}")
    number = 1
    while (there := branch_of(site.git, source, remote, name)) is not None:
        if _same(site, there, made):
            return name  # it was pushed before, and only the request may be missing
        number += 1
        name = f"llmc/{worker}-{number}"
    push(site.git, source, remote, made, name)
    return name


def _same(site: Site, there: str, made: str) -> bool:
    """The same content on the same commit, whenever it was committed."""
    names = [f"{commit}{part}" for part in ("^{tree}", "~1^{commit}") for commit in (there, made)]
    tree, own_tree, onto, own_onto = site.git.objects(site.config.repo.source, *names)
    return tree is not None and (tree, onto) == (own_tree, own_onto)


class Opened(Value):
    words: str
    url: str | None = None


def _open(site: Site, remote: str, branch: str, title: str, body: str) -> Opened:
    """By the forge's own program where it is installed and logged in; else the person does it with one click."""
    source, base = site.config.repo.source, site.config.repo.branch
    forge = forge_of(site.git, source, remote)
    if forge is None:
        return Opened(f"{remote} is no address in the web: open the pull request where the repository lives")
    program, words = _program(forge, base, branch, title, body)
    by_hand = forge.address_for(base, branch)
    if site.host.which(program) is None:
        return Opened(f"open the pull request at {by_hand}", by_hand)
    done = site.host.run([program, *words], cwd=source, timeout=OPEN_SECS)
    if not done.ok:
        return Opened(f"{program} could not open it ({first_line(done.complaint)}): open it at {by_hand}", by_hand)
    url = next((word for word in reversed(done.text.split()) if word.startswith("https://")), by_hand)
    return Opened(f"opened {url}", url)


def _program(forge: Forge, base: str, branch: str, title: str, body: str) -> tuple[str, list[str]]:
    if forge.is_gitlab:
        branches = ["--source-branch", branch, "--target-branch", base]
        return "glab", ["mr", "create", *branches, "--title", title, "--description", body, "--yes"]
    return "gh", [
        "pr",
        "create",
        "--head",
        branch,
        "--base",
        base,
        "--title",
        title,
        "--body",
        body,
        "--repo",
        f"{forge.host}/{forge.path}",
    ]
