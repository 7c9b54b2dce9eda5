"""Connects to an MCP server for one action on the command line.

Signs in, writes the server's log, and lets the user answer the server's questions.
"""

from __future__ import annotations

import csv
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.line_reader import LineReader, print_safely
from acp_tui.cli.options import is_interactive, is_yes
from acp_tui.console import content_stream, format_size, print_json, print_message, wrapped
from acp_tui.cpu_limit import pattern_found
from acp_tui.mcp.sign_in.interaction import check_authorization_url
from acp_tui.schema_form.fields import NO_VALUE, Field, NotAForm, expectation
from acp_tui.schema_form.schema_reader import read_form
from acp_tui.schema_form.values import Entry, EntryError, FormAnswer, read_json, read_value
from acp_tui.session.safe_text import escape_line, visible_excerpt

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.callbacks import ElicitationRequest
    from acp_tui.mcp.connection import McpConnection
    from acp_tui.mcp.server_recorder import ServerRecorder

DECLINE = FormAnswer("decline")
MAX_DEFAULT = 60


@asynccontextmanager
async def connected(
    server: ResolvedServer, source: str
) -> AsyncGenerator[tuple[McpConnection, ServerRecorder]]:
    """Connect to a server. The user answers the server's questions on the terminal. Raises `ServerFailure`.

    `source` is the name of the action, for the server's log.
    """
    from acp_tui.mcp.callbacks import ServerHandlers
    from acp_tui.mcp.connection import connect
    from acp_tui.mcp.failures import ServerFailure
    from acp_tui.mcp.server_recorder import ServerRecorder
    from acp_tui.mcp.sign_in.actions import provider_for

    recorder = ServerRecorder(server, source)
    base = ServerHandlers(on_elicitation=TerminalForm().answer, on_waiting=print_message)
    try:
        async with connect(
            server, roots=[Path.cwd()], auth=provider_for(server), handlers=recorder.handlers(base)
        ) as connection:
            recorder.connected(connection.protocol_version, connection.server_version)
            yield connection, recorder
    except ServerFailure as failure:
        recorder.failed(failure)
        raise


class TerminalForm:
    """Asks the user, on the terminal, the questions that MCP servers send during one run of acp-tui."""

    def __init__(self) -> None:
        self._lines = LineReader()

    async def answer(self, request: ElicitationRequest) -> FormAnswer:
        """Ask the user a server's question.

        Without a terminal, decline the question and print why.
        """
        name = escape_line(request.server)
        if not is_interactive():
            question = escape_line(request.message)
            print_message(f'{name} asks "{question}"; declined, because there is no terminal to ask you on.')
            return DECLINE
        print_safely("\n".join(wrapped(f"The server {name} asks: {escape_line(request.message)}")))
        if request.mode == "url":
            return await self._open_page(request)
        print_safely("Do not enter a secret unless you trust this server with it.")
        if not await self._agrees("Answer?"):
            return DECLINE
        try:
            content = await self._fill_in(request.schema)
        except EOFError:
            return FormAnswer("cancel")
        return FormAnswer("accept", content)

    async def _open_page(self, request: ElicitationRequest) -> FormAnswer:
        try:
            page = check_authorization_url(request.server, request.url)
        except ValueError as error:
            print_safely(f"The page {escape_line(request.url)} was declined: {error}.")
            return DECLINE
        for warning in page.warnings:
            print_safely(f"Warning: {warning}")
        print_safely(f"Open this page of {page.host} in a browser:\n\n{page.url}\n")
        return FormAnswer("accept") if await self._agrees("Will you open the page?") else DECLINE

    async def _agrees(self, question: str) -> bool:
        try:
            return is_yes(await self._read(f"{question} [y/N] "))
        except EOFError:
            return False

    async def _fill_in(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the answer that the user enters. Raises `EOFError` at the end of the input."""
        try:
            form = read_form(schema)
        except NotAForm as reason:
            print_safely(f"Enter the answer as JSON, because {escape_line(str(reason))}.")
            return await self._read_object(schema)
        content: dict[str, Any] = {}
        for field in form.fields:
            value = await self._read_field(field)
            if value is not NO_VALUE:
                content[field.name] = value
        return content

    async def _read_field(self, field: Field) -> Any:
        print_safely(_label(field))
        while True:
            text = await self._read("> ")
            try:
                if not text and field.default is not NO_VALUE:
                    return field.default
                return read_value(field, _entry(field, text), pattern_found)
            except EntryError as error:
                print_safely(f"  {escape_line(str(error))}")

    async def _read_object(self, schema: dict[str, Any]) -> dict[str, Any]:
        from acp_tui.mcp.schema_validation import SchemaValidator

        validator = SchemaValidator(schema)
        while True:
            try:
                value = read_json(await self._read("JSON> "))
            except EntryError as error:
                print_safely(f"  {escape_line(str(error))}")
                continue
            fault = validator.fault(value)
            if fault is None and isinstance(value, dict):
                return value
            print_safely(
                f"  {escape_line(fault.sentence)}"
                if fault is not None
                else "  The answer must be a JSON object."
            )

    async def _read(self, prompt: str) -> str:
        print_safely(prompt, end="")
        line = await self._lines.read_line()
        if line is None:
            print_safely("")
            raise EOFError
        return line


def _label(field: Field) -> str:
    """Return the lines to print before the user enters the value of a field."""
    expected = expectation(field, between_items="separated by commas")
    notes = [expected] if expected else []
    if field.default is not NO_VALUE:
        notes.append(f"Enter for {_default(field)}")
    elif not field.required:
        notes.append("optional")
    head = escape_line(field.label + (f" ({', '.join(notes)})" if notes else ""))
    lines = [head, *(wrapped(field.description, "  ") if field.description else [])]
    lines += [escape_line(f"  {at}  {choice.title}") for at, choice in enumerate(field.choices, 1)]
    return "\n".join(lines)


def _default(field: Field) -> str:
    for choice in field.choices:
        if choice.value == field.default and type(choice.value) is type(field.default):
            return choice.title
    return (
        visible_excerpt(field.default, MAX_DEFAULT) if isinstance(field.default, list) else str(field.default)
    )


def _entry(field: Field, text: str) -> Entry:
    """Parse the text that the user typed for a field. Raises `EntryError`."""
    if field.kind == "list":
        return "\n".join(part.strip() for line in csv.reader([text], skipinitialspace=True) for part in line)
    if not field.choices or (not text and field.kind == "choice"):
        return text
    words = text.replace(",", " ").split()
    numbers = [int(word) for word in words if word.isascii() and word.isdecimal() and len(word) < 6]
    if len(numbers) < len(words) or not all(1 <= number <= len(field.choices) for number in numbers):
        raise EntryError(f"Enter the number of a line, 1 to {len(field.choices)}.")
    if field.kind == "choice" and len(numbers) != 1:
        raise EntryError("Enter one number.")
    return tuple(number - 1 for number in numbers)


def print_blocks(blocks: Sequence[dict[str, Any]]) -> None:
    """Print content blocks, each on lines of its own."""
    for block in blocks:
        text = block_text(block)
        print(text, end="" if text.endswith("\n") else "\n", file=content_stream())


def print_result(blocks: Sequence[dict[str, Any]], structured: Any) -> None:
    """Print the result of a tool: its content blocks, or the structured form if there are no blocks."""
    print_blocks(blocks)
    if not blocks and structured is not None:
        print_json(structured)


def block_text(block: dict[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind in ("image", "audio"):
        return f"[{kind} {_line(block.get('mimeType'))}, {_size(block.get('data'))}]"
    if kind == "resource_link":
        return f"[resource {_line(block.get('name'))} {_line(block.get('uri'))}]"
    resource = block.get("resource")
    if kind == "resource" and isinstance(resource, dict):
        if isinstance(text := resource.get("text"), str):
            return text
        what = _line(resource.get("mimeType") or "binary data")
        return f"[{_line(resource.get('uri'))} {what}, {_size(resource.get('blob'))}]"
    return f"[{_line(kind)}]"


def _size(base64_text: object) -> str:
    text = base64_text if isinstance(base64_text, str) else ""
    return format_size(len(text) * 3 // 4 - text[-2:].count("="))


def _line(value: object) -> str:
    return escape_line(str(value or ""))
