"""A JSON value with parts that can be folded, syntax colours, and marks at fields that break the schema."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from acp_tui.console import pluralize
from acp_tui.session.safe_text import escape_controls, escape_json, escape_line
from acp_tui.ui.drawing.body import Heights
from acp_tui.ui.drawing.wrap import hard_wrap, wrap
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.select_list import SELECTED_SIGN

if TYPE_CHECKING:
    from rich.style import Style
    from textual import events

    FieldPath = tuple[str | int, ...]
    """The keys and indexes that lead from a JSON value to one of its fields."""


MAX_LINES_AT_FIRST = 300
"""A value is unfolded level by level until it has about this many lines."""
MAX_CHILDREN = 500
"""The number of items or fields that are shown of one value, until the user asks for more."""
LONG_STRING = 300
"""The length from which a string can be folded, and is folded at first."""
INDENT = 2
MAX_INDENT = 40
DEVIATION_SIGN = "✗"
CURSOR_CELLS = 2


@dataclass(slots=True, eq=False)
class JsonNode:
    """A value within a JSON value."""

    path: FieldPath
    value: Any
    is_last: bool  # in its object or array: no comma follows
    folded: bool = True
    shown: int = MAX_CHILDREN  # the maximum number of children that are shown
    children: list[JsonNode] | None = None  # created when first unfolded

    @property
    def is_container(self) -> bool:
        """True for an object or array that is not empty."""
        return isinstance(self.value, (dict, list)) and bool(self.value)

    @property
    def can_fold(self) -> bool:
        """True for a value of several lines."""
        return self.is_container or (isinstance(self.value, str) and len(self.value) > LONG_STRING)

    def unfold(self) -> list[JsonNode]:
        """Show the children, and return them."""
        self.folded = False
        if self.children is None:
            items: Iterable[tuple[str | int, Any]] = ()
            if isinstance(self.value, dict):
                items = self.value.items()
            elif isinstance(self.value, list):
                items = enumerate(self.value)
            last = len(self.value) - 1
            self.children = [
                JsonNode((*self.path, key), value, index == last) for index, (key, value) in enumerate(items)
            ]
        return self.children


@dataclass(frozen=True, slots=True)
class JsonLine:
    """A line of the view. It can be wrapped."""

    kind: Literal["value", "open", "close", "more", "deviation", "text"]
    node: JsonNode | None = None  # None for plain text
    text: str = ""  # of a deviation or of plain text


class JsonTree:
    """A JSON value, and which parts of it are folded."""

    def __init__(self, value: Any, deviations: Iterable[tuple[FieldPath, str]] = ()) -> None:
        """`deviations` has the path of each field that breaks the schema, and a sentence about it."""
        self._root = JsonNode((), value, is_last=True)
        self._sentences: dict[FieldPath, list[str]] = {}
        for path, sentence in deviations:
            self._sentences.setdefault(self._reveal(path), []).append(sentence)
        self._around = {path[:length] for path in self._sentences for length in range(len(path))}
        self._unfold_first_levels()

    def _reveal(self, path: FieldPath) -> FieldPath:
        """Unfold everything around a field. Return its path or, if it is missing, that of its object."""
        node = self._root
        for key in path:
            children = node.unfold() if node.is_container else []
            found = next((index for index, child in enumerate(children) if child.path[-1] == key), None)
            if found is None:
                break
            node.shown = max(node.shown, found + 1)
            node = children[found]
        return node.path

    def _unfold_first_levels(self) -> None:
        level, lines = [self._root], 1
        while level:
            below: list[JsonNode] = []
            for node in level:
                if not node.is_container:
                    continue
                if node.folded and lines + len(node.value) > MAX_LINES_AT_FIRST and node is not self._root:
                    continue
                lines += min(len(node.value), MAX_CHILDREN)
                below += node.unfold()[: node.shown]
            level = below

    def lines(self) -> list[JsonLine]:
        """Return the lines that are not folded away."""
        found: list[JsonLine] = []
        stack = [JsonLine("open", self._root)]
        while stack:
            line = stack.pop()
            node = line.node
            if line.kind != "open" or node is None:
                found.append(line)
                continue
            is_open = node.is_container and not node.folded
            found.append(line if is_open else JsonLine("value", node))
            found += [JsonLine("deviation", node, text) for text in self._sentences.get(node.path, ())]
            if is_open:
                children = node.unfold()
                stack.append(JsonLine("close", node))
                if len(children) > node.shown:
                    stack.append(JsonLine("more", node))
                stack += [JsonLine("open", child) for child in reversed(children[: node.shown])]
        return found

    def has_deviation_inside(self, node: JsonNode) -> bool:
        """Return True if a field within the value of this node breaks the schema."""
        return node.path in self._around

    @property
    def first_deviation(self) -> FieldPath | None:
        """The path of the first field with a deviation; None if there is none."""
        return next(iter(self._sentences), None)

    def set_folded(self, node: JsonNode, *, folded: bool, inside: bool = False) -> None:
        """Fold or unfold a node; with `inside`, also everything within it."""
        stack = [node]
        while stack:
            one = stack.pop()
            if one.can_fold:
                one.folded = folded
            if inside and one.is_container:
                stack += one.unfold()[: one.shown] if not folded else one.children or []


# --------------------------------------------------------------------------- drawing


def _value_text(value: Any, *, on_lines: bool) -> str:
    """Return a value that is no container, as JSON that is safe to display."""
    text = escape_controls(escape_json(json.dumps(value, ensure_ascii=False)))
    return text.replace("\\n", "\\n\n") if on_lines else text


def _role(value: Any) -> str:
    match value:
        case None | bool():
            return "constant"
        case str():
            return "string"
        case int() | float():
            return "number"
    return "punctuation"


def _summary(value: Any) -> str:
    """Return what is shown of a folded object or array."""
    if isinstance(value, dict):
        kind = next((value[key] for key in ("sessionUpdate", "type", "method") if key in value), None)
        named = f" {escape_line(kind[:40])} ·" if isinstance(kind, str) and kind else ""
        return f"{{{named} {pluralize(len(value), 'field')} }}"
    return f"[ {pluralize(len(value), 'item')} ]"


class LineDrawer:
    """Draws lines of a JSON value at a width, in the styles of the current palette."""

    def __init__(self, tree: JsonTree | None, width: int) -> None:
        self._tree = tree
        self._width = width
        self._palette = current_palette()

    def rows(self, line: JsonLine) -> list[Spans]:
        """Return the rows of a line, each at most `width` cells wide."""
        if line.node is None:
            return [
                row
                for text in line.text.split("\n")
                for row in hard_wrap([Segment(text, self._palette.text)], self._width)
            ]
        depth = len(line.node.path) + (line.kind == "more")
        indent = min(MAX_INDENT, self._width // 3, depth * INDENT)
        break_up = wrap if line.kind == "deviation" else hard_wrap
        rows = [
            row
            for spans in self._pieces(line, line.node)
            for row in break_up(spans, max(8, self._width - indent - 2))
        ]
        sign = self._sign(line, line.node)
        return [
            [Segment(" " * indent), sign if not number else Segment("  "), *row]
            for number, row in enumerate(rows)
        ]

    def _sign(self, line: JsonLine, node: JsonNode) -> Segment:
        if line.kind == "deviation":
            return Segment(f"{DEVIATION_SIGN} ", self._palette.error)
        if line.kind in ("open", "value") and node.can_fold:
            return Segment("▸ " if node.folded else "▾ ", self._palette.dim)
        return Segment("  ")

    def _pieces(self, line: JsonLine, node: JsonNode) -> list[Spans]:
        """Return the parts of a line between which it is always broken."""
        style, palette = self._style, self._palette
        comma = Segment("" if node.is_last else ",", style("punctuation"))
        match line.kind:
            case "deviation":
                return [[Segment(escape_line(line.text), palette.error)]]
            case "close":
                return [[Segment("}" if isinstance(node.value, dict) else "]", style("punctuation")), comma]]
            case "more":
                return [[Segment(f"… {len(node.value) - node.shown:,} more", palette.dim)]]
        spans: Spans = []
        if node.path and isinstance(node.path[-1], str):
            key = escape_controls(escape_json(json.dumps(node.path[-1], ensure_ascii=False)))
            spans += [Segment(key, style("tag")), Segment(": ", style("punctuation"))]
        if line.kind == "open":
            return [[*spans, Segment("{" if isinstance(node.value, dict) else "[", style("punctuation"))]]
        if node.is_container:
            spans.append(Segment(_summary(node.value), palette.dim))
            if self._tree is not None and self._tree.has_deviation_inside(node):
                spans.append(Segment(f" {DEVIATION_SIGN}", palette.error))
            return [[*spans, comma]]
        return self._scalar(node, spans, comma)

    def _scalar(self, node: JsonNode, spans: Spans, comma: Segment) -> list[Spans]:
        value, look = node.value, self._style(_role(node.value))
        if isinstance(value, str) and node.can_fold and node.folded:
            start = _value_text(value[:LONG_STRING], on_lines=False)[:-1]
            room = max(20, self._width - sum(cell_len(span.text) for span in spans) - 40)
            rest = Segment(f"… {len(value):,} characters", self._palette.dim)
            return [[*spans, Segment(start[:room], look), rest, comma]]
        texts = _value_text(value, on_lines=isinstance(value, str) and node.can_fold).split("\n")
        lines: list[Spans] = [[Segment(text, look)] for text in texts]
        lines[0] = [*spans, *lines[0]]
        lines[-1].append(comma)
        return lines

    def _style(self, kind: str) -> Style:
        return self._palette.syntax.get(kind, self._palette.text)


# --------------------------------------------------------------------------- the widget


class JsonView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows a JSON value, or plain text. Draws visible lines only. The screen handles the keys."""

    DEFAULT_CSS = """
    JsonView {
        background: transparent;
        color: $foreground;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
    }
    """
    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as in Textual
        super().__init__(id=id)
        self._tree: JsonTree | None = None
        self._lines: list[JsonLine] = []
        self._rows: dict[int, list[Spans]] = {}
        self._heights = Heights()
        self.cursor = 0
        """The index of the line with the cursor."""

    def show(self, tree: JsonTree | None, text: str = "") -> None:
        """Show a JSON value from its beginning; without one, `text`, which must be safe to display."""
        self._tree = tree
        self._lines = [JsonLine("text", None, one) for one in text.split("\n")] if tree is None else []
        self.cursor = 0
        self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self._arrange()

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._arrange()

    def on_resize(self) -> None:
        """Wrap lines at the new width."""
        self._arrange()

    def _arrange(self) -> None:
        if self._tree is not None:
            self._lines = self._tree.lines()
        self._rows.clear()
        width = self._text_width
        drawer = LineDrawer(self._tree, width)
        self._rows = {index: drawer.rows(line) for index, line in enumerate(self._lines)} if width > 0 else {}
        self._heights.reset([len(rows) for rows in self._rows.values()])
        self.virtual_size = Size(self.scrollable_content_region.width, self._heights.total)
        self.cursor = max(0, min(self.cursor, len(self._lines) - 1))
        self.refresh()

    @property
    def _text_width(self) -> int:
        return self.scrollable_content_region.width - CURSOR_CELLS

    # ------------------------------------------------------------------------- the cursor

    @property
    def node(self) -> JsonNode | None:
        """The value at the cursor; None for plain text."""
        return self._lines[self.cursor].node if self.cursor < len(self._lines) else None

    def move(self, step: int) -> None:
        """Move the cursor by `step` lines."""
        self._go_to(self.cursor + step)

    def page(self, step: int) -> None:
        """Move the cursor by a page."""
        row = self._heights.top(self.cursor) if self._lines else 0
        self._go_to(self._heights.at(row + step * max(1, self.size.height - 1))[0])

    def end(self, step: int) -> None:
        """Move the cursor to the first line (-1) or the last line (1)."""
        self._go_to(0 if step < 0 else len(self._lines) - 1)

    def go_to_deviation(self) -> None:
        """Move the cursor to the first field with a deviation, if there is one, and show what is wrong."""
        path = self._tree.first_deviation if self._tree is not None else None
        lines = enumerate(self._lines)
        at = next((at for at, line in lines if line.node is not None and line.node.path == path), None)
        if at is not None:
            sentences = takewhile(lambda line: line.kind == "deviation", self._lines[at + 1 :])
            self._go_to(at, 1 + sum(1 for _ in sentences))

    def _go_to(self, line: int, count: int = 1) -> None:
        """Move the cursor to a line, and scroll so that `count` lines from there are visible."""
        if not self._lines:
            return
        self.cursor = max(0, min(line, len(self._lines) - 1))
        top = self._heights.top(self.cursor)
        height = sum(self._heights[index] for index in range(self.cursor, self.cursor + count))
        region = Region(0, top, max(1, self.size.width), min(height, max(1, self.size.height)))
        self.scroll_to_region(region, animate=False, force=True, immediate=True)
        self.refresh()

    # ------------------------------------------------------------------------- folding

    def toggle(self, *, inside: bool = False) -> None:
        """Fold or unfold the value at the cursor, with `inside` everything in it; or show more items."""
        line, tree = self._lines[self.cursor] if self._lines else None, self._tree
        if line is None or line.node is None or tree is None:
            return
        node = line.node
        if line.kind == "more":
            node.shown += MAX_CHILDREN
        elif node.can_fold:
            tree.set_folded(node, folded=not node.folded, inside=inside)
        else:
            self.app.bell()
            return
        self._arrange()
        if line.kind != "more":
            self._go_to(next(at for at, one in enumerate(self._lines) if one.node is node))

    # ------------------------------------------------------------------------- mouse and drawing

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked line. A click on the line with the cursor folds or unfolds it."""
        row = self.scroll_offset.y + event.y
        if row < self._heights.total:
            line = self._heights.at(row)[0]
            was_there = line == self.cursor and self.has_focus
            self._go_to(line)
            if was_there:
                self.toggle()

    def on_focus(self) -> None:
        """Draw the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw without the cursor."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self.rich_style
        row = self.scroll_offset.y + y
        if row >= self._heights.total:
            return Strip.blank(width, base)
        index, number = self._heights.at(row)
        at_cursor = self.has_focus and index == self.cursor and not number
        sign = Segment(f"{SELECTED_SIGN} " if at_cursor else "  ", current_palette().key)
        strip = Strip([sign, *self._rows[index][number]])
        return strip.crop_extend(0, width, base).apply_style(base)


def field_text(node: JsonNode) -> str:
    """Return what is copied of a value: a string as it is, anything else as JSON."""
    if isinstance(node.value, str):
        return node.value
    return json.dumps(node.value, indent=2, ensure_ascii=False)
