"""Finds arguments that make certain programs write a file or run a program: `sed -i`, `find -exec`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FORMATTER = re.compile(r"-[A-Za-z]*w")
_FD = re.compile(r"-[A-Za-z]*[xX].*", re.DOTALL)
_MAKE = re.compile(
    r"-[A-Za-z]*E.*|-[A-Za-z]*f(?:-|/dev/.*)|--(?:make)?file=(?:-|/dev/.*)|-|/dev/.*"
    # `x:=$(shell …)`, `x!=…`, `.SHELLFLAGS=…`
    r"|(?![A-Za-z][A-Za-z0-9_-]*=(?:[\w./,+-]*|[\w,+ -]*)\Z)[^-=][^=]*=.*",
    re.DOTALL,
)
# Short options, abbreviations and words that `risky_arguments` does not find.
_RISKY = {
    "find": re.compile(r"-(?:exec|ok)(?:dir)?|-fls|-fprint[0f]?|-delete|-files0-from"),
    "fd": _FD,
    "fdfind": _FD,
    "go": re.compile(r"--?(?:toolexec|vettool)(?:=.*)?|--?(?:ld|gcc)\w*flags.*", re.DOTALL),  # `-extld=…`
    "make": _MAKE,
    "gmake": _MAKE,
    "npm": re.compile(r"--(?:scr|node-o).*", re.DOTALL),
    "pytest": re.compile(r"--debug(?:=.*)?", re.DOTALL),
    "sdiff": re.compile(r"--diff.*", re.DOTALL),
    "sort": re.compile(r"--co.*", re.DOTALL),
    "split": re.compile(r"--fi.*", re.DOTALL),
    "tar": re.compile(r"-[A-Za-z]*[IF].*|--(?:inf|new|rmt|rs).*", re.DOTALL),
    "yq": re.compile(r"-[A-Za-z]*i.*|--inp.*", re.DOTALL),
    "zip": re.compile(r"-[A-Za-z]*TT.*|--unz.*", re.DOTALL),
    **dict.fromkeys(("gofmt", "goimports", "shfmt", "prettier"), _FORMATTER),
}
# Programs that write their second operand, with their options whose value is the next word.
_WRITING_SECOND = {
    "uniq": re.compile(r"-[A-Za-z]*[fsw]|--skip-fields|--skip-chars|--check-chars"),
    "xxd": re.compile(r"-(?:c|cols|g|groupsize|l|len|n|name|s|seek|R)"),
}
_SED_OPTION = re.compile(
    r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data|separate|unbuffered|posix|debug|sandbox)"
)
_SED_EXPRESSION = re.compile(r"(?:-[nErsuz]*e|--expression=)(.*)", re.DOTALL)
_SED_BEFORE_SCRIPT = re.compile(r"-[nErsuz]*e|--expression")
_SED_ADDRESS = r"(?:\d++(?:~\d++)?+|\$|/(?:\\.|\[[^]/\\]*+\]|[^/\\[])*+/I?+)"
_SED_COMMAND = rf"""\ *+ (?:{_SED_ADDRESS}(?:,(?:[+~]\d++|{_SED_ADDRESS}))?+\ *+!?+\ *+)?+
    (?: [pdPDnNgGhHxq=]
      | s(?P<sign>[/|#,:@!]) (?:\\.|(?!(?P=sign))(?:\[(?:(?!(?P=sign))[^]\\])*+\]|[^\\[]))*+ (?P=sign)
        (?:\\.|(?!(?P=sign))[^\\])*+ (?P=sign) [gpiI0-9]*+
    )\ *+"""
_SED_ONE = re.compile(_SED_COMMAND, re.VERBOSE)
"""Matches a `sed` command that only affects what is printed.

Not matched, among others: commands that access files (`r`, `w`) or run programs (`e`).
"""


def find_program_risks(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the index in `words` of each argument that this module knows to be risky, and the reason."""
    program = words[0].rpartition("/")[2].lower()
    if program in {"sed", "gsed"}:
        yield from _risks_of_sed(words)
    if risky := _RISKY.get(program):
        for position, word in enumerate(words[1:], 1):
            if risky.fullmatch(word):
                yield position, f"{word} may write a file or run a program"
    if valued := _WRITING_SECOND.get(program):
        operands = list(_operands(words, valued))
        yield from ((position, f"it writes {words[position]}") for position in operands[1:])


def _operands(words: Sequence[str], valued: re.Pattern[str]) -> Iterator[int]:
    """Yield the indexes of the words that are neither options nor the values of options.

    If an option matches `valued`, its value is the next word.
    """
    options, skip = True, False
    for position, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif options and word == "--":
            options = False
        elif options and word.startswith("-") and word != "-":
            skip = valued.fullmatch(word) is not None
        else:
            yield position


def _risks_of_sed(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    scripts: list[int] = []  # indexes in `words`; for `-e SCRIPT`, the index of SCRIPT
    operands: list[int] = []
    for position, word in enumerate(words[1:], 1):
        expression = _SED_EXPRESSION.fullmatch(word)
        if _SED_BEFORE_SCRIPT.fullmatch(words[position - 1]):
            scripts.append(position)
        elif expression or word == "--expression":
            scripts += [position] if expression and expression[1] else []
        elif not word.startswith("-") or word == "-":
            operands.append(position)
        elif not _SED_OPTION.fullmatch(word):
            yield position, f"{word} may write a file or run a program"
    for position in scripts or operands[:1]:
        found = _SED_EXPRESSION.fullmatch(words[position])
        if not _only_prints(found[1] if found and found[1] else words[position]):
            yield position, f"the script {words[position]} may read or write files or run a program"


def _only_prints(script: str) -> bool:
    position = 0
    while found := _SED_ONE.match(script, position):
        position = found.end()
        if position == len(script):
            return True
        if script[position] != ";":
            return False
        position += 1
    return False
