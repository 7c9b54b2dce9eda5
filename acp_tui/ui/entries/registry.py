"""The table that maps each kind of entry to the module that draws it."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, cast

from acp_tui.session.state import (
    AgentMessage,
    Compaction,
    Elicitation,
    Notice,
    Permission,
    Plan,
    Terminal,
    Thought,
    ToolCall,
    TurnEnd,
    Unrecognised,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.session.state import Entry
    from acp_tui.ui.drawing.body import Body, DrawContext

    Maker = Callable[[Entry, DrawContext], Body]

MODULES: dict[type[Entry], str] = {
    UserMessage: "user",
    AgentMessage: "message",
    Thought: "thought",
    ToolCall: "tool_call.tool_call",
    Plan: "plan",
    Permission: "permission",
    Elicitation: "elicitation",
    Terminal: "terminal.terminal",
    Notice: "notice",
    TurnEnd: "turn_end",
    Compaction: "compaction",
    Unrecognised: "unrecognised",
}
"""Modules are imported when the first entry of the kind is drawn: the first frame needs none of them."""


def make_body(entry: Entry, context: DrawContext, replaced: Callable[[int], object] | None = None) -> Body:
    """Make the body that draws an entry. `GuardedBody` describes what happens if drawing fails."""
    from acp_tui.ui.entries.guarded_body import GuardedBody

    return GuardedBody(lambda: _maker(MODULES[type(entry)])(entry, context), entry, context, replaced)


def prepare() -> None:
    """Import the renderers ahead of time, so that the first answer does not wait for them."""
    from acp_tui.ui.markdown.parser import parser
    from acp_tui.ui.theme.syntax import lexer_of

    for module in MODULES.values():
        _maker(module)
    parser()
    lexer_of("python")


@cache
def _maker(module: str) -> Maker:
    return cast("Maker", importlib.import_module(f"{__package__}.{module}").body)
