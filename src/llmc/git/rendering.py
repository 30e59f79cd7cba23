"""Files of a commit as git would write them into a checkout: line ends, encodings, large files of git-lfs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import urandom

from llmc.core.landing.journal import Entry, Kind
from llmc.git.failure import GitError
from llmc.git.parse import encode, nul_fields
from llmc.git.runner import LONG, Git
from llmc.values import Value

KINDS: Mapping[str, Kind] = {"100644": Kind.FILE, "100755": Kind.PROGRAM, "120000": Kind.LINK}
"""By the modes that git has for them."""

Blobs = Mapping[str, tuple[str, str]]
"""Mode and name of a blob, by path."""


class Rendering(Value):
    """`attributes` holds the commit's own .gitattributes: those in the checkout may be of another commit."""

    git: Git
    git_dir: str
    common_dir: str
    attributes: str

    def entries(self, wanted: Blobs) -> dict[str, Entry]:
        plain = {path: blob for path, blob in wanted.items() if KINDS[blob[0]] is Kind.LINK}
        filtered = {path: blob for path, blob in wanted.items() if path not in plain}
        found = self.contents(plain) | self.contents(filtered, "--filters")
        return {path: Entry(KINDS[wanted[path][0]], content) for path, content in found.items()}

    def contents(self, wanted: Blobs, *how: str) -> dict[str, bytes]:
        if not wanted:
            return {}
        # The size that git tells is that of the blob, not of what the filters made of it: a word nobody can foresee
        # marks where each content begins.
        word = urandom(16).hex()
        # Git reads attributes from the directory that it works in.
        where = {"GIT_DIR": self.git_dir, "GIT_COMMON_DIR": self.common_dir, "GIT_WORK_TREE": self.attributes}
        asked = b"".join(encode(f"{sha} {path}\0" if how else f"{sha}\0") for path, (_, sha) in wanted.items())
        args = ("cat-file", "-z", f"--batch={word}", *how)
        out = self.git.run(self.attributes, *args, stdin=asked, env=where, timeout=LONG).out
        contents = [content.removesuffix(b"\n") for content in out.split(f"{word}\n".encode())[1:]]
        if len(contents) != len(wanted):
            raise GitError(args, "fatal: bad object: a file of the commit is missing in the repository")
        return dict(zip(wanted, contents, strict=True))


@contextmanager
def rendering(git: Git, checkout: str, commit: str, scratch: str) -> Iterator[Rendering]:
    """`scratch` is a directory for the time being."""
    places = git.text(checkout, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
    git_dir, common_dir = places.split("\n")
    made = Rendering(git, git_dir, common_dir, scratch)
    try:
        git.host.make_dir(scratch)
        for path, content in made.contents(_attributes(git, checkout, commit)).items():
            git.host.write(f"{scratch}/{path}", content)
        yield made
    finally:
        git.host.remove_tree(scratch)


def _attributes(git: Git, checkout: str, commit: str) -> dict[str, tuple[str, str]]:
    """Git reads none that is a symlink."""
    found = {}
    for line in nul_fields(git.run(checkout, "ls-tree", "-r", "-z", commit).out):
        entry, _, path = line.partition("\t")
        mode, _type, sha = entry.split(" ")
        if path.rpartition("/")[2] == ".gitattributes" and KINDS.get(mode, Kind.LINK) is not Kind.LINK:
            found[path] = (mode, sha)
    return found
