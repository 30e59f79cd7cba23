"""What is kept of the server of a root: where it is while it runs, and what the next one takes over.

`run/web.json` is there only while one runs, or was killed. `run/web-key.json` stays: with the key that signs cookies,
so that pages come back by themselves after a restart, and with the port that they come back to.
"""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from pathlib import Path

from llmc.daemon.process import living_holder
from llmc.errors import LlmcError
from llmc.host.files import read_own, write_atomically
from llmc.host.locks import FileLock
from llmc.root import Root
from llmc.values import Value


class WebRecord(Value):
    url: str
    token: str
    pid: int

    @property
    def address(self) -> str:
        """With the token in the fragment, which no browser sends to anybody."""
        return f"{self.url}#token={self.token}"


class KeptForNext(Value):
    key: str
    port: int


def web_lock(root: Root) -> FileLock:
    return FileLock(root.inside("run", "web.lock"), name="the web server", timeout=1.0)


def running_web(root: Root) -> WebRecord | None:
    """The server that runs; None where there is none, whatever one that was killed has left."""
    holder = living_holder(root.inside("run", "web.lock"))
    if holder is None:
        return None
    known = _read(_record(root))
    url, token = known.get("url"), known.get("token")
    is_his = known.get("pid") == holder.pid and isinstance(url, str) and isinstance(token, str)
    return WebRecord(str(url), str(token), holder.pid) if is_his else WebRecord("", "", holder.pid)


def refuse_second_web(root: Root) -> None:
    running = running_web(root)
    if running is not None:
        where = f" at {running.url}" if running.url else ""
        raise LlmcError(
            f"the web server of {root.path} runs already{where} (pid {running.pid})",
            f"its address with the token is in {_record(root)}; `llmc web --stop` ends it",
        )


def write_record(root: Root, record: WebRecord) -> None:
    data = {"url": record.url, "token": record.token, "pid": record.pid}
    _write(_record(root), data)


def remove_record(root: Root) -> None:
    Path(_record(root)).unlink(missing_ok=True)


def kept_for_next(root: Root) -> KeptForNext:
    """Made anew where there is none."""
    known = _read(_kept(root))
    key, port = known.get("key"), known.get("port")
    usable = isinstance(key, str) and len(key) >= 64
    return KeptForNext(str(key) if usable else secrets.token_hex(32), port if isinstance(port, int) else 0)


def keep_for_next(root: Root, kept: KeptForNext) -> None:
    _write(_kept(root), {"key": kept.key, "port": kept.port})


def _record(root: Root) -> str:
    return root.inside("run", "web.json")


def _kept(root: Root) -> str:
    return root.inside("run", "web-key.json")


def _read(path: str) -> dict[str, object]:
    with suppress(OSError, ValueError):
        data = json.loads(read_own(path))
        return data if isinstance(data, dict) else {}
    return {}


def _write(path: str, data: dict[str, object]) -> None:
    write_atomically(path, json.dumps(data).encode(), mode=0o600)
