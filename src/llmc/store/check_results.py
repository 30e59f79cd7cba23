"""What checks have found, in `tasks.db`: by tree and command."""

from __future__ import annotations

from dataclasses import fields

from llmc.core.tasks.checks import CheckResult
from llmc.store.task_database import TaskDatabase

MOST = 2000
"""Results that are kept, the newest: older ones are of trees that hardly anybody meets again."""
_COLUMNS = tuple(each.name for each in fields(CheckResult))


def read_results(database: TaskDatabase, tree: str, since: float = 0.0) -> dict[str, CheckResult]:
    """By command."""
    query = f"SELECT {', '.join(_COLUMNS)} FROM checks WHERE tree = ? AND at_unix >= ?"
    with database.reading() as connection:
        rows = connection.execute(query, (tree, since)).fetchall() if connection is not None else []
    found = (dict(zip(_COLUMNS, row, strict=True)) for row in rows)
    results = (CheckResult(**{**each, "passed": bool(each["passed"])}) for each in found)
    return {result.command: result for result in results}


def keep_result(database: TaskDatabase, result: CheckResult) -> None:
    """In place of what was found before."""
    marks = ", ".join("?" * len(_COLUMNS))
    with database.writing() as connection:
        values = [getattr(result, name) for name in _COLUMNS]
        connection.execute(f"INSERT OR REPLACE INTO checks ({', '.join(_COLUMNS)}) VALUES ({marks})", values)
        connection.execute(
            "DELETE FROM checks WHERE at_unix < (SELECT at_unix FROM checks ORDER BY at_unix DESC LIMIT 1 OFFSET ?)",
            (MOST,),
        )
