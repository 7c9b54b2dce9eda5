"""Grants: once an action is allowed, the agent's request to carry it out needs no second permission.

Some agents ask for permission for an action (to run a command, change a file or call an MCP tool), and then
have the client carry out the action. The user is asked only once, if both requests are clear. A grant covers
a request for exactly the allowed action, or for some of its files, and covers such a request once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible

if TYPE_CHECKING:
    from acp_tui.permissions.subject import McpCallKey, Subject, Target
    from acp_tui.session.state import ToolCall


def covers(allowed: Subject, asked: Subject) -> bool:
    """Return True if the request `asked` is for exactly the `allowed` action, or for some of its files.

    Return False if the action of a request is unclear.
    """
    # The user may have allowed an MCP call when the agent asked, before the call reached the bridge.
    if asked.mcp_call is not None:
        return asked.always_ask is None and _is_same_call(allowed.mcp_call, asked.mcp_call)
    if not (allowed.certain and asked.certain and asked.served):
        return False
    if asked.kind == "execute":
        return allowed.kind == "execute" and _same_command(allowed, asked)
    if asked.kind == "read":
        return allowed.kind == "read" and bool(asked.paths) and set(asked.paths) <= set(allowed.paths)
    return asked.kind == "edit" and allowed.kind in {"edit", "move"} and _same_contents(allowed, asked)


def _is_same_call(allowed: McpCallKey | None, asked: McpCallKey) -> bool:
    """Return True if the tool and the arguments are the same, and the server, if the agent named it."""
    return allowed is not None and allowed[1:] == asked[1:] and allowed.server in ("", asked.server)


def _same_command(allowed: Subject, asked: Subject) -> bool:
    same = (asked.command, asked.argv) == (allowed.command, allowed.argv) or (
        asked.command_words is not None and asked.command_words == allowed.command_words
    )
    return same and asked.variables == allowed.variables and _same_folder(allowed.cwd, asked.cwd)


def _same_folder(one: Target | None, other: Target | None) -> bool:
    return one is not None and other is not None and (one.real, one.identity) == (other.real, other.identity)


def _same_contents(allowed: Subject, asked: Subject) -> bool:
    known = dict(allowed.contents)
    return bool(asked.contents) and all(
        path in allowed.paths and path in known and _same_text(known[path], text)
        for path, text in asked.contents
    )


def _same_text(shown: str, written: str) -> bool:
    """Return True if the text to be written is the text the user saw.

    CRLF counts as LF, and a missing final newline is ignored because some agents omit it.
    """
    plain = written.replace("\r\n", "\n")
    if visible(plain) != plain:  # it contains characters that are displayed differently
        return False
    return plain == shown or plain.removesuffix("\n") == shown.removesuffix("\n")


@dataclass(slots=True)
class Grants:
    """The unused permissions of the current turn."""

    _open: list[tuple[Subject, ToolCall | None]] = field(default_factory=list)

    def add(self, subject: Subject, call: ToolCall | None) -> None:
        """Add a grant for an action that the user, a rule or the policy allowed.

        The grant expires when `call` is done.
        """
        self._open.append((subject, call))

    def use(self, asked: Subject) -> bool:
        """Return True if a grant covers this request. A grant covers the same request only once."""
        for number, (allowed, call) in enumerate(self._open):
            if (call is None or not call.done) and covers(allowed, asked):
                self._open[number : number + 1] = _left(allowed, asked, call)
                return True
        return False

    def clear(self) -> None:
        self._open.clear()


def _left(allowed: Subject, asked: Subject, call: ToolCall | None) -> list[tuple[Subject, ToolCall | None]]:
    """Return a list of what is left of a grant after the request `asked` has used the grant.

    The list contains one grant for the files that no request has used yet, or is empty.
    """
    targets = tuple(target for target in allowed.targets if target.real not in asked.paths)
    if asked.mcp_call is not None or asked.kind == "execute" or not targets:
        return []
    return [(allowed.evolve(targets=targets), call)]
