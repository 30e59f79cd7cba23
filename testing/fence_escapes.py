"""What somebody inside a fence tries, run in there by itself: `python fence_escapes.py PLACES RESULTS`, files of JSON.

Every attempt answers whether it has got what it wanted. What it changed outside, if anything, is for the test to see.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import glob
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PLACES: dict[str, str] = {}
ATTEMPTS: dict[str, Callable[[], object]] = {}
TIOCSTI, TIOCLINUX, PTRACE_ATTACH = 0x5412, 0x541C, 16
NUMBERS = {"x86_64": (16, 250, 304, 248, 310, 316), "aarch64": (29, 219, 265, 217, 270, 276)}
"""ioctl, keyctl, open_by_handle_at, add_key, process_vm_readv, renameat2."""
OPEN_TREE, FSOPEN, PIDFD_OPEN, MOUNT_SETATTR, CLONE3 = 428, 430, 434, 442, 435
"""The same on every machine."""
NEW_USER, NEW_MOUNTS, AT_FDCWD, EXCHANGE, CLONE_TREE = 0x10000000, 0x00020000, -100, 2, 1
LIBC = ctypes.CDLL(None, use_errno=True)


def attempt(act: Callable[[], object]) -> Callable[[], object]:
    ATTEMPTS[act.__name__] = act
    return act


def write(path: str) -> bool:
    with open(path, "a", encoding="utf-8") as file:
        file.write("escaped\n")
    return True


def read(path: str) -> bool:
    return b"secret" in Path(path).read_bytes()


def git(*words: str, cwd: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], capture_output=True, text=True, cwd=cwd, check=False, timeout=20)


def call(number: int, *words: int | bytes) -> bool:
    """A system call by its number: whether the kernel lets it through."""
    ctypes.set_errno(0)
    ended = LIBC.syscall(
        ctypes.c_long(number), *(ctypes.c_char_p(w) if isinstance(w, bytes) else ctypes.c_ulong(w) for w in words)
    )
    return bool(ended != -1)


def mount(*words: str) -> bool:
    return subprocess.run(words, capture_output=True, check=False, timeout=20).returncode == 0


# --- the person's checkout, and other workers -------------------------------------------------------


@attempt
def writes_to_the_checkout() -> object:
    return write(f"{PLACES['source']}/README")


@attempt
def reads_the_checkout() -> object:
    return os.listdir(PLACES["source"])


@attempt
def writes_a_hook_into_the_checkout() -> object:
    return write(f"{PLACES['source']}/.git/hooks/post-commit")


@attempt
def makes_a_file_beside_the_checkout() -> object:
    write(f"{PLACES['source']}-beside")
    return False  # in a place of its own: the test sees whether it is there outside


@attempt
def writes_to_another_worktree() -> object:
    return write(f"{PLACES['root']}/.worktrees/other/README")


@attempt
def reads_another_worktree() -> object:
    return os.listdir(f"{PLACES['root']}/.worktrees/other")


@attempt
def reads_another_ones_record() -> object:
    return os.listdir(f"{PLACES['root']}/.git/worktrees/other")


@attempt
def reports_for_another_worker() -> object:
    return write(f"{PLACES['root']}/run/spool/other/1-1.json")


@attempt
def reads_another_ones_settings() -> object:
    return os.listdir(f"{PLACES['root']}/run/agents/other")


@attempt
def enters_another_ones_fence() -> object:
    return os.listdir(f"{PLACES['root']}/run/fence/other")


# --- LLMC itself ------------------------------------------------------------------------------------


@attempt
def writes_the_state() -> object:
    return write(f"{PLACES['root']}/state.json")


@attempt
def reads_the_state() -> object:
    return Path(f"{PLACES['root']}/state.json").read_bytes()


@attempt
def reads_the_settings() -> object:
    return Path(f"{PLACES['root']}/config.toml").read_bytes()


@attempt
def switches_the_fence_off() -> object:
    return write(f"{PLACES['root']}/config.toml")


@attempt
def rewrites_its_own_order() -> object:
    return write(f"{PLACES['root']}/run/fence/adam/order")


@attempt
def configures_git_for_llmc() -> object:
    return write(f"{PLACES['root']}/run/git/config")


@attempt
def takes_a_lock() -> object:
    return write(f"{PLACES['root']}/run/locks/other.lock")


@attempt
def runs_llmc() -> object:
    words = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", PLACES["root"], "accept", "other"]
    return subprocess.run(words, capture_output=True, check=False, timeout=30).returncode == 0


# --- git --------------------------------------------------------------------------------------------


@attempt
def reads_another_branch() -> object:
    return git("rev-parse", "--verify", "refs/heads/llmc/other").returncode == 0


@attempt
def deletes_the_clones_objects() -> object:
    objects = f"{PLACES['root']}/.git/clone-objects"
    shutil.rmtree(objects, ignore_errors=True)
    return not any(os.scandir(objects))


@attempt
def adds_to_the_clones_objects() -> object:
    return write(f"{PLACES['root']}/.git/clone-objects/pack/x.pack")


@attempt
def takes_objects_from_elsewhere() -> object:
    return write(f"{PLACES['root']}/.git/objects/info/alternates")


@attempt
def puts_other_objects_in_place() -> object:
    objects = f"{PLACES['root']}/.git/objects"
    os.rename(objects, f"{objects}.old")
    os.symlink(f"{PLACES['source']}/.git/objects", objects)
    return True


@attempt
def puts_another_record_in_place() -> object:
    record = f"{PLACES['root']}/.git/worktrees/adam"
    os.rename(record, f"{record}.old")
    return True


@attempt
def pushes_to_origin() -> object:
    return git("push", "origin", "HEAD:refs/heads/main").returncode == 0


@attempt
def pushes_to_the_path() -> object:
    return git("push", PLACES["source"], "HEAD:refs/heads/main").returncode == 0


@attempt
def redirects_its_git_directory() -> object:
    pointer = Path(".git")
    kept = pointer.read_text()
    pointer.write_text(f"gitdir: {PLACES['source']}/.git\n")
    try:
        return git("rev-parse", "--verify", "HEAD").returncode == 0
    finally:
        pointer.write_text(kept)


@attempt
def adds_a_worktree_of_the_checkout() -> object:
    return git("-C", PLACES["source"], "worktree", "add", "/tmp/mine").returncode == 0


# --- keys and logins --------------------------------------------------------------------------------


@attempt
def reads_an_ssh_key() -> object:
    return read(f"{PLACES['home']}/.ssh/id_ed25519")


@attempt
def reads_cloud_credentials() -> object:
    return read(f"{PLACES['home']}/.aws/credentials")


@attempt
def reads_the_keyring_of_gnupg() -> object:
    return read(f"{PLACES['home']}/.gnupg/secring")


@attempt
def reads_forge_credentials() -> object:
    return read(f"{PLACES['home']}/.config/gh/hosts.yml") or read(f"{PLACES['home']}/.git-credentials")


@attempt
def reads_the_shell_history() -> object:
    return read(f"{PLACES['home']}/.bash_history")


@attempt
def reads_a_login_that_a_variable_names() -> object:
    return read(f"{PLACES['home']}/elsewhere/auth.json")


@attempt
def reads_its_persons_claude_login() -> object:
    return read(f"{PLACES['home']}/.claude/.credentials.json")


@attempt
def writes_a_hook_that_runs_unfenced() -> object:
    return write(f"{PLACES['home']}/.claude/settings.json")


@attempt
def writes_to_the_persons_shell() -> object:
    return write(f"{PLACES['home']}/.bashrc")


@attempt
def reads_passwords_of_the_system() -> object:
    return Path("/etc/shadow").read_bytes()


@attempt
def finds_a_token_in_its_environment() -> object:
    return any("secret" in value for value in os.environ.values())


@attempt
def finds_a_token_in_any_environment() -> object:
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            found.append(b"secret" in Path(path).read_bytes())
        except OSError:
            continue
    return any(found)


@attempt
def reads_the_kernels_keys() -> object:
    return call(NUMBERS[platform.machine()][1], 0, 0xFFFFFFFD, 1)  # KEYCTL_GET_KEYRING_ID of the session


# --- processes, sockets, devices --------------------------------------------------------------------


@attempt
def traces_the_daemon() -> object:
    return LIBC.ptrace(PTRACE_ATTACH, int(PLACES["daemon"]), None, None) == 0


@attempt
def signals_the_daemon() -> object:
    os.kill(int(PLACES["daemon"]), signal.SIGTERM)
    return True


@attempt
def sees_processes_outside() -> object:
    return any("tmux" in Path(path).read_text() for path in glob.glob("/proc/[0-9]*/comm"))


@attempt
def reads_through_the_root_of_a_process() -> object:
    return any(os.path.exists(f"{root}{PLACES['root']}/state.json") for root in glob.glob("/proc/[0-9]*/root"))


@attempt
def reads_through_the_directory_of_a_process() -> object:
    return any(os.path.exists(f"{cwd}/../../state.json") for cwd in glob.glob("/proc/[0-9]*/cwd"))


@attempt
def types_into_the_tmux_server() -> object:
    found = subprocess.run(["tmux", "-S", PLACES["tmux"], "list-sessions"], capture_output=True, check=False)
    return found.returncode == 0


@attempt
def asks_the_ssh_agent() -> object:
    with socket.socket(socket.AF_UNIX) as agent:
        agent.connect(PLACES["agent"])
    return True


@attempt
def finds_sockets_of_the_system() -> object:
    places = ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/containerd", "/run/user")
    return any(map(os.path.exists, places)) or os.listdir("/run")


@attempt
def types_into_its_terminal() -> object:
    return _ioctl(TIOCSTI, b"x")


@attempt
def types_by_another_number() -> object:
    terminal = os.open("/dev/tty", os.O_RDWR)
    return call(NUMBERS[platform.machine()][0], terminal, 0xDEAD_0000_0000 | TIOCSTI, b"x")


@attempt
def types_by_the_other_calling_convention() -> object:
    terminal = os.open("/dev/tty", os.O_RDWR)
    return platform.machine() == "x86_64" and call(0x40000000 | 514, terminal, TIOCSTI, b"x")


@attempt
def pastes_into_the_console() -> object:
    return _ioctl(TIOCLINUX, b"\x03")


def _ioctl(number: int, word: bytes) -> bool:
    terminal = os.open("/dev/tty", os.O_RDWR)
    try:
        fcntl.ioctl(terminal, number, word)
    except OSError as refused:
        return refused.errno not in (errno.EPERM, errno.EACCES)
    finally:
        os.close(terminal)
    return True


@attempt
def opens_other_terminals() -> object:
    return [path for path in glob.glob("/dev/pts/[0-9]*") if os.open(path, os.O_RDWR | os.O_NOCTTY)]


@attempt
def makes_a_device() -> object:
    os.mknod("/tmp/disk", 0o60600, os.makedev(254, 0))
    return bool(os.open("/tmp/disk", os.O_RDONLY))


@attempt
def opens_the_memory() -> object:
    return [path for path in ("/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/kvm") if os.path.exists(path)]


# --- links, mounts, namespaces ----------------------------------------------------------------------


@attempt
def follows_a_link_to_the_checkout() -> object:
    os.symlink(PLACES["source"], "way-out")
    try:
        return write("way-out/README")
    finally:
        os.unlink("way-out")


@attempt
def links_a_key_by_a_hard_link() -> object:
    os.link(f"{PLACES['home']}/.ssh/id_ed25519", "key")
    return True


@attempt
def links_a_program_of_the_system() -> object:
    os.link("/usr/bin/env", "env")
    return True


@attempt
def makes_a_namespace() -> object:
    return mount("unshare", "--user", "--map-root-user", "--mount", "true")


@attempt
def takes_a_mount_away() -> object:
    return mount("umount", f"{PLACES['root']}/.git/clone-objects") or mount("umount", "-l", "/tmp")


@attempt
def makes_the_system_writable() -> object:
    return mount("mount", "-o", "remount,rw", "/usr") or write("/usr/bin/env")


@attempt
def opens_a_file_by_its_handle() -> object:
    handle = (8).to_bytes(4, "little") + (1).to_bytes(4, "little") + bytes(16)
    return call(NUMBERS[platform.machine()][2], os.open(".", os.O_RDONLY), handle, os.O_RDONLY)


@attempt
def changes_its_root() -> object:
    os.chroot("/proc/1/root")
    return True


@attempt
def configures_the_kernel() -> object:
    places = ("sys/kernel/core_pattern", "sys/kernel/modprobe", "sys/vm/drop_caches", "sysrq-trigger", "mtrr")
    return any(_can_be_opened(f"/proc/{place}") for place in places)


def _can_be_opened(path: str) -> bool:
    """Without writing anything: it would be the kernel of whoever runs the tests."""
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return False
    return True


# --- more of the same, by other ways ------------------------------------------------------------------


@attempt
def connects_to_a_socket_without_a_file() -> object:
    with socket.socket(socket.AF_UNIX) as screen:
        screen.connect(f"\0{PLACES['abstract']}" if PLACES["abstract"] else "")
    return True


@attempt
def finds_the_sockets_of_the_screen() -> object:
    return os.path.exists("/tmp/.X11-unix") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ


@attempt
def has_files_open_that_lead_outside() -> object:
    found = [os.readlink(path) for path in glob.glob("/proc/self/fd/*") if os.path.lexists(path)]
    return [path for path in found if PLACES["home"] in path or path.endswith((".git", "llmc", "order"))]


@attempt
def reads_through_open_files_of_the_first_process() -> object:
    return any(os.path.isdir(f"{path}/..") for path in glob.glob("/proc/1/fd/*"))


@attempt
def reads_the_memory_of_the_daemon() -> object:
    number = NUMBERS[platform.machine()][4]
    local = (ctypes.c_ulong * 2)(0, 8)
    return call(number, int(PLACES["daemon"]), bytes(local), 1, bytes(local), 1, 0)


@attempt
def takes_a_handle_of_the_daemon() -> object:
    return call(PIDFD_OPEN, int(PLACES["daemon"]), 0)


@attempt
def makes_a_user_of_its_own() -> object:
    return LIBC.unshare(NEW_USER) == 0


@attempt
def makes_mounts_of_its_own() -> object:
    return LIBC.unshare(NEW_MOUNTS) == 0


@attempt
def makes_a_user_by_the_newer_call() -> object:
    words = NEW_USER.to_bytes(8, "little") + bytes(24) + int(signal.SIGCHLD).to_bytes(8, "little") + bytes(24)
    made = LIBC.syscall(ctypes.c_long(CLONE3), ctypes.c_char_p(words), ctypes.c_ulong(len(words)))
    if made == 0:
        os._exit(0)
    return made > 0


@attempt
def copies_the_mounts() -> object:
    return call(OPEN_TREE, AT_FDCWD & 0xFFFFFFFF, b"/", CLONE_TREE)


@attempt
def makes_a_file_system() -> object:
    return call(FSOPEN, b"tmpfs", 0)


@attempt
def makes_a_mount_writable_by_the_newer_call() -> object:
    words = bytes(8) + (1).to_bytes(8, "little") + bytes(16)  # clears "read-only"
    return call(MOUNT_SETATTR, AT_FDCWD & 0xFFFFFFFF, b"/usr", 0, words, len(words))


@attempt
def enters_the_namespaces_of_the_first_process() -> object:
    return LIBC.setns(os.open("/proc/1/ns/mnt", os.O_RDONLY), 0) == 0


@attempt
def keeps_a_key_in_the_kernel() -> object:
    return call(NUMBERS[platform.machine()][3], b"user", b"escaped", b"x", 1, 0xFFFFFFFC)


@attempt
def swaps_a_file_with_the_persons() -> object:
    Path("mine").write_text("escaped")
    return call(
        NUMBERS[platform.machine()][5],
        *(AT_FDCWD & 0xFFFFFFFF, b"mine", AT_FDCWD & 0xFFFFFFFF, f"{PLACES['home']}/.bashrc".encode(), EXCHANGE),
    )


@attempt
def makes_the_persons_files_anybodys() -> object:
    os.chmod(f"{PLACES['home']}/.bashrc", 0o777)
    return True


@attempt
def puts_a_program_before_the_persons() -> object:
    return write(f"{PLACES['home']}/.local/bin/git") or write("/usr/local/bin/git")


@attempt
def starts_with_the_persons_desktop() -> object:
    os.makedirs(f"{PLACES['home']}/.config/autostart")
    return True


@attempt
def puts_another_worktree_in_place() -> object:
    os.rename(os.getcwd(), f"{os.getcwd()}.old")
    return True


@attempt
def makes_a_worktree_beside_its_own() -> object:
    os.mkdir(f"{PLACES['root']}/.worktrees/mine")
    return True


@attempt
def reads_the_logs() -> object:
    return os.listdir(f"{PLACES['root']}/logs")


@attempt
def reads_what_others_show_on_their_screens() -> object:
    return os.listdir(f"{PLACES['root']}/.workers") or os.listdir(f"{PLACES['root']}/run/attention")


@attempt
def links_an_object_of_the_clone() -> object:
    found = glob.glob(f"{PLACES['root']}/.git/clone-objects/??/*")
    os.link(found[0], "object")
    return True


@attempt
def clones_the_checkout() -> object:
    return git("clone", f"file://{PLACES['source']}", "/tmp/clone").returncode == 0


@attempt
def takes_objects_from_the_checkout() -> object:
    os.environ["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = f"{PLACES['source']}/.git/objects"
    try:
        return git("cat-file", "-e", PLACES["unknown"]).returncode == 0
    finally:
        del os.environ["GIT_ALTERNATE_OBJECT_DIRECTORIES"]


@attempt
def finds_control_groups_of_the_system() -> object:
    return os.path.exists("/sys/fs/cgroup") or os.path.exists("/sys/kernel")


@attempt
def reads_the_memory_of_the_kernel() -> object:
    return bool(os.open("/proc/kcore", os.O_RDONLY))


def main() -> None:
    PLACES.update(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    results = {}
    for name, act in ATTEMPTS.items():
        try:
            results[name] = bool(act())
        except (OSError, subprocess.SubprocessError):
            results[name] = False
    Path(f"{sys.argv[2]}.new").write_text(json.dumps(results), "utf-8")
    os.rename(f"{sys.argv[2]}.new", sys.argv[2])


if __name__ == "__main__":
    main()
