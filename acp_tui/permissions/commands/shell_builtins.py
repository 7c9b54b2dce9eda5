"""Shell builtins that evaluate their arguments, or that change what later commands do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.permissions.commands.command_line import Part

_CHANGING = frozenset({
    *(".", "abbr", "alias", "argparse", "autoload", "bind", "bindkey", "builtin", "cd", "chdir", "command"),
    *("compctl", "compdef", "compgen", "complete", "declare", "dirs", "disable", "emulate", "enable", "eval"),
    *("exec", "export", "fc", "fish_add_path", "float", "functions", "getln", "getopts", "hash", "history"),
    *("integer", "jobs"),
    *("let", "local", "mapfile", "nameref", "popd", "print", "private", "pushd", "read", "readarray"),
    *("readonly", "rehash", "sched", "set", "setopt", "shift", "shopt", "source", "trap", "typeset"),
    *("ulimit", "umask", "unalias", "unfunction", "unhash", "unset", "unsetopt", "vared", "wait"),
    *("zle", "zmodload", "zparseopts", "zstyle"),
})  # fmt: skip


# `printf -v 'a[$(x)]'`, `test -v 'a[$(x)]'` and in zsh `exit 'a[$(x)]'` run `x` despite the quotes.
_EVALUATING = frozenset(
    {"[", "break", "bye", "continue", "exit", "logout", "print", "printf", "return", "test"}
)


def evaluates(program: str, argument: str) -> str | None:
    """Return why a shell builtin may run a command substitution in a quoted argument; None if not."""
    if program in _EVALUATING | _CHANGING and ("$(" in argument or "`" in argument):
        return f"{program} may run the command in {argument}"
    return None


def changes_shell(part: Part) -> bool:
    """Return True if the command is a builtin that may change the shell, such as its folder or variables."""
    sets_variable = part.name == "printf" and any(text.startswith("-v") for text in part.arguments)
    return part.name in _CHANGING or sets_variable
