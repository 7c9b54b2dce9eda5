"""The key hints in the last line of the permission dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.keys import bound_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.dom import DOMNode

    from acp_tui.ui.widgets.bar import Hint


def scroll_hints(node: DOMNode, *, overflows: bool) -> list[Hint]:
    """Return the hint for scrolling, if `overflows` says that the request has more rows than are shown."""
    return [(bound_keys(node, "permission.page_down"), "scroll")] if overflows else []


def option_hints(
    node: DOMNode, scroll: Sequence[Hint], *, raw: bool, full: bool, can_reject: bool, more_options: bool
) -> list[Hint]:
    """Return the hints to show while the user chooses an option.

    `raw` is true while the raw input is shown, and `full` is true while the dialog has its full size.
    `more_options` is true if some options are scrolled out of view. `scroll` is what `scroll_hints` returns.
    The hint for scrolling comes before the keys for the view, because in 80 columns the last hints are not
    shown.
    """
    names = ("take", "reason", "cancel", "write", "diff", "raw")
    take, reason, cancel, write, size, input_key = (bound_keys(node, f"permission.{name}") for name in names)
    reject = [(reason, "reject with reason")] if can_reject else []
    views = [
        (size, "smaller" if full else "full size"),
        (input_key, "hide raw input" if raw else "raw input"),
    ]
    return [
        *([("↑↓", "more options"), (take, "answer")] if more_options else [(f"↑↓ {take}", "answer")]),
        *reject,
        (cancel, "close" if raw or full else "stop"),
        (write, "prompt"),
        *scroll,
        *(reversed(views) if raw else views),  # first the key that leaves the current view
    ]


def page_hints(node: DOMNode, *, can_reject: bool) -> list[Hint]:
    """Return the hints to show while a page of the facts is shown that is not the last."""
    names = ("allow", "take", "reject", "cancel", "write", "raw")
    allow, take, reject, cancel, write, raw = (bound_keys(node, f"permission.{name}") for name in names)
    rejects = [(reject, "reject")] if can_reject else []
    return [
        (f"{allow} {take}", "next part"),
        *rejects,
        (cancel, "stop"),
        (write, "prompt"),
        (raw, "raw input"),
    ]


def choice_hints(node: DOMNode, why: str) -> list[Hint]:
    """Return the hints to show after a key press that did not answer the question.

    `why` says what the user has to choose first.
    """
    take, cancel = (bound_keys(node, name) for name in ("permission.take", "permission.cancel"))
    return [(f"↑↓ {take}", why), (cancel, "stop")]


def reason_hints(node: DOMNode) -> list[Hint]:
    """Return the hints to show while the user writes a reason."""
    take, cancel = (bound_keys(node, name) for name in ("permission.take", "permission.cancel"))
    return [(take, "reject with this reason"), (cancel, "back")]


def editor_hints(node: DOMNode, *, rejects: bool) -> list[Hint]:
    """Return the hints to show while the user edits rules. `rejects` is true if these rules reject."""
    names = ("before", "after", "up", "down", "take", "close")
    before, after, up, down, take, close = (bound_keys(node, f"rule.{name}") for name in names)
    answer = "reject and remember" if rejects else "allow and remember"
    return [(f"{before}{after}", "part"), (f"{up}{down}", "change it"), (take, answer), (close, "back")]
