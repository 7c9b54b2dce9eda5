"""For each MCP server, the prompts and resources at the latest successful test, and the accepted tools.

Each server has one file. The texts are raw: sanitize them before display.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_tui.config.own_files import read_own_json
from acp_tui.config.paths import write_private

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_CHARACTERS = 4_000_000
"""The maximum length of a server's file. If it would become longer, it is not changed."""


@dataclass(slots=True)
class SavedOffer:
    """The prompts and resources of a server, and the tools that the user has accepted, as JSON objects."""

    prompts: list[dict[str, Any]] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    agreed_tools: dict[str, dict[str, Any]] = field(default_factory=dict)  # by name


class McpOffers:
    """The prompts, resources and accepted tools of all servers, in a folder of the state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / "mcp-offers"

    def read(self, name: str, digest: str) -> SavedOffer:
        """Return a server's saved offer, or an empty one. `digest` identifies the server's definition."""
        try:
            content = read_own_json(self._path(name, digest))
        except (OSError, ValueError, RecursionError):
            return SavedOffer()
        if not isinstance(content, dict):
            return SavedOffer()
        tools = content.get("agreed_tools")
        agreed = tools if isinstance(tools, dict) else {}
        return SavedOffer(
            _named(content.get("prompts"), "name"),
            _named(content.get("resources"), "uri"),
            {key: tool for key, tool in agreed.items() if isinstance(tool, dict)},
        )

    def save_lists(
        self, name: str, digest: str, prompts: list[dict[str, Any]], resources: list[dict[str, Any]]
    ) -> None:
        """Save a server's prompts and resources, unless its file would get too long. Raises `OSError`."""
        self._write(name, digest, SavedOffer(prompts, resources, self.read(name, digest).agreed_tools))

    def agree(self, name: str, digest: str, tools: Mapping[str, dict[str, Any]]) -> None:
        """Save the accepted tools, unless the server's file would get too long. Raises `OSError`."""
        saved = self.read(name, digest)
        self._write(name, digest, SavedOffer(saved.prompts, saved.resources, dict(tools)))

    def _write(self, name: str, digest: str, offer: SavedOffer) -> None:
        content = {
            "prompts": offer.prompts,
            "resources": offer.resources,
            "agreed_tools": offer.agreed_tools,
        }
        text = json.dumps(content)
        if len(text) <= MAX_CHARACTERS:
            write_private(self._path(name, digest), f"{text}\n")

    def _path(self, name: str, digest: str) -> Path:
        readable = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:40].lstrip(".")
        key = hashlib.sha256(f"{digest} {name}".encode("utf-8", "replace")).hexdigest()[:16]
        return self._folder / f"{readable}-{key}.json"


def _named(value: Any, key: str) -> list[dict[str, Any]]:
    """Return the objects in a list that have a string under `key`."""
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict) and isinstance(item.get(key), str)]
