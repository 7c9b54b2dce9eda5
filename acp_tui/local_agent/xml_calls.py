"""Tool calls as XML in the text, for models without function calling.

The tools are described in the system prompt, and the model writes

    <use_mcp_tool>
    <server_name>local</server_name>
    <tool_name>read</tool_name>
    <arguments>{"path": "README.md"}</arguments>
    </use_mcp_tool>

`XmlCallReader` separates such calls from the prose while the text streams. Tags that are only mentioned are
prose: in a code span, inside a code block, or followed by anything but another tag.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from acp_tui.local_agent.profile import CallBegun, TextPiece, ToolSpec

OPEN, CLOSE = "<use_mcp_tool>", "</use_mcp_tool>"
ARGUMENTS, ARGUMENTS_END = "<arguments>", "</arguments>"

UNNAMED = "unnamed"
"""The name of a call that names no tool."""

_NAME = re.compile(r"<(server_name|tool_name)>(.*?)</\1>", re.DOTALL)
_NAMES = re.compile(f".*?(?:{ARGUMENTS}|{CLOSE})", re.DOTALL)
_FENCE = re.compile(r" *(`{3,})[^\n]*(\n|\Z)")
_PARTIAL_FENCE = re.compile(r" *(`{0,2}|`{3,}[^\n]*)\Z")
_PROSE = re.compile(r"\n|[^\n][^\n<]*")

_INSTRUCTIONS = """\
# Tools

You call a tool by writing this, as plain text and not in a code block:

<use_mcp_tool>
<server_name>server</server_name>
<tool_name>tool</tool_name>
<arguments>
{"name": "value"}
</arguments>
</use_mcp_tool>

The arguments are one JSON object that fits the schema of the tool. You can write several calls in a row.
Stop after your calls: the results follow in the next message. Never write a result yourself.
"""


@dataclass(frozen=True)
class CallEnd:
    """The end of a call, with its arguments as the model has written them."""

    id: str
    arguments: str


XmlEvent = TextPiece | CallBegun | CallEnd


def parse_arguments(raw: str) -> tuple[dict[str, Any], str]:
    """Return the arguments of a call, and what is wrong with them as a sentence for the model."""
    if not raw.strip():
        return {}, ""
    try:
        arguments = json.loads(raw, strict=False)  # models write line breaks into strings
    except (ValueError, RecursionError) as error:
        return {}, f"The arguments are not valid JSON ({error}). Write the call again with one JSON object."
    if not isinstance(arguments, dict):
        return {}, "The arguments are not a JSON object. Write the call again with one JSON object."
    return arguments, ""


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """Return the part of the system prompt that describes the tools and how they are called."""
    if not tools:
        return ""
    blocks = [
        f"## {_short_name(tool)}\nServer: {tool.server}\n{tool.description.strip()}\n"
        f"Arguments: {json.dumps(tool.parameters, ensure_ascii=False)}\n"
        for tool in tools
    ]
    return "\n".join([_INSTRUCTIONS, *blocks])


def _short_name(tool: ToolSpec) -> str:
    return tool.name.removeprefix(f"{tool.server}__")


class XmlCallReader:
    """Reads the text of one answer piece by piece. The ids of its calls count from 1.

    Calls and prose do not depend on how the text is cut into pieces.
    """

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._names = {(tool.server, _short_name(tool)): tool.name for tool in tools}
        self._events: list[XmlEvent] = []
        self._buffer = ""  # what has not been read yet
        self._is_last = False  # no more text follows
        self._is_in_call = False
        self._call_count = 0
        self._line = ""  # the prose of the current line
        self._fence = ""  # what the current code block has begun with
        self._is_fence_dropped = False
        # Spaces are held back until prose follows, so that a call leaves no empty lines behind.
        self._spaces = ""
        self._has_prose = False

    def feed(self, text: str) -> list[XmlEvent]:
        """Return what follows from more text."""
        self._buffer += text
        while self._buffer and (self._read_call() if self._is_in_call else self._read_prose()):
            pass
        events, self._events = self._events, []
        return events

    def finish(self) -> list[XmlEvent]:
        """Return the rest, after the last piece."""
        self._is_last = True
        return self.feed("")

    def _read_prose(self) -> bool:
        """Read the next piece of prose, or the beginning of a call. Return False if that takes more text."""
        if not self._line:
            if _PARTIAL_FENCE.match(self._buffer) and not self._is_last:
                return False
            if (fence := _FENCE.match(self._buffer)) is not None:
                return self._read_fence(fence)
        if not self._fence and self._line.count("`") % 2 == 0:  # otherwise it is code
            begins_call = self._begins_call(self._buffer)
            if begins_call is None:
                return False
            if begins_call:
                self._begin_call(self._buffer)
                return True
        prose = _PROSE.match(self._buffer)
        assert prose is not None
        self._add_prose(prose[0])
        return True

    def _read_fence(self, fence: re.Match[str]) -> bool:
        """Read a line that begins or ends a code block. It is dropped if a call is directly inside."""
        line, after = fence[0].strip(), self._buffer[fence.end() :]
        if self._fence:
            if line.startswith(self._fence):
                self._fence = ""
        elif self._is_fence_dropped and line == fence[1]:
            self._is_fence_dropped = False
            self._buffer = after
            return True
        else:
            begins_call = self._begins_call(after.lstrip())
            if begins_call is None:
                return False
            if begins_call:
                self._is_fence_dropped = True
                self._begin_call(after.lstrip())
                return True
            self._fence = fence[1]
        self._add_prose(fence[0])
        return True

    def _add_prose(self, text: str) -> None:
        """Move text from the buffer to the events."""
        self._buffer = self._buffer[len(text) :]
        self._line = "" if text.endswith("\n") else self._line + text
        text = self._spaces + text
        stripped = text.rstrip()
        self._spaces = text[len(stripped) :]
        if stripped:
            self._events.append(TextPiece(stripped if self._has_prose else stripped.lstrip()))
            self._has_prose = True

    def _begins_call(self, text: str) -> bool | None:
        """Whether the text begins with a call, None if that or its name is not clear yet."""
        if not text.startswith(OPEN):
            return None if OPEN.startswith(text) and not self._is_last else False
        rest = text.removeprefix(OPEN).lstrip()
        if rest and not rest.startswith("<"):
            return False
        return bool(rest) if self._is_last or _NAMES.match(text) else None

    def _begin_call(self, text: str) -> None:
        """Report a call. It stays in the buffer until all of it is there."""
        self._buffer = text
        self._is_in_call = True
        self._call_count += 1
        self._line, self._spaces, self._has_prose = "", "", False
        head = _NAMES.match(text)
        names = {tag: name.strip() for tag, name in _NAME.findall(head[0] if head else text)}
        name = names.get("tool_name") or UNNAMED
        name = self._names.get((names.get("server_name", ""), name), name)
        self._events.append(CallBegun(str(self._call_count), name))

    def _read_call(self) -> bool:
        call = self._whole_call()
        if call is None:
            return False
        self._events.append(CallEnd(str(self._call_count), _raw_arguments(call)))
        self._buffer = self._buffer[len(call) :]
        self._is_in_call = False
        return True

    def _whole_call(self) -> str | None:
        """Return the text of the call. Strings can contain the closing tag, so the JSON must be complete."""
        for end in re.finditer(CLOSE, self._buffer):
            call = self._buffer[: end.end()]
            if ARGUMENTS not in call or not parse_arguments(_raw_arguments(call))[1]:
                return call
        if not self._is_last:
            return None
        first, tag, _ = self._buffer.partition(CLOSE)
        return first + tag


def _raw_arguments(call: str) -> str:
    """Return the arguments as they are written, or the whole call if something else is in their place."""
    _, tag, raw = call.partition(ARGUMENTS)
    if tag:
        return raw.removesuffix(CLOSE).strip().removesuffix(ARGUMENTS_END).strip()
    rest = "".join(_NAME.sub("", call).split())
    return "" if rest == OPEN + CLOSE else call


# ---------------------------------------------------------------------- history


def messages_as_text(messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]) -> list[ModelMessage]:
    """Return the messages with calls and results as text, as a model without function calling reads them.

    Roles alternate: some models accept nothing else.
    """
    by_name = {tool.name: tool for tool in tools}
    converted: list[ModelMessage] = []
    content: list[UserContent] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            content += _request_content(message)
            continue
        texts: list[str] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                texts.append(part.content)
            elif isinstance(part, ToolCallPart):
                texts.append(_call_as_text(part, by_name.get(part.tool_name)))
        if texts:
            converted += [_prompt(content), ModelResponse([TextPart("\n\n".join(texts))])]
            content = []
    return [*converted, _prompt(content)]


def _request_content(message: ModelRequest) -> list[UserContent]:
    content: list[UserContent] = []
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            content.append(f"[Result of {part.tool_name}]\n{part.model_response_str()}")
        elif isinstance(part, UserPromptPart):
            content += [part.content] if isinstance(part.content, str) else part.content
    return content


def _call_as_text(part: ToolCallPart, tool: ToolSpec | None) -> str:
    server, name = (tool.server, _short_name(tool)) if tool else ("local", part.tool_name)
    return (
        f"{OPEN}\n<server_name>{server}</server_name>\n<tool_name>{name}</tool_name>\n"
        f"{ARGUMENTS}\n{part.args_as_json_str()}\n{ARGUMENTS_END}\n{CLOSE}"
    )


def _prompt(content: Sequence[UserContent]) -> ModelMessage:
    """Return a message of the user with one text, and files after it."""
    text = "\n\n".join(item for item in content if isinstance(item, str))
    files = [item for item in content if not isinstance(item, str)]
    return ModelRequest([UserPromptPart([text, *files] if files else text)])
