"""The memory of a process that lives for weeks."""

from __future__ import annotations

# As `malloc.h` of glibc has them.
M_MMAP_THRESHOLD = -3
M_ARENA_MAX = -8

LARGE_BYTES = 512 << 10
"""More than most states have: to ask the system for each of them would take longer than to read it."""


def keep_one_heap() -> bool:
    """Lets all threads, from now on, allocate from one heap. False where the C library has no such setting.

    glibc gives each thread a heap of its own. What one thread has let go of serves no other then, so that the largest
    pieces that each of them ever needed, such as the whole state, add up over hours. Python runs one thread at a time:
    hardly anybody ever waits for a heap. The largest pieces of all stay out of it and go back to the system at once;
    else glibc would put them into the heap too, from the first one on that is let go of, and leave holes of their size.
    """
    import ctypes

    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # musl, macOS
        return False
    return bool(set_option(M_ARENA_MAX, 1)) and bool(set_option(M_MMAP_THRESHOLD, LARGE_BYTES))
