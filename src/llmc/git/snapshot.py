"""A worktree as git objects and back: files, index with all of its stages, and unfinished operations.

Nothing in the worktree or its index changes while it is taken. Contents pass through the filters that the
repository itself asks for in .gitattributes (LFS, line endings), as they do in a commit; otherwise they are exact.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager

from llmc.git.failure import GitError
from llmc.git.hidden import hidden_files, reveal
from llmc.git.own_view import SHARED_DIRECTORIES, SHARED_FILES
from llmc.git.parse import decode, encode
from llmc.git.repository import git_paths
from llmc.git.runner import LONG, Git
from llmc.git.wall import temporary_of
from llmc.values import Value

# What makes git believe that it is in the middle of something; plain files with no absolute paths in them.
_OPERATION = (
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
)
_EXACT = ("-c", "core.autocrlf=false", "-c", "core.safecrlf=false")
_AS_IS = (*_EXACT, "-c", "core.attributesFile=/dev/null")


class Snapshot(Value):
    """`files` is the tree of everything in the worktree, `state` the tree that keeps index and operations."""

    files: str
    state: str


def take(git: Git, worktree: str, left_out: tuple[str, ...], index: tuple[str, ...]) -> Snapshot:
    """`left_out` are untracked directories that git cannot take in, `index` the lines of `git ls-files -v --stage`."""
    hidden = hidden_files(git, worktree, index)
    with _scratch(git, worktree) as scratch:
        return Snapshot(_files_tree(git, worktree, scratch, left_out, hidden), _state_tree(git, worktree, scratch))


def put_back(git: Git, worktree: str, files: str, state: str) -> None:
    """Makes files, index and operations what they were. HEAD must already be where it was."""
    git.run(worktree, *_EXACT, "read-tree", "--no-recurse-submodules", "--reset", "-u", files, timeout=LONG)
    git.run(worktree, "read-tree", "--empty")
    listed = git.run(worktree, "ls-tree", "-r", "-z", f"{state}:index").out
    git.run(worktree, "update-index", "-z", "--index-info", stdin=index_info(listed), timeout=LONG)
    # Exit code 1 only says that some files differ from the index, which is what was kept.
    git.run(worktree, "update-index", "-q", "--refresh", check=False, timeout=LONG)
    with _scratch(git, worktree) as scratch:
        _put_operation_back(git, worktree, scratch, f"{state}:operation")


@contextmanager
def _scratch(git: Git, worktree: str) -> Iterator[str]:
    """A directory for temporary indexes beside the real one, so that copies of it keep working."""
    away, (beside,) = temporary_of(git.host, worktree), git_paths(git, worktree, "llmc-scratch")
    path = beside if away is None else f"{away}/scratch"
    git.host.remove_tree(path)  # of one that was killed; whoever is here acts for the worker, alone
    git.host.make_dir(path)
    try:
        yield path
    finally:
        git.host.remove_tree(path)


def _files_tree(git: Git, worktree: str, scratch: str, left_out: tuple[str, ...], hidden: tuple[str, ...]) -> str:
    (index,) = git_paths(git, worktree, "index")
    temporary = {"GIT_INDEX_FILE": f"{scratch}/files"}
    if git.host.exists(index):
        # The copy brings the cached file times along: unchanged files need not be read again.
        git.host.copy_file(index, temporary["GIT_INDEX_FILE"])
        if hidden:
            reveal(git, worktree, hidden, temporary)
    specs = [":/", *(f":(top,literal,exclude){path.rstrip('/')}" for path in left_out)]
    pathspecs = b"".join(encode(spec) + b"\0" for spec in specs)
    add = ("add", "--all", "--sparse", "--no-ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
    try:
        git.run(worktree, *_EXACT, *add, stdin=pathspecs, env=temporary, timeout=LONG)
    except GitError:
        # A filter or an encoding that these contents do not suit: then they are kept as they are.
        unfiltered = temporary | _without_attributes(git, worktree, scratch)
        git.run(worktree, *_EXACT, *add, stdin=pathspecs, env=unfiltered, timeout=LONG)
    return git.text(worktree, "write-tree", env=temporary)


def _without_attributes(git: Git, worktree: str, scratch: str) -> dict[str, str]:
    """A common directory like LLMC's own where no attribute changes contents: those in `info` overrule all others."""
    view, plain = posixpath.dirname(git_paths(git, worktree, "config")[0]), f"{scratch}/plain"
    git.host.make_dir(f"{plain}/info")
    for name in ("HEAD", "config", *SHARED_DIRECTORIES, *SHARED_FILES):
        git.host.make_link(f"{view}/{name}", f"{plain}/{name}")
    git.host.write(f"{plain}/info/exclude", git.host.read(f"{view}/info/exclude") or b"")
    git.host.write(f"{plain}/info/attributes", b"* -text -ident !eol !filter !working-tree-encoding\n")
    return {"GIT_COMMON_DIR": plain}


def _state_tree(git: Git, worktree: str, scratch: str) -> str:
    temporary = {"GIT_INDEX_FILE": f"{scratch}/state"}
    entries = git.run(worktree, "ls-files", "--stage", "-z").out
    git.run(worktree, "update-index", "-z", "--index-info", stdin=staged_paths(entries), env=temporary, timeout=LONG)
    index = git.text(worktree, "write-tree", env=temporary)
    operation = _operation_tree(git, worktree, scratch)
    return git.text(
        worktree, "mktree", stdin=f"040000 tree {index}\tindex\n040000 tree {operation}\toperation\n".encode()
    )


def _operation_tree(git: Git, worktree: str, scratch: str) -> str:
    """Git's own files about what is under way, taken by treating its directory as a worktree."""
    temporary = {"GIT_INDEX_FILE": f"{scratch}/operation"}
    paths = git_paths(git, worktree, *_OPERATION)
    present = [name for name, path in zip(_OPERATION, paths, strict=True) if git.host.exists(path)]
    directory = posixpath.dirname(paths[-1])
    if present:
        there = temporary | {"GIT_WORK_TREE": directory}
        git.run(worktree, *_AS_IS, "add", "--force", "--", *present, env=there)
    return git.text(worktree, "write-tree", env=temporary)


def _put_operation_back(git: Git, worktree: str, scratch: str, tree: str) -> None:
    temporary = {"GIT_INDEX_FILE": f"{scratch}/operation"}
    (path,) = git_paths(git, worktree, "REBASE_HEAD")
    directory = posixpath.dirname(path)
    git.run(worktree, "read-tree", tree, env=temporary)
    there = temporary | {"GIT_WORK_TREE": directory}
    git.run(worktree, *_AS_IS, "checkout-index", "--all", "--force", env=there)


def staged_paths(raw: bytes) -> bytes:
    """`ls-files --stage -z` as input for `update-index --index-info`, each stage in a directory of its number."""
    return b"".join(encode(f"{mode} {sha} 0\t{stage}/{path}") + b"\0" for (mode, sha, stage), path in _index_lines(raw))


def index_info(raw: bytes) -> bytes:
    """The way back, from `ls-tree -r -z`: paths regain the stage that their directory names."""
    staged = ((mode, sha, *path.split("/", 1)) for (mode, _kind, sha), path in _index_lines(raw))
    return b"".join(encode(f"{mode} {sha} {stage}\t{path}") + b"\0" for mode, sha, stage, path in staged)


def _index_lines(raw: bytes) -> Iterator[tuple[list[str], str]]:
    for line in decode(raw).split("\0")[:-1]:
        fields, _, path = line.partition("\t")
        yield fields.split(" "), path
