from __future__ import annotations

import platform
import re
import subprocess
import sys

import pytest

from llmc.host import malloc

THREADS_THAT_ALLOCATE = """
import ctypes
import threading
from llmc.host.malloc import keep_one_heap

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


LARGE_PIECES = """
import ctypes
from llmc.host.malloc import keep_one_heap

assert keep_one_heap()
larger = bytes(4 << 20)
del larger
kept = [bytes(1 << 20) for _ in range(8)]
ctypes.CDLL(None).malloc_stats()
"""
only_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no other library has these settings")


def statistics_of(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120)
    return done.stderr


@only_glibc
def test_all_threads_allocate_from_one_heap():
    told = statistics_of(THREADS_THAT_ALLOCATE)
    assert told.count("Arena ") == 1, told


@only_glibc
def test_large_pieces_stay_out_of_the_heap_though_a_larger_one_was_let_go_of():
    told = statistics_of(LARGE_PIECES)
    (outside,) = re.findall(r"max mmap bytes *= *(\d+)", told)
    assert int(outside) >= 8 << 20, told


def test_where_the_library_has_no_such_setting_nothing_happens(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    assert not malloc.keep_one_heap()
