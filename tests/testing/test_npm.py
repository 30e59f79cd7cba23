from __future__ import annotations

import json
from pathlib import Path

import pytest

from testing.npm import ForeignPackageError, require_pinned

PINS = Path(__file__).parent.parent.parent / "testing" / "agent-versions.json"


def test_every_program_of_npm_has_its_checksum() -> None:
    pins = json.loads(PINS.read_text("utf-8")).values()
    assert {pin["package"] for pin in pins if not pin.get("integrity", "").startswith("sha512-")} == {"aider-chat"}


def test_what_is_not_what_was_pinned_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps({"packages": {"node_modules/good": {"integrity": "sha512-good"}}}))
    require_pinned(lock, {"good": "sha512-good"})
    for package, integrity in (("good", "sha512-other"), ("missing", "sha512-good")):
        with pytest.raises(ForeignPackageError, match=package):
            require_pinned(lock, {package: integrity})
