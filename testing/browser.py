"""A real Chromium on the pages of `llmc web`, driven as a person would: by what is written on the buttons."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, sync_playwright

from llmc.root import Root
from testing.story import LLMC

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",
)
PATIENCE_MS = 120_000
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


def require_chromium() -> None:
    """Skips where there is none; where everything must be there, that is a failure."""
    if shutil.which(CHROMIUM):
        return
    missing = f"{CHROMIUM} is missing: apt-get install chromium"
    if os.environ.get("LLMC_REQUIRE_AGENTS") == "1":
        pytest.fail(missing)
    pytest.skip(missing)


@contextmanager
def a_browser(program: str = CHROMIUM) -> Iterator[Browser]:
    """`program` is another one that runs Chromium: in another namespace, say."""
    require_chromium()
    with sync_playwright() as playwright:
        browser = _launch(playwright, program)
        try:
            yield browser
        finally:
            browser.close()


def _launch(playwright: Playwright, program: str) -> Browser:
    return playwright.chromium.launch(executable_path=program, args=list(FLAGS), chromium_sandbox=False)


@dataclass(slots=True)
class Visitor:
    """Somebody at the pages. Whatever the browser complains about is kept."""

    page: Page
    address: str
    """With its token."""
    complaints: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    """Complaints that the test itself gives cause for: a server that is away, say."""

    def open(self, path: str = "/") -> Page:
        base, _, token = self.address.partition("#")
        self.page.goto(f"{base.rstrip('/')}{path}" + (f"#{token}" if token else ""))
        return self.page

    def check(self) -> None:
        unexpected = [each for each in self.complaints if not any(words in each for words in self.expected)]
        assert unexpected == []

    def hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")


@contextmanager
def a_visitor(browser: Browser, address: str, viewport: dict[str, int], *, dark: bool = False) -> Iterator[Visitor]:
    is_phone = viewport["width"] < 500
    context: BrowserContext = browser.new_context(
        viewport=viewport,  # type: ignore[arg-type]
        has_touch=is_phone,
        is_mobile=is_phone,
        device_scale_factor=2,
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    visitor = Visitor(page, address)
    page.on("console", lambda message: visitor.hear(message))
    page.on("pageerror", lambda error: visitor.complaints.append(f"{error}"))
    try:
        yield visitor
    finally:
        context.close()


@dataclass(slots=True)
class WebServer:
    """`llmc web` of one root, as a process of its own."""

    root: Root
    llmc: Sequence[str] = LLMC
    env: Mapping[str, str] | None = None
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    said: dict[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return str(self.said["url"])

    @property
    def address(self) -> str:
        """With the token."""
        return f"{self.url}#token={self.said['token']}"

    def start(self, *words: str) -> None:
        command = [*self.llmc, "--root", self.root.path, "web", "--json", f"--port={self.port}", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=self.env)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"`llmc web` ended with {self.process.wait()}"
        self.said = json.loads(line)
        self.port = int(self.url.rstrip("/").rpartition(":")[2])

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process.wait()
            self.process = None


@contextmanager
def a_server(root: Root, llmc: Sequence[str] = LLMC, env: Mapping[str, str] | None = None) -> Iterator[WebServer]:
    server = WebServer(root, llmc, env)
    server.start()
    try:
        yield server
    finally:
        server.end()
