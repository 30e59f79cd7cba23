"""What the user may have meant by a key that does not exist."""

from __future__ import annotations

from collections.abc import Sequence

from llmc.config.keys import dotted
from llmc.config.settings import NAMED_TABLES, SINGLE_TABLES, all_options
from llmc.core.names import nearest_word
from llmc.core.schema import Key
from llmc.core.setting import settings_of


def advice_for(key: Key, beside: Sequence[str]) -> str:
    """The likeliest of: a slip of the pen in the same table, the right key in a wrong table."""
    meant = _beside(key, beside) or _elsewhere(key)
    if meant:
        return f"did you mean `{dotted(meant)}`?"
    return f"known here: {', '.join(beside)}"


def known_beside(key: Key) -> list[str]:
    """The keys that could stand in the same table."""
    match key:
        case (str(table), _) if table in SINGLE_TABLES:
            return list(settings_of(SINGLE_TABLES[table]))
        case (str(table), _, _) if table in NAMED_TABLES:
            return list(settings_of(NAMED_TABLES[table]))
    return [*SINGLE_TABLES, *NAMED_TABLES]


def _beside(key: Key, known: Sequence[str]) -> Key | None:
    word = nearest_word(str(key[-1]), known)
    return (*key[:-1], word) if word else None


def _elsewhere(key: Key) -> Key | None:
    by_leaf = {known[-1]: known for known, _ in reversed(list(all_options()))}
    # A dot in the last part: somebody wrote `"repo.copy" = []`.
    leaf = nearest_word(str(key[-1]).rpartition(".")[2], by_leaf, 0.8)
    return by_leaf[leaf] if leaf else None
