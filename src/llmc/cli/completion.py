"""Shell completion, made from the words that the parser knows."""

from __future__ import annotations

from llmc.cli.command import Command
from llmc.cli.command_table import COMMANDS

BASH = """\
_llmc() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" command="" word words
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case " {names} " in *" $word "*) command=$word; break;; esac
    done
    case "$command" in
        "") words="{names} --root --help --version";;
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [ "${{#COMPREPLY[@]}}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _llmc llmc conductor
"""

ZSH = """\
#compdef llmc conductor
_llmc() {{
    local command word
    for word in ${{(@)words[2,CURRENT-1]}}; do
        [[ " {names} " == *" $word "* ]] && {{ command=$word; break }}
    done
    case "$command" in
        "") compadd -- {names} --root --help --version;;
{cases}
    esac
    _files
}}
compdef _llmc llmc conductor
"""

WORKERS = "llmc status --short 2>/dev/null | tr '[]' '\\n\\n' | sed -n 's/: .*//p'"


def make_script(shell: str) -> str:
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _options(command: Command) -> list[str]:
    inner = command.parts() if command.parts is not None else ()
    words = [word for one in (command, *inner) for word in one.words]
    named = [name for word in words for name in word.names if name.startswith("--")]
    choices = [choice for word in words for choice in word.options.get("choices", ())]
    parts = [part.name for part in inner]
    answers = any(one.answers for one in (command, *inner))
    return [*parts, *dict.fromkeys(named), *choices, *(["--json"] if answers else []), "--help"]


def _takes_worker(command: Command) -> bool:
    return any(name in ("worker", "names", "words", "--worker") for word in command.words for name in word.names)


def _bash() -> str:
    return _of_cases(BASH, '{name}) words="{words}";;', f" $({WORKERS})")


def _zsh() -> str:
    return _of_cases(ZSH, "{name}) compadd -- {words};;", f' ${{(f)"$({WORKERS})"}}')


def _of_cases(script: str, case: str, workers: str) -> str:
    words = {one.name: " ".join(_options(one)) + (workers if _takes_worker(one) else "") for one in COMMANDS}
    cases = (f"        {case.format(name=name, words=words[name])}" for name in words)
    return script.format(names=" ".join(words), cases="\n".join(cases))


def _fish() -> str:
    lines = [
        "complete -c conductor -w llmc",
        "complete -c llmc -f",
        "complete -c llmc -n __fish_use_subcommand -l root -r -d 'the LLMC root'",
    ]
    for command in COMMANDS:
        summary = command.summary.replace("'", "")
        lines.append(f"complete -c llmc -n __fish_use_subcommand -a {command.name} -d '{summary}'")
        seen = f"'__fish_seen_subcommand_from {command.name}'"
        words = " ".join(_options(command))
        lines.append(f"complete -c llmc -n {seen} -a '{words}'")
        if _takes_worker(command):
            lines.append(f'complete -c llmc -n {seen} -a "({WORKERS})"')
    return "\n".join(lines) + "\n"
