"""Standard input and output of a program that speaks a protocol by them."""

from __future__ import annotations

import os
from typing import BinaryIO


def take_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """For the protocol alone: whatever else reads finds nothing, and what else is printed goes to standard error."""
    read, write = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return read, write
