"""`python -m testing.models --port 8099`: the model server for a look by hand, scripted by words in the prompt."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from testing.models.server import ModelServer


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m testing.models", description="A scripted model on loopback.")
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    parser.add_argument("--log", type=Path, help="append one line of JSON for each request to this file")
    words = parser.parse_args()
    signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # before the threads begin, so that they have it too
    with ModelServer.start(port=words.port, log=words.log) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        signal.sigwait(signals)
    return 0


if __name__ == "__main__":
    sys.exit(main())
