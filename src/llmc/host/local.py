"""This machine."""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import stat
import subprocess
import termios
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fcntl import ioctl
from pathlib import Path
from typing import IO

from llmc.errors import LlmcError
from llmc.host import try_lock
from llmc.host.base import Completed, ProgramHungError, ProgramMissingError, Talk
from llmc.host.files import NEW_FILE, made_below, open_plain, write_atomically
from llmc.host.processes import descendants, end_all, family, kill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from llmc.host.program_output import ProgramOutput

ANSWERS_WITHIN_SECS = 10.0
LEAVES_WITHIN_SECS = 2.0
HEARD_SECS = 0.5
PAUSE_SECS = 0.001
PIPES_CLOSE_WITHIN_SECS = 1.0
REMOVED_WITHIN_SECS = 1800.0
LARGEST_OF_GIT = 1 << 30
"""Bytes; no index is larger. Git reads some files whole before it looks at them."""


class LocalHost:
    """Runs programs here, each in a process group of its own so that it can be ended whole."""

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float = 120.0,
    ) -> Completed:
        process = _started(argv, cwd, env, subprocess.PIPE if stdin else subprocess.DEVNULL)
        out, err = _finished(process, argv, stdin, timeout)
        return Completed(process.returncode, out, err)

    def run_and_clear(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout: float,
        output: IO[bytes] | None = None,
        leaves: Callable[[], bool] = lambda: False,
        heard: Callable[[str], None] = lambda line: None,
    ) -> Completed:
        from llmc.host.program_output import ProgramOutput  # only checks and setups need it

        process = _started(argv, cwd, env, subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT)
        assert process.stdout is not None
        said = ProgramOutput(process.stdout.fileno(), output)
        try:
            _watched(process, said, time.monotonic() + timeout, leaves, heard)
        except TimeoutError:
            raise _hung(argv, timeout, said.kept) from None
        end_all(descendants(process.pid))
        return Completed(process.returncode, said.kept, b"")

    def talk_to(self, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None) -> Talk:
        return TalkingProgram(argv, env, cwd)

    @contextmanager
    def alone(self, path: str, within: float) -> Iterator[None]:
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        except OSError:  # where no file can be, there are no turns
            yield
            return
        try:
            until = time.monotonic() + within
            while not try_lock(fd) and time.monotonic() < until:
                time.sleep(PAUSE_SECS)  # never longer: whoever comes later would be quicker
            yield
        finally:
            os.close(fd)

    def which(self, program: str) -> str | None:
        return shutil.which(program)

    def environ(self) -> dict[str, str]:
        return dict(os.environ)

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def is_dir(self, path: str) -> bool:
        return Path(path).is_dir()

    def read(self, path: str) -> bytes | None:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        mode = os.fstat(fd).st_mode
        if stat.S_ISREG(mode):
            with open(fd, "rb") as file:
                return file.read()
        os.close(fd)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return None  # a pipe, or a device, that somebody has put there has no end

    def size(self, path: str) -> int | None:
        try:
            return os.lstat(path).st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, path: str, content: bytes) -> None:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, content)

    def move(self, source: str, target: str) -> None:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
        Path(target).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.move(source, target)

    def make_dir(self, path: str) -> None:
        Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)

    def remove_tree(self, path: str) -> None:
        if Path(path).is_dir() and not Path(path).is_symlink():
            self._remove_directory(path)
        else:
            Path(path).unlink(missing_ok=True)

    def _remove_directory(self, path: str) -> None:
        try:
            shutil.rmtree(path)
        except RecursionError:  # some thousand directories in each other
            done = self.run(["rm", "-rf", "--", path], timeout=REMOVED_WITHIN_SECS)
            if not done.ok:
                raise OSError(done.complaint) from None

    def real_path(self, path: str) -> str:
        return str(Path(path).resolve())

    def read_link(self, path: str) -> str | None:
        return str(Path(path).readlink()) if Path(path).is_symlink() else None

    def has_odd_files(self, path: str, leave_out: str, *, links_too: bool) -> bool:
        for folder, directories, files in os.walk(path):
            if any(_is_odd(os.path.join(folder, name), links_too) for name in (*directories, *files)):
                return True
            directories[:] = [name for name in directories if name != leave_out]
        return False

    def make_link(self, target: str, path: str) -> None:
        os.symlink(target, path)

    def copy_file(self, source: str, target: str, *, below: str = "") -> None:
        top = below or os.path.dirname(target)
        if not below:
            Path(top).mkdir(parents=True, exist_ok=True)
        with made_below(top, os.path.dirname(os.path.relpath(target, top))) as at:
            _copy(source, os.path.basename(target), at)

    def has_unread_input(self, tty: str) -> bool:
        return _of_terminal(tty, lambda terminal: ioctl(terminal, termios.FIONREAD, bytes(4)) != bytes(4))

    def reads_lines(self, tty: str) -> bool:
        return _of_terminal(tty, lambda terminal: bool(termios.tcgetattr(terminal)[LOCAL_MODES] & termios.ICANON))


def _is_odd(path: str, links_too: bool) -> bool:
    try:
        seen = os.lstat(path) if links_too else os.stat(path)
    except OSError:
        return False  # gone again
    if stat.S_ISREG(seen.st_mode):
        return seen.st_size > LARGEST_OF_GIT
    return not stat.S_ISDIR(seen.st_mode) and not stat.S_ISSOCK(seen.st_mode)


def _copy(source: str, name: str, at: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at)
    try:
        os.symlink(os.readlink(source), name, dir_fd=at)
    except OSError as refused:
        if refused.errno != errno.EINVAL:
            raise
        # No link. Whoever makes it one in this very moment does not have what that leads to copied.
        with open_plain(source) as file, open(os.open(name, NEW_FILE, 0o600, dir_fd=at), "wb") as copy:
            shutil.copyfileobj(file, copy)
            seen = os.fstat(file.fileno())
            copy.flush()
            os.fchmod(copy.fileno(), stat.S_IMODE(seen.st_mode))
            os.utime(copy.fileno(), ns=(seen.st_atime_ns, seen.st_mtime_ns))


class TalkingProgram:
    """Raises EOFError when the program has ended, or says nothing for too long."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None) -> None:
        self._process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
            bufsize=0,
        )
        self._lines: deque[bytes] = deque()
        self._unfinished = b""

    def say(self, line: bytes) -> None:
        assert self._process.stdin is not None
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[self._process.stdin.write(rest) :]
        except BrokenPipeError:
            raise EOFError("the program has ended") from None

    def hear(self) -> bytes:
        until = time.monotonic() + ANSWERS_WITHIN_SECS
        while not self._lines:
            *complete, self._unfinished = (self._unfinished + self._read(until)).split(b"\n")
            self._lines += complete
        return self._lines.popleft()

    def _read(self, until: float) -> bytes:
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        ready, _, _ = select.select([fd], [], [], max(0.0, until - time.monotonic()))
        data = os.read(fd, 65536) if ready else b""
        if not data:
            raise EOFError("the program has ended or says nothing")
        return data

    def close(self) -> None:
        """Lets the program leave by itself, as it wants to when nobody speaks any more."""
        assert self._process.stdin is not None
        with self._process, suppress(EOFError, OSError):
            self._process.stdin.close()
            until = time.monotonic() + LEAVES_WITHIN_SECS
            try:
                while True:
                    self._read(until)
            finally:
                self._process.kill()


class _Process(subprocess.Popen[bytes]):
    def wait(self, timeout: float | None = None) -> int:
        """Until its very end: Python itself looks only once in a millisecond or more, after each of many programs."""
        if timeout is None or self.returncode is not None or not hasattr(os, "pidfd_open"):
            return super().wait(timeout)
        ended = os.pidfd_open(self.pid)
        try:
            look = select.poll()
            look.register(ended, select.POLLIN)
            look.poll(max(0.0, timeout) * 1000)
        finally:
            os.close(ended)
        return super().wait(0)


def _started(
    argv: Sequence[str],
    cwd: str | None,
    env: Mapping[str, str] | None,
    stdin: int,
    out: IO[bytes] | int = subprocess.PIPE,
    err: IO[bytes] | int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    try:
        return _Process(argv, cwd=cwd, env=env, stdin=stdin, stdout=out, stderr=err, process_group=0)
    except OSError as failure:
        raise _not_started(argv[0], cwd, failure) from failure


def _finished(
    process: subprocess.Popen[bytes], argv: Sequence[str], stdin: bytes, timeout: float
) -> tuple[bytes, bytes]:
    with process:
        try:
            return process.communicate(stdin or None, timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            raise _hung(argv, timeout) from None
        except BaseException:
            _end(process)
            raise


def _hung(argv: Sequence[str], timeout: float, out: bytes = b"") -> ProgramHungError:
    return ProgramHungError(f"`{' '.join(argv[:3])}` did not end within {timeout:.0f} seconds and was stopped", out=out)


def _watched(
    process: subprocess.Popen[bytes],
    said: ProgramOutput,
    until: float,
    leaves: Callable[[], bool],
    heard: Callable[[str], None],
) -> None:
    """Raises TimeoutError."""
    tell_at = time.monotonic() + HEARD_SECS
    with process, _end_of(process) as ended:
        try:
            while process.poll() is None:
                _wait_for([fd for fd in (said.pipe, ended) if fd is not None], until if ended else 0.0)
                said.read()
                now = time.monotonic()
                if now >= until:
                    raise TimeoutError
                if leaves():
                    _end(process)
                if now >= tell_at:
                    heard(said.last_line)
                    tell_at = now + HEARD_SECS
            said.read()
        except BaseException:
            if process.stdout is not None:
                process.stdout.close()  # whoever has left its family may go on writing for ever
            _end(process)
            raise


@contextmanager
def _end_of(process: subprocess.Popen[bytes]) -> Iterator[int | None]:
    """Can be read when the process has ended; None where the system has no such thing."""
    if not hasattr(os, "pidfd_open"):
        yield None
        return
    ended = os.pidfd_open(process.pid)
    try:
        yield ended
    finally:
        os.close(ended)


def _wait_for(files: list[int], until: float) -> None:
    """Until one of them has something to read, and never for long: somebody wants to be told the last line."""
    look = select.poll()
    for fd in files:
        look.register(fd, select.POLLIN)
    look.poll(1000 * max(PAUSE_SECS, min(HEARD_SECS, until - time.monotonic())))


LOCAL_MODES = 3
"""Where `tcgetattr` has them."""


def _of_terminal(tty: str, holds: Callable[[int], bool]) -> bool:
    """False for what is no terminal, or none any more."""
    try:
        terminal = os.open(tty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return holds(terminal)
    except (OSError, termios.error):
        return False
    finally:
        os.close(terminal)


def _end(process: subprocess.Popen[bytes]) -> None:
    members = family(process.pid)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # where there is no process table to read
    kill(members)
    # A program that left its family may hold the pipes open for ever.
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=PIPES_CLOSE_WITHIN_SECS)


def _not_started(program: str, cwd: str | None, failure: OSError) -> LlmcError:
    if cwd is not None and not Path(cwd).is_dir():
        return LlmcError(f"the directory {cwd} is gone", "run `llmc doctor`")
    if isinstance(failure, FileNotFoundError):
        return ProgramMissingError(f"{program} is not installed", f"install {program} and try again")
    return LlmcError(f"{program} does not start: {failure.strerror}", f"see whether you can start {program} yourself")
