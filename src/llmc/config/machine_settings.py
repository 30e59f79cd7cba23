"""`[machines.NAME]`: how another machine is reached, and what it is for."""

from __future__ import annotations

from llmc.config.value_types import string, words
from llmc.core.schema import whole
from llmc.core.setting import option
from llmc.core.text_checks import one_full_line, one_word
from llmc.values import Value

_LINE = "a single line of text without control characters"


class MachineOptions(Value):
    ssh: str = option(
        string('"me@box"', _LINE, one_full_line), "", "the host as ssh knows it, by its name or as `user@host`"
    )
    slurm: str = option(
        string('"--partition=cpu --time=8:00:00"', _LINE, one_full_line),
        "",
        "flags of `sbatch`: an allocation of Slurm is the machine",
    )
    command: str = option(
        string('"kubectl exec -i pod-1 --"', _LINE, one_full_line),
        "",
        "a command that runs what is put behind it on the machine, with its standard input and output",
    )
    labels: tuple[str, ...] = option(
        words('["gpu", "linux"]', "a list of words", one_word, word="list of words"),
        (),
        "what tasks and workers may ask for with `--machine`, beside the machine's own name",
    )
    slots: int = option(whole(1, 1000, "4"), 4, "how many tasks may be under way there at the same time")
    checks: str = option(
        string('"machine"', "`hub` or `machine`", lambda text: text in ("hub", "machine")),
        "hub",
        "where the checks of `repo.validate` run before its work lands: here (`hub`) or there (`machine`)",
    )
    program: str = option(string('"~/bin/llmc"', _LINE, one_full_line), "llmc", "the `llmc` of the machine")
    home: str = option(
        string('"/scratch/me/llmc"', _LINE, one_full_line),
        "",
        "the directory there that holds LLMC's root and the copy of the repository",
        "`~/llmc-` and the name of this hub",
    )
