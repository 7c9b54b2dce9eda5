"""Lines with a left and a right part, and the footer, which shows the keys that currently do something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, runtime_checkable

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.ui.drawing.wrap import shorten_spans
from acp_tui.ui.keys import KEYS, bound_keys, key_name
from acp_tui.ui.theme.palette import Spans, current_palette, foreground_style

if TYPE_CHECKING:
    from textual import events
    from textual.dom import DOMNode
    from textual.screen import Screen


if TYPE_CHECKING:
    Hint = tuple[str, str]


class Bar(Widget):
    """Shows a left and a right part. The left part is shortened if there is not enough room for both."""

    DEFAULT_CSS = """
    Bar { height: 1; background: transparent; color: $foreground; }
    """
    ALLOW_SELECT = False

    def __init__(self, left: Spans, right: Spans = [], *, id: str | None = None) -> None:  # noqa: A002, B006
        super().__init__(id=id)
        self._left = left
        self._right = right

    def show(self, left: Spans | None = None, right: Spans | None = None) -> None:
        """Replace one or both parts; None keeps the current part."""
        self._left = self._left if left is None else left
        self._right = self._right if right is None else right
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  # there is one line only
        width, style = self.size.width, self.rich_style
        right = Strip(self._right).crop(0, width)
        room = width - right.cell_length
        left = Strip(shorten_spans(self.left_part(width), room)).crop_extend(0, room, None)
        return Strip([*left, *right]).apply_style(style)

    def left_part(self, width: int) -> Spans:  # noqa: ARG002  # for subclasses
        """Return the left part. Subclasses may fit it to `width` cells."""
        return self._left


class KeyHints(Bar):
    """Shows keys and what they do, as many as fit."""

    def __init__(self, hints: Sequence[Hint], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__([], id=id)
        self._hints = hints

    def set_hints(self, hints: Sequence[Hint]) -> None:
        """Replace the hints."""
        self._hints = hints
        self.refresh()

    def left_part(self, width: int) -> Spans:
        """Return the keys and labels of as many hints as fit into `width` cells."""
        palette = current_palette()
        spans: Spans = []
        used = 0
        for key, label in self._hints:
            hint = [Segment(f"{key} ", palette.key), Segment(label, palette.dim)]
            if (used := used + Segment.get_line_length(hint)) > width:
                break
            spans += [*hint, Segment("  ")]
            used += 2
        return spans[:-1]


GAP = 2
PAIRED_KEYS = {
    "pane.down": "pane.up",
    "review.hunk_after": "review.hunk_before",
    "review.file_after": "review.file_before",
    "mcp.tab_after": "mcp.tab_before",
}
"""Keys that are shown as a pair, such as ↑↓: the id of one key mapped to that of the opposite key."""


@runtime_checkable
class DynamicLabels(Protocol):
    """A screen or widget with keys whose labels depend on its state."""

    def label_of(self, key_id: str) -> str | None:
        """Return what the key does now, in one or two words; None if its usual label applies."""


class _KeyItem(NamedTuple):
    key: str
    label: str
    action: str
    node: DOMNode

    @property
    def width(self) -> int:
        return cell_len(self.key) + 1 + cell_len(self.label)


class KeyBar(Widget):
    """Shows the active bindings of the focused widget and its screen. A click on a key runs its action."""

    DEFAULT_CSS = """
    KeyBar {
        height: 1;
        padding: 0 1;
        color: $text-muted;
        & > .key-bar--key { color: $footer-key-foreground; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--key"}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  as in Textual
        super().__init__(id=id)
        self._items: list[_KeyItem] = []
        self._stale = False

    def on_mount(self) -> None:
        """Update the bar now, and whenever the active bindings change."""
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)
        self._bindings_changed(self.screen)

    def _bindings_changed(self, _: Screen[object]) -> None:
        if not self._stale:  # combine several changes
            self._stale = True
            self.call_later(self._update)

    def _update(self) -> None:
        self._stale = False
        items = self._current_items()
        if items != self._items:
            self._items = items
            self.refresh()

    def _current_items(self) -> list[_KeyItem]:
        found: dict[str, _KeyItem] = {}
        for active in self.screen.active_bindings.values():
            key = KEYS.get(active.binding.id or "")
            if key is not None and key.rank and active.enabled and key.id not in found:
                name, node = key_name(active.binding.key), active.node
                if key.id in PAIRED_KEYS:
                    name = f"{bound_keys(node, PAIRED_KEYS[key.id])}{name}"
                dynamic = node.label_of(key.id) if isinstance(node, DynamicLabels) else None
                found[key.id] = _KeyItem(name, dynamic or key.label, active.binding.action, node)
        return [found[name] for name in sorted(found, key=lambda name: KEYS[name].rank)]

    def _layout_items(self) -> list[tuple[int, _KeyItem]]:
        """Return the items that fit, as pairs: the column where the item begins, and the item."""
        placed = []
        at = 0
        for item in self._items:
            if at + item.width > self.size.width:
                break
            placed.append((at, item))
            at += item.width + GAP
        return placed

    def render_line(self, _: int) -> Strip:
        key_style = foreground_style(self, "key-bar--key")
        segments: list[Segment] = []
        for at, item in self._layout_items():
            if at:
                segments.append(Segment(" " * GAP))
            segments += (Segment(item.key, key_style), Segment(f" {item.label}"))
        return Strip(segments).crop_extend(0, self.size.width, self.rich_style).apply_style(self.rich_style)

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the key that was clicked."""
        x = event.x - self.gutter.left
        for at, item in self._layout_items():
            if at <= x < at + item.width:
                await self.app.run_action(item.action, item.node)
