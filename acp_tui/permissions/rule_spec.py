"""Parses rules from the command line: `--allow edit:src/**`, `--reject 'execute:git push'`."""

from __future__ import annotations

import difflib
import posixpath
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.permissions.commands.plain_command import NotPlainError, plain_words
from acp_tui.permissions.rules import Rule
from acp_tui.permissions.subject import KINDS, PATH_KINDS

if TYPE_CHECKING:
    from acp_tui.permissions.rules import RuleDecision


def parse_spec(text: str, decision: RuleDecision) -> Rule:
    """Parse the argument of `--allow` or `--reject`. Raises `UserError` if the argument is invalid."""
    kind, colon, pattern = text.partition(":")
    kind, pattern = kind.strip(), pattern.strip()
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, 1) or {"write": ["edit"], "run": ["execute"]}.get(
            kind, []
        )
        hint = f"; did you mean {near[0]}?" if near else "."
        raise _invalid(
            decision, text, f'"{kind}" is not a kind of request{hint} The kinds are {", ".join(KINDS)}.'
        )
    if colon and not pattern:
        raise _invalid(
            decision,
            text,
            "nothing follows the colon; leave out the colon to match every request of this kind.",
        )
    rule = Rule(decision=decision, kind=kind, scope="run", origin=f"--{decision} {text}")
    if not pattern:
        return rule
    if kind in PATH_KINDS:
        return rule.evolve(path=_path(pattern, text, decision))
    if kind == "execute":
        return rule if pattern == "*" else rule.evolve(command=_words(pattern, text, decision))
    if kind == "mcp":
        server, _, tool = pattern.partition("/")
        if not server or "*" in server or (tool != "*" and "*" in tool):
            raise _invalid(decision, text, "write mcp:SERVER or mcp:SERVER/TOOL.")
        return rule.evolve(server=server, tool=None if tool in ("", "*") else tool)
    raise _invalid(decision, text, f"{kind} takes no pattern; write {kind} alone.")


def _path(pattern: str, text: str, decision: RuleDecision) -> str:
    if pattern.startswith("~"):
        raise _invalid(decision, text, "write the full path instead of ~.")
    if ".." in pattern.split("/"):
        raise _invalid(decision, text, "a pattern cannot contain `..`; write the full path.")
    below = pattern.endswith("/")
    normal = posixpath.normpath(pattern)
    return "**" if normal == "." else normal + "/**" * below


def _words(pattern: str, text: str, decision: RuleDecision) -> tuple[str, ...]:
    try:
        return plain_words(pattern.removesuffix(" *"))
    except NotPlainError as reason:
        raise _invalid(decision, text, f"the command may contain plain words only, but {reason}.") from None


def _invalid(decision: RuleDecision, text: str, why: str) -> UserError:
    return UserError(f'Invalid rule --{decision} "{text}": {why}', exit_code=2)
