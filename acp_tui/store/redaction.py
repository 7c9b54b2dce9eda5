"""Removes secrets from frames before the frames are written to disk or exported. Traffic is never altered.

The following is removed: texts that look like secrets (see `secret_patterns`), the values of environment
variables and headers with secret names, the contents of sensitive files, and the answers to elicitations.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, reduce
from itertools import takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from acp_tui.config.sensitive_files import holds_secrets
from acp_tui.protocol.raw_values import FILE_KEYS, PATH_KEYS
from acp_tui.store.secret_patterns import MASK, is_secret_name, redact_lines, redact_text

if TYPE_CHECKING:
    from acp_tui.session.record import Direction

_ENVIRONMENTS = frozenset({"env", "environment", "headers"})
"""Keys that contain environment variables or headers. Variables and headers with secret names are masked.

The value of such a key is an object, or a list of `{"name", "value"}`.
"""

_SECRET_KEYS = frozenset(
    {
        *("password", "passwd", "passphrase", "secret", "clientsecret", "apikey", "secretkey", "privatekey"),
        *("token", "authtoken", "accesstoken", "refreshtoken", "idtoken", "bearertoken", "secretaccesskey"),
        "authorization",
    }
)
"""Keys, in lower case and without `-` and `_`, whose string values are secret in any object."""

_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}\s*")
_MIN_VALUE_LENGTH = 6  # shorter values of variables are not masked: they occur in ordinary words

_PATHS = (*PATH_KEYS, "uri")
_HARMLESS_KEYS = frozenset(
    {*FILE_KEYS, "uri", "type", "kind", "name", "toolName", "description", "terminalId", "terminal_id"}
)
"""Keys whose values are kept in tool calls on sensitive files: they say what was done, and where."""


class Redactor:
    """Removes secrets from the frames of one conversation.

    Remembers which answers will contain secrets, so each frame must be passed exactly once, in wire order.
    """

    def __init__(self, is_sensitive: Callable[[str], object] = holds_secrets) -> None:
        self._is_sensitive = lru_cache(maxsize=1024)(lambda path: bool(is_sensitive(path)))
        self._secret_answers: set[int | str] = set()  # ids of requests whose answers contain secrets
        self._secret_calls: set[str] = set()  # ids of tool calls on sensitive files

    def redact(self, direction: Direction, frame: Any, line: str | None = None) -> Any:
        """Return the frame without secrets. If the frame has none, the result is usually the same object.

        `line` is the frame's JSON text, which is redacted and returned if the frame is nested too deeply.
        """
        text = _plain_chunk(frame)
        if text is not None and redact_text(text) is text:
            return frame
        try:
            return self._clean(self._without_contents(direction, frame))
        except RecursionError:
            return redact_text(line) if line is not None else MASK

    # --- secret because of the kind of message

    def _without_contents(self, direction: Direction, frame: Any) -> Any:
        if not isinstance(frame, dict) or direction == "client":
            return frame
        method, params = frame.get("method"), frame.get("params")
        if method is None:
            return self._answer(frame) if direction == "sent" and self._secret_answers else frame
        if direction == "sent" and isinstance(params, dict) and params.get("mcpServers"):
            return frame | {"params": params | {"mcpServers": _without_variables(params["mcpServers"])}}
        if direction != "received" or not isinstance(params, dict):
            return frame
        match method:
            case "fs/read_text_file" if self._names_sensitive(params):
                self._expect(frame)
            case "fs/write_text_file" if self._names_sensitive(params):
                return frame | {"params": params | {"content": MASK}}
            case "elicitation/create":
                self._expect(frame)
            case "mcp/message" if _asks_user(params):
                self._expect(frame)
            case "session/update":
                return self._with_call(frame, params, "update")
            case "session/request_permission":
                return self._with_call(frame, params, "toolCall")
        return frame

    def _expect(self, request: dict[str, Any]) -> None:
        if isinstance(number := request.get("id"), int | str):
            self._secret_answers.add(number)

    def _answer(self, frame: dict[str, Any]) -> dict[str, Any]:
        number, result = frame.get("id"), frame.get("result")
        if not isinstance(number, int | str) or number not in self._secret_answers:
            return frame
        self._secret_answers.discard(number)
        # The answer to an MCP request contains the result of the MCP request.
        if isinstance(result, dict) and isinstance(inner := result.get("result"), dict):
            return frame | {"result": result | {"result": _masked(inner, _HARMLESS_KEYS)}}
        if not isinstance(result, dict) or "content" not in result:
            return frame
        return frame | {"result": result | {"content": _masked(result["content"])}}

    def _with_call(self, frame: dict[str, Any], params: dict[str, Any], key: str) -> dict[str, Any]:
        call = params.get(key)
        if not isinstance(call, dict) or not isinstance(call_id := call.get("toolCallId"), str):
            return frame
        if any(self._is_sensitive(path) for path in _paths_of(call)):
            self._secret_calls.add(call_id)
        if call_id not in self._secret_calls:
            return frame
        parts = {
            part: _masked(call[part], _HARMLESS_KEYS)
            for part in ("rawInput", "rawOutput", "_meta")
            if part in call
        }
        if isinstance(content := call.get("content"), list):
            parts["content"] = [self._content(item) for item in content]
        return frame | {"params": params | {key: call | parts}}

    def _content(self, item: Any) -> Any:
        """Mask an item of a tool call's content, unless the item is the diff of a non-sensitive file."""
        if isinstance(item, dict) and item.get("type") == "diff" and not self._names_sensitive(item):
            return item
        return _masked(item, _HARMLESS_KEYS)

    def _names_sensitive(self, params: dict[str, Any]) -> bool:
        path = params.get("path")
        return isinstance(path, str) and self._is_sensitive(path)

    # --- secret in any message

    def _clean(self, value: Any, below: str = "") -> Any:
        if isinstance(value, str):
            return redact_text(value)
        if isinstance(value, dict):
            return self._clean_object(value, below)
        if isinstance(value, list):
            return self._clean_list(value, below)
        return value

    def _clean_object(self, value: dict[str, Any], below: str) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        for key, item in value.items():
            if isinstance(item, str) and _names_secret(key, below):
                clean: Any = MASK if item else item
            else:
                clean = self._clean(item, key)
            if clean is not item:
                changed[key] = clean
        if below in _ENVIRONMENTS and "value" in value and is_secret_name(str(value.get("name"))):
            changed["value"] = MASK
        attached = [key for key in ("text", "blob") if key in value]
        if attached and isinstance(uri := value.get("uri"), str) and self._is_sensitive(_path_in(uri)):
            changed |= dict.fromkeys(attached, MASK)
        return value | changed if changed else value

    def _clean_list(self, value: list[Any], below: str) -> list[Any]:
        clean = [self._clean(item, below) for item in value]
        if len(value) > 1 and all(isinstance(item, str) for item in value):
            # Lines, of which several together can be one secret.
            together = redact_lines(value)
            clean = [
                both if both != item else one for item, one, both in zip(value, clean, together, strict=True)
            ]
        for position in _lines_of_keys(value):
            clean[position] = MASK
        for position, item in enumerate(value[:-1]):
            # ["--api-key", "…"]
            if isinstance(item, str) and item.startswith("--") and is_secret_name(item):
                following = value[position + 1]
                if isinstance(following, str) and not following.startswith("-"):
                    clean[position + 1] = MASK
        return clean if any(new is not old for new, old in zip(clean, value, strict=True)) else value


def _without_variables(value: Any) -> Any:
    """Mask the values of acp-tui's own secret environment variables.

    A `${MY_TOKEN}` in an MCP server's settings may have put such values into the frame.
    """
    values = [
        text for name, text in os.environ.items() if is_secret_name(name) and len(text) >= _MIN_VALUE_LENGTH
    ]

    def clean(item: Any) -> Any:
        if isinstance(item, str):
            return reduce(lambda text, secret: text.replace(secret, MASK), values, item)
        if isinstance(item, list):
            return [clean(each) for each in item]
        return {key: clean(each) for key, each in item.items()} if isinstance(item, dict) else item

    return clean(value)


def _lines_of_keys(items: list[Any]) -> Iterator[int]:
    """Yield the positions of the items that are lines of a private key, for example in stderr lines."""
    inside = -1
    for position, item in enumerate(items):
        if isinstance(item, str) and item.startswith("Private-MAC:"):
            yield from range(position - _length_of_key(items[:position]), position)
        if not isinstance(item, str) or "PRIVATE KEY" not in item:
            continue
        if "-----BEGIN" in item and "-----END" not in item:
            inside = position
        elif "-----END" in item and "-----BEGIN" not in item:
            # If the first line is missing, take the lines before this one that look like a key.
            start = inside + 1 if inside >= 0 else position - _length_of_key(items[:position])
            yield from range(start, position)
            inside = -1
    if inside >= 0:
        yield from (at for at in range(inside + 1, len(items)) if isinstance(items[at], str))


def _length_of_key(items: list[Any]) -> int:
    keys = takewhile(lambda item: isinstance(item, str) and _KEY_LINE.fullmatch(item), reversed(items))
    return sum(1 for _ in keys)


def redact_value(value: Any) -> Any:
    """Remove what looks like a secret from any JSON value that is not a frame of a conversation."""
    return Redactor().redact("client", value)


def _plain_chunk(frame: Any) -> str | None:
    """Return the text of a frame that contains only a text chunk; None for any other frame.

    Nearly all frames are such chunks, so `redact` has a fast path for them.
    """
    try:
        params = frame["params"]
        update = params["update"]
        content = update["content"]
        text = content["text"]
        if (
            len(frame) == 3
            and len(params) == 2
            and len(content) == 2
            and (len(update) == 2 or (len(update) == 3 and "messageId" in update))
            and type(text) is str
        ):
            return text
    except (KeyError, TypeError):
        pass
    return None


def _asks_user(params: dict[str, Any]) -> bool:
    """Return True if an MCP request calls `ask_user`, the tool for questions to the user."""
    call = params.get("params")
    return params.get("method") == "tools/call" and isinstance(call, dict) and call.get("name") == "ask_user"


def _paths_of(call: dict[str, Any]) -> list[str]:
    """Return the files that a tool call names in its locations, diffs and arguments."""
    places = [call.get("rawInput")]
    for part in ("locations", "content"):
        if isinstance(items := call.get(part), list):
            places += items
    found = [place.get(key) for place in places if isinstance(place, dict) for key in _PATHS]
    return [path for path in found if isinstance(path, str)]


def _path_in(uri: str) -> str:
    """Return the path of a `file:` URI, or any other text as it is. Never fails, unlike `urlsplit`."""
    if not uri.startswith("file:"):
        return uri
    return unquote(re.sub("^file:(//[^/]*)?|[?#].*", "", uri))


def _names_secret(key: str, below: str) -> bool:
    if below in _ENVIRONMENTS and is_secret_name(key):
        return True
    return key.replace("_", "").replace("-", "").lower() in _SECRET_KEYS


def _masked(value: Any, keep: frozenset[str] = frozenset()) -> Any:
    """Mask all values except null and the strings under the keys in `keep`. The structure stays the same."""
    if isinstance(value, dict):
        kept = {key for key, item in value.items() if key in keep and isinstance(item, str)}
        return {key: item if key in kept else _masked(item, keep) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, keep) for item in value]
    return value if value is None else MASK
