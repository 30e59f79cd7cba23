from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from llmc.host import memory

THREADS_THAT_ALLOCATE = """
import ctypes
import threading
from llmc.host.memory import keep_one_heap

assert keep_one_heap()
everybody = threading.Barrier(8)

def allocate():
    everybody.wait()
    kept = [bytes(size) for size in range(1000, 9000)]
    everybody.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has more than one heap")
def test_all_threads_allocate_from_one_heap():
    told = subprocess.run(
        [sys.executable, "-c", THREADS_THAT_ALLOCATE], check=True, capture_output=True, text=True, timeout=120
    ).stderr
    assert told.count("Arena ") == 1, told


def test_where_the_library_has_no_such_setting_nothing_happens(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    assert not memory.keep_one_heap()
