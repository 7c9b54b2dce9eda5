"""The parameters of a request from the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.errors import Refusal
from acp_tui.session.record import INVALID_PARAMS

if TYPE_CHECKING:
    from acp_tui.session.state import RequestId


class Params:
    """Reads a request's parameters. Raises `Refusal` for a wrong type or a missing required parameter."""

    def __init__(self, method: str, values: Any, request_id: RequestId) -> None:
        self.method = method
        self.request_id = request_id
        self.values: dict[str, Any] = values if isinstance(values, dict) else {}

    def text(self, name: str, *, empty: bool = False) -> str:
        """Return a required string. It may be empty only if `empty` is true."""
        value = self.values.get(name)
        if not isinstance(value, str) or not (value or empty):
            raise Refusal(INVALID_PARAMS, f"{self.method}: {name} must be a string")
        return value

    def number(self, name: str) -> int | None:
        """Return an optional integer. A whole number such as `5.0` is accepted too."""
        value = self.values.get(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise Refusal(INVALID_PARAMS, f"{self.method}: {name} must be a whole number")
        return value

    def texts(self, name: str) -> list[str]:
        """Return an optional list of strings."""
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise Refusal(INVALID_PARAMS, f"{self.method}: {name} must be a list of strings")
        return value

    def variables(self, name: str) -> dict[str, str]:
        """Return environment variables, which the protocol sends as a list of names and values."""
        value = self.values.get(name)
        if value is None:
            return {}
        if isinstance(value, dict):  # not what the protocol says, but clear
            value = [{"name": key, "value": content} for key, content in value.items()]
        pairs: list[Any] = value if isinstance(value, list) else [None]
        found: dict[str, str] = {}
        for pair in pairs:
            key, content = (pair.get("name"), pair.get("value")) if isinstance(pair, dict) else (None, None)
            if not isinstance(key, str) or not isinstance(content, str):
                raise Refusal(
                    INVALID_PARAMS, f"{self.method}: {name} must be a list of objects with a name and a value"
                )
            found[key] = content
        return found
