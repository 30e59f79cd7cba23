"""The home that a CLI has in its fence: the person's settings and login of that CLI, copied.

Logins that it renews are brought back. Whoever is inside can put links anywhere in it: nothing is written or read
through one.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress

from llmc.core.fence.logins import LOGINS, OwnDirectory, is_renewed, own_part
from llmc.host.files import read_below, read_own, write_atomically
from llmc.site import Site
from llmc.values import Value

LARGEST_LOGIN = 256 * 1024


class Credential(Value):
    theirs: str
    """The person's own file."""
    inside: str
    """The copy, below the home in the fence."""
    as_given: str
    """What was copied, where nobody inside can change it."""


def furnish(site: Site, name: str, agent: str) -> None:
    """Before the agent is started. Nobody is inside."""
    bring_back(site, name, agent)
    person, home = site.host.environ(), site.root.fence_home(name)
    for login in LOGINS.get(agent, ()):
        directory = _directory(login, person)
        for each in login.settings:
            _copy(f"{directory}/{each}", home, f"{login.directory}/{each}".lstrip("/"))
        for each in login.beside:
            _copy_own_part(_beside(login, person, each), home, each)
    for credential in _credentials(site, name, agent):
        _give(credential, home)


def bring_back(site: Site, name: str, agent: str) -> None:
    """Logins that the CLI has renewed inside, unless the person's own has changed since."""
    for each in _credentials(site, name, agent):
        given, now = _read(each.as_given), read_below(site.root.fence_home(name), each.inside, LARGEST_LOGIN)
        if given and now and given != now and _read(each.theirs) == given and is_renewed(_object(given), _object(now)):
            write_atomically(each.theirs, now, mode=0o600)
            write_atomically(each.as_given, now, mode=0o600)


def _credentials(site: Site, name: str, agent: str) -> Iterator[Credential]:
    person, kept = site.host.environ(), f"{site.root.fence(name)}/given"
    for login in LOGINS.get(agent, ()):
        for each in login.credentials:
            inside = f"{login.directory}/{each}"
            yield Credential(f"{_directory(login, person)}/{each}", inside, f"{kept}/{inside.replace('/', '%')}")


def _give(credential: Credential, home: str) -> None:
    """One that the person has renewed meanwhile is given again; else the CLI's own is the newer."""
    theirs = _read(credential.theirs)
    if not theirs or (theirs == _read(credential.as_given) and read_below(home, credential.inside, LARGEST_LOGIN)):
        return
    os.makedirs(os.path.dirname(credential.as_given), mode=0o700, exist_ok=True)
    write_atomically(credential.as_given, theirs, mode=0o600)
    write_atomically(_way(home, credential.inside), theirs, mode=0o600)


def _directory(login: OwnDirectory, person: dict[str, str]) -> str:
    return person.get(login.variable, "") or f"{person.get('HOME', '')}/{login.directory}".rstrip("/")


def _beside(login: OwnDirectory, person: dict[str, str], name: str) -> str:
    return f"{person.get(login.variable, '') or person.get('HOME', '')}/{name}"


def _copy(source: str, home: str, name: str) -> None:
    """Files that are there unchanged already are not copied again."""
    if os.path.isdir(source):
        for folder, directories, files in os.walk(source):
            directories[:] = [each for each in directories if not os.path.islink(os.path.join(folder, each))]
            below = os.path.relpath(folder, source)
            _way(home, os.path.normpath(f"{name}/{below}/x"))  # an empty directory may mean something
            for file in files:
                _copy_file(os.path.join(folder, file), home, os.path.normpath(f"{name}/{below}/{file}"))
    elif os.path.isfile(source):
        _copy_file(source, home, name)


def _copy_file(source: str, home: str, name: str) -> None:
    target = _way(home, name)
    with suppress(OSError):
        seen, there = os.stat(source), os.lstat(target)
        if (seen.st_mtime_ns, seen.st_size) == (there.st_mtime_ns, there.st_size):
            return
    with suppress(OSError):  # a pipe, or one that was removed in this moment
        _remove(target)
        shutil.copy2(source, target)


def _copy_own_part(source: str, home: str, name: str) -> None:
    settings = _object(_read(source))
    target = _way(home, name)
    if isinstance(settings, dict) and not os.path.isfile(target):  # its own goes on from what it was given first
        write_atomically(target, json.dumps(own_part(settings)), mode=0o600)


def _way(home: str, name: str) -> str:
    """The path in the home, with directories that are none of somebody's links."""
    *directories, last = name.split("/")
    place = home
    for each in directories:
        place = f"{place}/{each}"
        if os.path.islink(place) or (os.path.lexists(place) and not os.path.isdir(place)):
            os.unlink(place)
        os.makedirs(place, mode=0o700, exist_ok=True)
    path = f"{place}/{last}"
    if os.path.islink(path):
        os.unlink(path)
    return path


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _read(path: str) -> bytes:
    try:
        return read_own(os.path.realpath(path)) if os.path.getsize(path) <= LARGEST_LOGIN else b""
    except OSError:
        return b""


def _object(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return None
