"""A filter of system calls, as the kernel reads it: nothing inside types into the terminal or reads the kernel's keys.

The terminal is the person's, too: what TIOCSTI or TIOCLINUX puts into it would be read by whatever runs there next,
outside of the fence. And the kernel's keyrings belong to the user, not to a namespace.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from llmc.values import Value

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _MACHINE_AT, _SECOND_ARGUMENT_AT = 0, 4, 24
"""In `struct seccomp_data`; of the argument the lower half, which is all that the kernel looks at."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
_OTHER_ABI = 0x40000000
"""From here on x86_64 has the same calls again under other numbers."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C


class CallNumbers(Value):
    audit: int
    ioctl: int
    keys: tuple[int, ...]
    """add_key, request_key, keyctl."""


NUMBERS: Mapping[str, CallNumbers] = {
    "x86_64": CallNumbers(0xC000003E, 16, (248, 249, 250)),
    "aarch64": CallNumbers(0xC00000B7, 29, (217, 218, 219)),
}


def terminal_filter(machine: str) -> bytes | None:
    """None for a machine whose calls are not known."""
    known = NUMBERS.get(machine)
    return _assembled(known) if known is not None else None


def _assembled(numbers: CallNumbers) -> bytes:
    """Each test jumps to the last instruction, which refuses; whatever passes all of them is allowed."""
    tests: list[tuple[int, int, bool]] = [
        (_LOAD, _MACHINE_AT, False),
        (_EQUAL, numbers.audit, True),
        (_LOAD, _NUMBER_AT, False),
        (_AT_LEAST, _OTHER_ABI, False),
        *((_EQUAL, number, False) for number in numbers.keys),
    ]
    tail = 6  # instructions from the question whether it is ioctl to the refusal, the latter included
    refusal = len(tests) + tail - 1
    words = [_test(code, value, refusal - at - 1, negated) for at, (code, value, negated) in enumerate(tests)]
    words += [
        struct.pack("<HBBI", _EQUAL, 0, 3, numbers.ioctl),
        struct.pack("<HBBI", _LOAD, 0, 0, _SECOND_ARGUMENT_AT),
        struct.pack("<HBBI", _EQUAL, 2, 0, TIOCSTI),
        struct.pack("<HBBI", _EQUAL, 1, 0, TIOCLINUX),
        struct.pack("<HBBI", _RETURN, 0, 0, _ALLOW),
        struct.pack("<HBBI", _RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(words)


def _test(code: int, value: int, to_refusal: int, negated: bool) -> bytes:
    if code == _LOAD:
        return struct.pack("<HBBI", code, 0, 0, value)
    jumps = (0, to_refusal) if negated else (to_refusal, 0)
    return struct.pack("<HBBI", code, *jumps, value)
