"""The page of keys, written from the key table: `make keys`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.ui.keys import SCOPES, key_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.ui.keys import Key

PAGE = Path(__file__).parents[2] / "docs" / "keys.md"


def render_page(text: str) -> str:
    """Return the page with the current keys. Everything in `text` before the first section is kept."""
    introduction, *_ = text.partition("\n## ")
    return introduction + "".join(_sections())


def _sections() -> Iterator[str]:
    for scope in SCOPES.values():
        yield f"\n## {scope.title}\n\n{scope.help}\n\n| id | keys | action |\n| --- | --- | --- |\n"
        for key in scope.keys:
            yield f"| `{key.id}` | {quoted_keys(key)} | {key.title} |\n"


def quoted_keys(key: Key) -> str:
    """Return the default keys of an action in Markdown."""
    return " ".join(f"`{key_name(name)}`" for name in key.keys.split(","))


if __name__ == "__main__":
    PAGE.write_text(render_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
