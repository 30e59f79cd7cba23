"""A machine that says whatever a test wants: `lying_machine.py DIRECTORY` stands at the other end of a reach.

`first` in the directory is said at once, `answer` to each line that comes, with the question's number for `ID`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> int:
    directory, out = Path(sys.argv[1]), sys.stdout.buffer
    out.write((directory / "first").read_bytes())
    out.flush()
    for line in sys.stdin:
        number = json.loads(line)["id"]
        out.write((directory / "answer").read_bytes().replace(b"ID", str(number).encode()))
        out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
