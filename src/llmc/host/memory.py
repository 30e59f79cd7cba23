"""The memory of a process that lives for weeks."""

from __future__ import annotations

M_ARENA_MAX = -8
"""As `malloc.h` of glibc has it."""


def keep_one_heap() -> bool:
    """Lets all threads, from now on, allocate from one heap. False where there is one anyway (musl, macOS).

    glibc gives each thread a heap of its own. What one thread has let go of serves no other then, so that the largest
    pieces that each of them ever needed, such as the whole state, add up over hours. Python runs one thread at a time:
    hardly anybody ever waits for a heap.
    """
    import ctypes

    try:
        return bool(ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1))
    except (OSError, AttributeError):
        return False
