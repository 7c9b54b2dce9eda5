"""Tool calls as XML in the text, for models without function calling.

The tools are described in the system prompt, and the model writes

    <use_mcp_tool>
    <server_name>local</server_name>
    <tool_name>read</tool_name>
    <arguments>{"path": "README.md"}</arguments>
    </use_mcp_tool>

`XmlCallReader` separates such calls from the prose while the text streams. Tags that are only mentioned are
prose: in a code span, inside a code block, or followed by anything but another tag. If a code block begins
with a call to an existing tool, the model has put it around its call: the call counts, the marks are dropped.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from acp_tui.local_agent.profile import CallBegun, CallPiece, CallRequest, TextPiece, ToolSpec

XmlEvent = TextPiece | CallBegun | CallPiece | CallRequest

OPEN, CLOSE = "<use_mcp_tool>", "</use_mcp_tool>"
ARGUMENTS, ARGUMENTS_END = "<arguments>", "</arguments>"
NAME_TAGS = ("server_name", "tool_name")
BLOCK_LANGUAGES = frozenset({"", "xml", "html", "text", "tool_call", "tool_code"})
"""Languages of the code blocks that models put around calls."""

INVALID_CALL = "invalid_call"
"""The name of a call that names no tool."""

MAX_HELD = 300
"""Longest piece of prose or of a name that is held back until it is clear what it is, in characters."""

_PROSE_STOP = re.compile(r"[\n`<]")
_ARGUMENTS_STOP = re.compile(r"</(?:arguments|use_mcp_tool)>")
_SKIP_STOP = re.compile(r"</?use_mcp_tool>")
_LINE_MARKS = re.compile(r" {0,3}(`+|~+|)")
_SPACES = re.compile(r"\s*")

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


def unknown_tool(name: str, tools: Sequence[ToolSpec]) -> str:
    """Return the sentence that tells the model which tools exist."""
    return f"There is no tool {name!r}. The tools are: {', '.join(tool.name for tool in tools) or 'none'}."


def new_call_id() -> str:
    return f"call_{uuid.uuid4().hex[:16]}"


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
    """Reads the text of one answer piece by piece.

    Calls and prose do not depend on how the text is cut into pieces.
    """

    def __init__(self, tools: Sequence[ToolSpec], *, new_id: Callable[[], str] = new_call_id) -> None:
        self._tools = tools
        self._by_name = {tool.name: tool for tool in tools}
        self._by_server = {(tool.server, _short_name(tool)): tool for tool in tools}
        self._new_id = new_id
        self._buffer = ""
        self._position = 0  # what is before has been read
        self._at_end = False
        self._events: list[XmlEvent] = []
        # Each state reads what it can, and returns False if it needs more text.
        self._state = self._read_prose
        # Prose. Spaces are held back until prose follows, so that a call leaves no empty lines behind.
        self._spaces = ""
        self._has_prose = False
        self._at_line_start = True
        self._backticks = 0  # in the current line; an odd number is an open code span
        # A code block
        self._marks = ""
        self._opening_line = ""
        self._is_block_dropped = False
        self._is_line_empty = False  # in a dropped block: another call can follow
        # A call
        self._raw = ""
        self._names: dict[str, str] = {}
        self._call_id = ""  # empty until the call has been reported
        self._arguments: list[str] | None = None
        self._first_end = -1  # of the closing tags in the arguments: the end if no other makes them JSON
        self._problem = ""

    def feed(self, text: str) -> list[XmlEvent]:
        """Return what follows from more text."""
        self._buffer = self._buffer[self._position :] + text
        self._position = 0
        while self._position < len(self._buffer) and self._state():
            pass
        events, self._events = self._events, []
        return events

    def finish(self) -> list[XmlEvent]:
        """Return the rest, after the last piece."""
        self._at_end = True
        events = self.feed("")
        while self._state in (self._read_call, self._read_arguments, self._skip_to_end):
            self._end_unfinished_call()
            events += self.feed("")
        return events

    # ------------------------------------------------------------------ reading

    def _take(self, end: int) -> str:
        """Read up to an index of the buffer."""
        taken = self._buffer[self._position : end]
        self._position = end
        return taken

    def _must_wait(self, end: int) -> bool:
        """Whether what has matched up to `end` can still become longer."""
        return end == len(self._buffer) and not self._at_end and end - self._position < MAX_HELD

    def _can_become(self, *tags: str) -> bool:
        """Whether the buffer ends within one of the tags."""
        rest = self._buffer[self._position : self._position + MAX_HELD]
        return not self._at_end and any(tag.startswith(rest) and tag != rest for tag in tags)

    def _add(self, event: XmlEvent) -> None:
        last = self._events[-1] if self._events else None
        if isinstance(event, TextPiece) and isinstance(last, TextPiece):
            self._events[-1] = TextPiece(last.text + event.text)
        elif isinstance(event, CallPiece) and isinstance(last, CallPiece):
            self._events[-1] = CallPiece(last.id, last.text + event.text)
        else:
            self._events.append(event)

    # ------------------------------------------------------------------ prose

    def _add_text(self, text: str) -> None:
        text = self._spaces + text
        stripped = text.rstrip()
        self._spaces = text[len(stripped) :]
        if stripped:
            self._add(TextPiece(stripped if self._has_prose else stripped.lstrip()))
            self._has_prose = True

    def _read_prose(self) -> bool:
        if self._at_line_start:
            is_block = self._begins_block()
            if is_block is None:
                return False
            self._at_line_start = False
            if is_block:
                self._opening_line = self._take(self._buffer.index("\n", self._position) + 1)
                self._state = self._read_block_start
                return True
        stop = _PROSE_STOP.search(self._buffer, self._position)
        if stop is None:
            self._add_text(self._take(len(self._buffer)))
            return True
        self._add_text(self._take(stop.start()))
        if stop[0] == "<" and self._backticks % 2 == 0:
            begins_call = self._begins_call(self._position)
            if begins_call is None:
                return False
            if begins_call:
                self._start_call()
                return True
        elif stop[0] == "`":
            self._backticks += 1
        elif stop[0] == "\n":
            self._at_line_start, self._backticks = True, 0
        self._add_text(self._take(stop.end()))
        return True

    def _begins_call(self, start: int) -> bool | None:
        """Whether a call begins there; None if that is not clear yet. Another tag must follow the first."""
        if not self._buffer.startswith(OPEN, start):
            is_beginning = OPEN.startswith(self._buffer[start:])
            return None if is_beginning and not self._at_end else False
        spaces = _SPACES.match(self._buffer, start + len(OPEN))
        assert spaces is not None
        if self._must_wait(spaces.end()):
            return None
        is_near = spaces.end() - self._position < MAX_HELD
        return is_near and self._buffer.startswith("<", spaces.end())

    def _return_to_prose(self) -> None:
        self._state = self._read_prose
        self._at_line_start, self._backticks = False, 0

    # ------------------------------------------------------------------ code blocks

    def _line_marks(self) -> str | None:
        """Return the backticks or tildes at the beginning of the line; None if there can be more."""
        match = _LINE_MARKS.match(self._buffer, self._position)
        assert match is not None
        return None if self._must_wait(match.end()) else match[1]

    def _begins_block(self) -> bool | None:
        marks = self._line_marks()
        if marks is None:
            return None
        if len(marks) < 3:
            return False
        end = self._buffer.find("\n", self._position, self._position + MAX_HELD)
        if end < 0:
            return None if self._must_wait(len(self._buffer)) else False
        language = self._buffer[self._position : end].strip().removeprefix(marks)
        self._marks = marks
        return "`" not in language

    def _read_block_start(self) -> bool:
        spaces = _SPACES.match(self._buffer, self._position)
        assert spaces is not None
        language = self._opening_line.strip().removeprefix(self._marks).strip()
        begins_call: bool | None = False
        if language in BLOCK_LANGUAGES:
            begins_call = None if self._must_wait(spaces.end()) else self._begins_call(spaces.end())
        if begins_call is None:
            return False
        self._at_line_start = True
        if begins_call:
            self._opening_line += self._take(spaces.end())
            self._start_call()
        else:
            self._start_block()
        return True

    def _start_block(self) -> None:
        self._add_text(self._opening_line)
        self._opening_line = ""
        self._is_block_dropped = False
        self._state = self._read_block

    def _read_block(self) -> bool:
        if self._at_line_start:
            marks = self._line_marks()
            if marks is None:
                return False
            if marks.startswith(self._marks):
                end = self._buffer.find("\n", self._position, self._position + MAX_HELD)
                if end < 0 and self._must_wait(len(self._buffer)):
                    return False
                end = len(self._buffer) if end < 0 and self._at_end else end
                if self._buffer[self._position : max(end, 0)].strip() == marks:
                    line = self._take(end)
                    self._add_text("" if self._is_block_dropped else line)
                    self._is_block_dropped = False
                    self._return_to_prose()
                    return True
            self._at_line_start = False
        if self._is_block_dropped and self._is_line_empty:
            spaces = _SPACES.match(self._buffer, self._position)
            assert spaces is not None
            begins_call = self._begins_call(spaces.end())
            if begins_call is None:
                return False
            if begins_call:
                self._take(spaces.end())
                self._start_call()
                return True
        end = self._buffer.find("\n", self._position)
        self._at_line_start = self._is_line_empty = end >= 0
        self._add_text(self._take(end + 1 if end >= 0 else len(self._buffer)))
        return True

    # ------------------------------------------------------------------ calls

    def _start_call(self) -> None:
        self._raw = self._take(self._position + len(OPEN))
        self._names = {}
        self._call_id = ""
        self._arguments = None
        self._first_end = -1
        self._problem = ""
        self._state = self._read_call

    def _read_call(self) -> bool:
        """Read the tags between the arguments and the ends of the call."""
        spaces = _SPACES.match(self._buffer, self._position)
        assert spaces is not None
        self._raw += self._take(spaces.end())
        if self._buffer.startswith(CLOSE, self._position):
            self._raw += self._take(self._position + len(CLOSE))
            self._end_call()
            return True
        if self._arguments is None and self._buffer.startswith(ARGUMENTS, self._position):
            if self._begin_call():
                self._take(self._position + len(ARGUMENTS))
                self._arguments = []
                self._state = self._read_arguments
            return True
        for tag in NAME_TAGS:
            opening, closing = f"<{tag}>", f"</{tag}>"
            if self._buffer.startswith(opening, self._position):
                end = self._buffer.find(closing, self._position, self._position + MAX_HELD)
                if end >= 0:
                    self._names[tag] = self._buffer[self._position + len(opening) : end].strip()
                    self._raw += self._take(end + len(closing))
                    return True
                if self._must_wait(len(self._buffer)):
                    return False
        if self._can_become(CLOSE, ARGUMENTS, *(f"<{tag}>" for tag in NAME_TAGS)):
            return False
        if self._begin_call():
            tags = ", ".join((*(f"<{tag}>" for tag in NAME_TAGS), ARGUMENTS))
            self._problem = f"The call contains something else than {tags}. Write it again with these alone."
            self._state = self._skip_to_end
        return True

    def _tool(self) -> ToolSpec | None:
        name = self._names.get("tool_name", "")
        return self._by_server.get((self._names.get("server_name", ""), name)) or self._by_name.get(name)

    def _begin_call(self) -> bool:
        """Report the call. If a code block begins with a call to no tool, go on with the block as it is."""
        if self._call_id:
            return True
        tool = self._tool()
        if self._opening_line:
            if tool is None:
                self._buffer = self._raw + self._buffer[self._position :]
                self._position = 0
                self._at_line_start = True
                self._start_block()
                return False
            self._opening_line = ""
            self._is_block_dropped = True
        self._spaces, self._has_prose = "", False
        self._call_id = self._new_id()
        name = tool.name if tool else self._names.get("tool_name") or INVALID_CALL
        self._add(CallBegun(self._call_id, name))
        return True

    def _read_arguments(self) -> bool:
        """Read JSON. A closing tag counts if the JSON is complete: strings can contain one."""
        stop = _ARGUMENTS_STOP.search(self._buffer, self._position)
        self._add_arguments(stop.start() if stop else self._end_without(ARGUMENTS_END, CLOSE))
        if stop is None:
            return False
        raw = "".join(self._arguments or [])
        if parse_arguments(raw)[1]:
            self._first_end = len(raw) if self._first_end < 0 else self._first_end
            self._add_arguments(stop.end())
        else:
            self._take(stop.end() if stop[0] == ARGUMENTS_END else stop.start())
            self._state = self._read_call
        return True

    def _add_arguments(self, end: int) -> None:
        text = self._take(end)
        if text and self._arguments is not None:
            self._arguments.append(text)
            self._add(CallPiece(self._call_id, text))

    def _skip_to_end(self) -> bool:
        stop = _SKIP_STOP.search(self._buffer, self._position)
        if stop is None:
            self._take(self._end_without(OPEN, CLOSE))
            return False
        self._take(stop.end() if stop[0] == CLOSE else stop.start())
        self._end_call()
        return True

    def _end_without(self, *tags: str) -> int:
        """Return the end of the buffer without what may be the beginning of a tag."""
        longest = max(map(len, tags))
        start = self._buffer.rfind("<", max(self._position, len(self._buffer) - longest))
        if start >= 0 and not self._at_end and any(tag.startswith(self._buffer[start:]) for tag in tags):
            return start
        return len(self._buffer)

    def _end_unfinished_call(self) -> None:
        """End the call that the end of the answer has cut off, or whose JSON hides where it ends."""
        if self._state == self._read_arguments:
            self._add_arguments(len(self._buffer))
            raw = "".join(self._arguments or [])
            if self._first_end >= 0 and parse_arguments(raw)[1]:
                self._arguments = [raw[: self._first_end]]
                self._buffer = raw[self._first_end :].removeprefix(ARGUMENTS_END)
                self._position = 0
                self._state = self._read_call
                if self._buffer:
                    return
            elif parse_arguments(raw)[1]:
                self._problem = "The call was cut off. Write it again, shorter if it was long."
        elif self._arguments is None and not self._problem:
            self._take(len(self._buffer))
            self._problem = "The call was cut off. Write it again."
        else:
            self._take(len(self._buffer))
        self._end_call()

    def _end_call(self) -> None:
        if not self._begin_call():
            return
        tool = self._tool()
        name = tool.name if tool else self._names.get("tool_name") or INVALID_CALL
        arguments, problem = parse_arguments("".join(self._arguments or []))
        if tool is None:
            problem = unknown_tool(name, self._tools)
            if name == INVALID_CALL:
                problem = f"The call has no <tool_name>. {problem}"
        self._add(CallRequest(self._call_id, name, arguments, self._problem or problem))
        self._opening_line = ""
        self._return_to_prose()
        if self._is_block_dropped:
            self._state = self._read_block
            self._is_line_empty = True


# ---------------------------------------------------------------------- history


def messages_as_text(messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]) -> list[ModelMessage]:
    """Return the messages with calls and results as text, as a model without function calling reads them.

    Roles alternate: some models accept nothing else.
    """
    by_name = {tool.name: tool for tool in tools}
    converted: list[ModelMessage] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            parts = _response_as_text(message, by_name)
            if parts:
                converted.append(replace(message, parts=parts))
            continue
        request = replace(message, parts=_request_as_text(message))
        last = converted[-1] if converted else None
        if isinstance(last, ModelRequest):
            converted[-1] = replace(request, parts=_joined_prompts([*last.parts, *request.parts]))
        else:
            converted.append(request)
    return converted


def _response_as_text(message: ModelResponse, by_name: dict[str, ToolSpec]) -> list[ModelResponsePart]:
    kept: list[ModelResponsePart] = []
    texts: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            texts.append(part.content)
        elif isinstance(part, ToolCallPart):
            texts.append(_call_as_text(part, by_name.get(part.tool_name)))
        else:
            kept.append(part)
    return [*kept, TextPart("\n\n".join(texts))] if texts else kept


def _call_as_text(part: ToolCallPart, tool: ToolSpec | None) -> str:
    server, name = (tool.server, _short_name(tool)) if tool else ("local", part.tool_name)
    return (
        f"{OPEN}\n<server_name>{server}</server_name>\n<tool_name>{name}</tool_name>\n"
        f"{ARGUMENTS}\n{part.args_as_json_str()}\n{ARGUMENTS_END}\n{CLOSE}"
    )


def _request_as_text(message: ModelRequest) -> list[ModelRequestPart]:
    parts: list[ModelRequestPart] = []
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            text, files = part.model_response_str_and_user_content()
            parts.append(UserPromptPart([f"[Result of {part.tool_name}]\n{text}", *files]))
        else:
            parts.append(part)
    return _joined_prompts(parts)


def _joined_prompts(parts: Sequence[ModelRequestPart]) -> list[ModelRequestPart]:
    """Join all prompts into the last one."""
    others: list[ModelRequestPart] = [part for part in parts if not isinstance(part, UserPromptPart)]
    texts: list[str] = []
    files: list[UserContent] = []
    for part in parts:
        if isinstance(part, UserPromptPart):
            contents = [part.content] if isinstance(part.content, str) else part.content
            for item in contents:
                if isinstance(item, str):
                    texts.append(item)
                else:
                    files.append(item)
    if not texts and not files:
        return others
    text = "\n\n".join(texts)
    return [*others, UserPromptPart([text, *files] if files else text)]
