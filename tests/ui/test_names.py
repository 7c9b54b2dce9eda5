"""What our widgets call their own things must not be what Textual calls its own: it would use them."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap
from typing import TYPE_CHECKING

import pytest
from textual.message_pump import MessagePump

import acp_tui.ui

if TYPE_CHECKING:
    from collections.abc import Iterator

MEANT = frozenset({"_clipboard", "_fatal_error", "_handle_exception", "_on_key", "_on_paste"})
"""What is Textual's and replaced on purpose."""


def widgets() -> Iterator[type[MessagePump]]:
    """All that is made of Textual's parts."""
    for found in pkgutil.walk_packages(acp_tui.ui.__path__, "acp_tui.ui."):
        for thing in vars(importlib.import_module(found.name)).values():
            if inspect.isclass(thing) and issubclass(thing, MessagePump) and thing.__module__ == found.name:
                yield thing


def private_names(cls: type) -> set[str]:
    """Of its methods, and of what it sets of itself."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    methods = (
        node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )
    attributes = (
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) == "self"
    )
    return {name for name in (*methods, *attributes) if name.startswith("_") and not name.startswith("__")}


@pytest.mark.parametrize("widget", widgets(), ids=lambda widget: widget.__qualname__)
def test_no_widget_uses_a_private_name_of_textual(widget: type) -> None:
    theirs = [base for base in widget.__mro__ if base.__module__.startswith("textual.")]
    taken = set().union(*map(private_names, theirs))
    assert private_names(widget) & taken <= MEANT
