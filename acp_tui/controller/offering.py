"""What the client tells an agent that it can do: only what works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection


def client_capabilities(
    *, elicitation: Collection[str] = (), terminal_sign_in: bool = False
) -> dict[str, Any]:
    """The `clientCapabilities` of `initialize`."""
    capabilities: dict[str, Any] = {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "session": {"configOptions": {"boolean": {}}},
        # Several agents run commands themselves and send the output nowhere but here.
        "_meta": {"terminal_output": True},
    }
    if terminal_sign_in:
        capabilities["auth"] = {"terminal": True}
    if elicitation:
        capabilities["elicitation"] = {mode: {} for mode in sorted(elicitation)}
    return capabilities
