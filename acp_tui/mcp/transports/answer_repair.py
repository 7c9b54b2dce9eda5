"""Repairs answers of servers: leaves out what the SDK would reject, and says what it was.

Many servers work with their authors' clients although a part of an answer does not follow the protocol. The
SDK rejects the whole answer then. Here, invalid capabilities of a server, and invalid items of its lists, are
left out one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp_types import methods
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import BaseModel, ValidationError

from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Callable

_HANDSHAKES = ("initialize", "server/discover")
_LISTS: dict[str, tuple[str, str, type[BaseModel]]] = {
    "tools/list": ("tools", "tool", types.ListToolsResult),
    "prompts/list": ("prompts", "prompt", types.ListPromptsResult),
    "resources/list": ("resources", "resource", types.ListResourcesResult),
    "resources/templates/list": (
        "resourceTemplates",
        "resource template",
        types.ListResourceTemplatesResult,
    ),
}
"""By method: the key of the list in the answer, what an item is called, and the model of the answer."""
REPAIRED_METHODS = frozenset({*_HANDSHAKES, *_LISTS})
MAX_NAME = 100
"""The maximum number of characters of a name in a sentence."""


def repair_answer(
    method: str, version: str | None, result: dict[str, Any], note: Callable[[str], None]
) -> dict[str, Any]:
    """Return the result of a request without the parts that the SDK would reject.

    Args:
        method: The method of the request, one of `REPAIRED_METHODS`.
        version: The revision of the protocol; None if it is unknown.
        result: The result, as the server sent it.
        note: Called with a sentence about each part that is left out.
    """
    if method in _HANDSHAKES:
        return _repair_handshake(method, result, note)
    return _repair_list(method, version or LATEST_HANDSHAKE_VERSION, result, note)


# --------------------------------------------------------------------------- the handshake


def _repair_handshake(method: str, result: dict[str, Any], note: Callable[[str], None]) -> dict[str, Any]:
    capabilities = result.get("capabilities")
    if not isinstance(capabilities, dict):
        return result  # it is not an MCP server
    found: dict[str, Any] = {}
    for name, value in capabilities.items():
        repaired = _repair_capability(name, value, note)
        if repaired is not None:
            found[name] = repaired
    repaired_result = {**result, "capabilities": found}
    if method == "initialize":
        repaired_result["serverInfo"] = _repair_server_info(result.get("serverInfo"), note)
    if not isinstance(result.get("instructions", ""), str):
        del repaired_result["instructions"]
        note("Its instructions are not a string and are ignored.")
    return repaired_result


def _repair_capability(name: str, value: Any, note: Callable[[str], None]) -> Any:
    """Return a capability as the SDK accepts it; None if the capability must be left out."""
    if value is None or _accepts(types.ServerCapabilities, {name: value}):
        return value
    shown = visible_line(name[:MAX_NAME])
    if name in ("experimental", "extensions") and isinstance(value, dict):
        kept = {key: one for key, one in value.items() if isinstance(one, dict)}
        for key in value.keys() - kept.keys():
            note(f"Its capability {shown}.{visible_line(key[:MAX_NAME])} is not an object and is ignored.")
        return kept
    if not value:
        note(f"Its capability {shown} is not an object and is ignored.")
        return None
    note(f"Its capability {shown} is invalid; acp-tui reads it as an empty object.")
    return {}


def _repair_server_info(info: Any, note: Callable[[str], None]) -> dict[str, Any]:
    if _accepts(types.Implementation, info):
        return dict(info)
    note("The information about the server, its name and version, is incomplete or invalid.")
    given = info if isinstance(info, dict) else {}
    return {key: given[key] if isinstance(given.get(key), str) else "" for key in ("name", "version")}


# --------------------------------------------------------------------------- lists


def _repair_list(
    method: str, version: str, result: dict[str, Any], note: Callable[[str], None]
) -> dict[str, Any]:
    key, item_name, model = _LISTS[method]
    if _fault(method, version, model, result) is None or not isinstance(result.get(key), list):
        return result
    rest = {name: value for name, value in result.items() if name != key}
    items = []
    for number, item in enumerate(result[key], 1):
        fault = _fault(method, version, model, {**rest, key: [item]})
        if fault is not None and _fault(method, version, model, {**rest, key: []}) is None:
            note(f"Its {item_name} {_item_name(item, number)} is left out: {_clause(fault, key)}.")
        else:
            items.append(item)
    return {**rest, key: items}


def _fault(method: str, version: str, model: type[BaseModel], result: dict[str, Any]) -> Any:
    """Return the first error that the SDK would report for an answer; None if it accepts the answer."""
    try:
        try:
            methods.validate_server_result(method, version, result)
        except ValidationError:
            raise
        except (KeyError, ValueError):  # the revision has no such method, or is unknown to the SDK
            pass
        model.model_validate(result, by_name=False)
    except ValidationError as error:
        return error.errors(include_url=False, include_input=False)[0]
    return None


def _item_name(item: Any, number: int) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return visible_line(name[:MAX_NAME]) if isinstance(name, str) and name.strip() else f"number {number}"


def _clause(fault: Any, key: str) -> str:
    """Return a clause that says which part of an item is missing or invalid."""
    path = [str(part) for part in fault["loc"] if part not in (key, 0)]
    place = visible_line(".".join(path)[:MAX_NAME])
    if fault["type"] == "missing":
        return f"it has no {place}"
    return f"{place} is invalid ({fault['msg']})" if place else str(fault["msg"])


def _accepts(model: type[BaseModel], value: Any) -> bool:
    try:
        model.model_validate(value, by_name=False)
    except ValidationError:
        return False
    return True
