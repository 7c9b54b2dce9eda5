"""The items of the tabs with a server's tools, prompts and resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui.drawing.wrap import make_strip, shorten
from acp_tui.ui.panes.item_builders import RIGHT_MARGIN, justified_line, text_item
from acp_tui.ui.panes.pane_list import PaneItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.style import Style
    from textual.strip import Strip

    from acp_tui.mcp.inspection import Inspection
    from acp_tui.store.mcp.mcp_facts import ToolChanges
    from acp_tui.ui.theme.palette import Palette

MIN_NAME_CELLS = 12


def tool_items(
    inspection: Inspection, changes: ToolChanges, is_offered: Callable[[str], bool], palette: Palette
) -> Iterator[PaneItem]:
    """Yield an item for each tool. Mark tools that are new or have changed since the user accepted the tools.

    `is_offered` returns whether agents are offered the tool with this name.
    """
    if any(tool.claims for tool in inspection.tools):
        yield text_item('Claims of the server, such as "only reads", are not verified.', palette.faint)
    for tool in inspection.tools:
        change = ""
        if tool.name in changes.changed:
            change = "changed since you accepted it"
        elif tool.name in changes.added:
            change = "new, not accepted yet"
        excluded = [] if is_offered(tool.name) else ["not offered to agents"]
        right = change or ", ".join([*tool.claims, *excluded])
        style = palette.error if change else palette.text
        note_style = palette.error if change else palette.dim
        yield _item(tool.name, tool.name, right, tool.description or tool.title, (style, note_style), palette)
    if changes.removed:
        names = reveal_line(", ".join(changes.removed))
        yield text_item(f"Removed since you accepted the tools: {names}", palette.error)


def prompt_items(inspection: Inspection, palette: Palette) -> Iterator[PaneItem]:
    """Yield an item for each prompt."""
    styles = (palette.text, palette.dim)
    for prompt in inspection.prompts:
        names = " ".join(one.name if one.required else f"[{one.name}]" for one in prompt.arguments)
        yield _item(prompt.name, prompt.name, names, prompt.description or prompt.title, styles, palette)


def resource_items(inspection: Inspection, palette: Palette) -> Iterator[PaneItem]:
    """Yield an item for each resource, then one for each resource template. Templates cannot be chosen."""
    styles = (palette.text, palette.dim)
    for resource in inspection.resources:
        about = f"{resource.uri}  {resource.description or resource.title}"
        yield _item(resource.uri, resource.name, resource.mime_type, about, styles, palette)
    for template in inspection.templates:
        about = f"{template.uri_template}  {template.description or template.title}"
        yield _item(None, template.name, "template", about, styles, palette)


def _item(
    key: str | None, name: str, right: str, about: str, styles: tuple[Style, Style], palette: Palette
) -> PaneItem:
    """Return an item with a name, a remark at the right edge, and a description in a second line."""

    def draw(width: int) -> list[Strip]:
        room = width - RIGHT_MARGIN
        remark = shorten(reveal_line(right), max(0, room - MIN_NAME_CELLS - 2))
        name_room = room - cell_len(remark) - 2
        end = [Segment(remark, styles[1])]
        first = justified_line([Segment(shorten(reveal_line(name), name_room), styles[0])], end, width)
        if not about.strip():
            return [first]
        text = shorten(reveal_line(" ".join(about.split())), room - 2)
        return [first, make_strip([Segment(f"  {text}", palette.dim)])]

    return PaneItem(draw, key, height=2 if about.strip() else 1)
