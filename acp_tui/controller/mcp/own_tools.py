"""The built-in tools of acp-tui's own MCP server: they show things to the user and ask questions."""

from __future__ import annotations

import asyncio
import json
import os
import posixpath
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from acp_tui.config.sensitive_files import reason_for_reading
from acp_tui.errors import Refusal
from acp_tui.permissions.subject import Target

if TYPE_CHECKING:
    from acp_tui.controller.baseline_tracker import BaselineTracker
    from acp_tui.schema_form.values import FormAnswer
    from acp_tui.workspace.files.file_access import FileAccess


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A tool call with checked arguments: what the user is shown before allowing it, and how to run it."""

    run: Callable[[str], Awaitable[ToolResult]]  # called with the id of the call
    text: str = ""  # the question, message or address from the agent
    path: str | None = None
    line: int | None = None
    diffs: list[dict[str, Any]] = field(default_factory=list)  # each with `path`, `old` and `new`
    target: Target | None = None  # the file, for the permission
    facts: tuple[tuple[str, str], ...] = ()  # labels and values to show with the question
    hands_over_text: bool = False  # a permission that the agent obtained before does not cover the call
    always_ask: str | None = None  # why no rule and no policy may allow it, as a clause about "it"


class InvalidCallError(Exception):
    """A call that cannot be run. The message is a sentence for the agent."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call, for the agent and for the transcript."""

    text: str
    failed: bool = False
    structured: dict[str, Any] | None = None
    recorded: str | None = None
    """The text for the transcript if `text` must not appear there; otherwise None."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as an MCP `CallToolResult`."""
        result: dict[str, Any] = {
            "content": [{"type": "text", "text": self.text}],
            "isError": self.failed,
        }
        return result if self.structured is None else result | {"structuredContent": self.structured}


def failure(sentence: str) -> ToolResult:
    """Return the result of a tool that has failed, with the reason."""
    return ToolResult(sentence, failed=True)


MAX_TEXT = 1_000_000
"""The maximum length of each text of a diff, in characters."""
MAX_MESSAGE = 4_000
"""The maximum length of a message or question, in characters."""
MAX_SCHEMA = 50_000
MAX_URL = 2_000
MAX_FILE_BYTES = 5_000_000
MAX_SELECTION = 200_000
NO_SCREEN = "The user cannot be reached: acp-tui runs without a screen."

_ANSWER_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer", "minLength": 1}},
    "required": ["answer"],
}


class BuiltInTools:
    """The built-in tools of one conversation: checks the arguments of calls and prepares the calls."""

    def __init__(self, files: FileAccess, baseline: BaselineTracker) -> None:
        self.interface: UserInterface | None = None
        """The screen of the conversation; None if there is none."""
        self._files = files
        self._baseline = baseline
        self._tools: dict[str, Callable[[dict[str, Any]], Awaitable[PreparedCall]]] = {
            "show_file": self._show_file,
            "show_diff": self._show_diff,
            "ask_user": self._ask_user,
            "notify": self._notify,
            "open_url": self._open_url,
            "read_selection": self._read_selection,
        }

    async def prepare(self, name: str, arguments: dict[str, Any]) -> PreparedCall | None:
        """Check the arguments of a call; return None if there is no such tool. Raises `InvalidCallError`."""
        prepare = self._tools.get(name)
        return await prepare(arguments) if prepare is not None else None

    # ----------------------------------------------------------------- files and diffs

    async def _show_file(self, arguments: dict[str, Any]) -> PreparedCall:
        path, line = self._path(arguments), arguments.get("line")
        if line is not None and (isinstance(line, bool) or not isinstance(line, int) or line < 1):
            raise InvalidCallError("line must be a positive integer.")
        try:
            reading = await asyncio.to_thread(self._files.open_for_reading, path)
        except Refusal as refusal:
            raise InvalidCallError(f"{refusal.message}.") from None
        with reading:
            target = Target(path, str(reading.real), reading.inside, reading.sensitive)
            if reading.size > MAX_FILE_BYTES:
                raise InvalidCallError(f"The file has more than {MAX_FILE_BYTES:,} bytes.")
            try:
                text = await asyncio.to_thread(reading.text)
            except Refusal as refusal:
                raise InvalidCallError(f"{refusal.message}.") from None

        async def show(call_id: str) -> ToolResult:
            return self._show(call_id, text)

        return PreparedCall(show, path=path, line=line, target=target)

    async def _show_diff(self, arguments: dict[str, Any]) -> PreparedCall:
        path = self._path(arguments)
        old, new = (_optional_text(arguments, name, MAX_TEXT) for name in ("old", "new"))
        real = await asyncio.to_thread(posixpath.realpath, path)
        why = reason_for_reading(self._files.sensitive(path), self._files.sensitive(real))
        if old is None and new is None:
            if why:
                raise InvalidCallError(f"{path} {why}, so its changes are shown only in acp-tui's review.")
            old, new = await self._change_of(real)
        if old == new:
            raise InvalidCallError("The old and the new text are the same.")
        target = Target(path, real, self._files.roots.contains(Path(real)), why)
        diffs = [{"path": path, "old": old, "new": new}]

        async def show(call_id: str) -> ToolResult:
            return self._show(call_id, None)

        return PreparedCall(show, path=path, diffs=diffs, target=target)

    async def _change_of(self, real: str) -> tuple[str | None, str | None]:
        """Return a file's text when the session began, and the file's text now."""
        for change in await self._baseline.changes():
            if str(change.path) == real:
                versions = await self._baseline.versions(change)
                if versions.problem is not None:
                    raise InvalidCallError(versions.problem)
                return versions.old, versions.new
        raise InvalidCallError("The file has not changed since the session began.")

    def _show(self, call_id: str, text: str | None) -> ToolResult:
        if self.interface is None:
            return failure(NO_SCREEN)
        if self.interface.show(call_id, text):
            return ToolResult("Opened on the user's screen.")
        return ToolResult("Added to the transcript, but not opened, because the user is busy.")

    def _path(self, arguments: dict[str, Any]) -> str:
        path = _required_text(arguments, "path", 4096)
        try:
            invalid = b"\0" in os.fsencode(path)
        except UnicodeEncodeError:  # JSON can contain half of a surrogate pair
            invalid = True
        if invalid:
            raise InvalidCallError("path contains a character that is not allowed in file names.")
        return posixpath.join(str(self._files.roots.cwd), path)

    # ----------------------------------------------------------------- questions and messages

    async def _ask_user(self, arguments: dict[str, Any]) -> PreparedCall:
        question = _required_text(arguments, "question", MAX_MESSAGE)
        schema = arguments.get("schema")
        if schema is not None and (not isinstance(schema, dict) or schema.get("type", "object") != "object"):
            raise InvalidCallError("schema must be a JSON Schema of type object.")
        if schema is not None and len(json.dumps(schema)) > MAX_SCHEMA:
            raise InvalidCallError(f"schema has more than {MAX_SCHEMA:,} characters.")

        async def ask(_call_id: str) -> ToolResult:
            if self.interface is None:
                return failure(NO_SCREEN)
            answer = await self.interface.ask(question, {"type": "object", **(schema or _ANSWER_SCHEMA)})
            if answer.action != "accept" or answer.content is None:
                declined = answer.action == "decline"
                words = "The user declined to answer." if declined else "The user closed the question."
                return ToolResult(words, structured={"action": "decline" if declined else "cancel"})
            text = json.dumps(answer.content, ensure_ascii=False)
            if schema is None:
                text = str(answer.content.get("answer", ""))
            structured = {"action": "accept", "content": answer.content}
            return ToolResult(text, structured=structured, recorded="The user answered.")

        return PreparedCall(ask, text=question)

    async def _notify(self, arguments: dict[str, Any]) -> PreparedCall:
        message = _required_text(arguments, "message", MAX_MESSAGE)

        async def notify(_call_id: str) -> ToolResult:
            if self.interface is None:
                return ToolResult("The message was added to the conversation.")
            self.interface.alert(message)
            return ToolResult("The user was notified.")

        return PreparedCall(notify, text=message)

    async def _open_url(self, arguments: dict[str, Any]) -> PreparedCall:
        url = _required_text(arguments, "url", MAX_URL)
        host = _host(url)

        async def open_url(_call_id: str) -> ToolResult:
            if self.interface is None:
                return failure(NO_SCREEN)
            if not await asyncio.to_thread(self.interface.open_url, url):
                return failure("The page could not be opened: no browser could be started.")
            return ToolResult("The page was opened in the user's browser.")

        return PreparedCall(
            open_url,
            text=url,
            facts=(("host", host), ("address", url)),
            always_ask="it opens a page in your browser",
        )

    async def _read_selection(self, _arguments: dict[str, Any]) -> PreparedCall:
        if self.interface is None:
            raise InvalidCallError(NO_SCREEN)
        text = self.interface.selection()
        if not text.strip():
            raise InvalidCallError("Nothing is selected.")
        if len(text) > MAX_SELECTION:
            raise InvalidCallError(f"The selection has more than {MAX_SELECTION:,} characters.")

        async def read(_call_id: str) -> ToolResult:
            return ToolResult(text, recorded="The agent was given the selected text.")

        return PreparedCall(read, text=text, hands_over_text=True)


def _required_text(arguments: dict[str, Any], name: str, maximum: int) -> str:
    text = _optional_text(arguments, name, maximum)
    if text is None or not text.strip():
        raise InvalidCallError(f"{name} must be a non-empty string.")
    return text


def _optional_text(arguments: dict[str, Any], name: str, maximum: int) -> str | None:
    text = arguments.get(name)
    if text is not None and not isinstance(text, str):
        raise InvalidCallError(f"{name} must be a string.")
    if text is not None and len(text) > maximum:
        raise InvalidCallError(f"{name} has more than {maximum:,} characters.")
    return text


def _host(url: str) -> str:
    """Return the host of an http or https address.

    Raises `InvalidCallError` for other addresses, and for addresses that could mislead the user.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not host:
        raise InvalidCallError("url must begin with http:// or https:// and name a host.")
    if any(character.isspace() or not character.isprintable() for character in url) or "\\" in url:
        raise InvalidCallError("url contains spaces, backslashes or invisible characters.")
    if parts.username is not None:
        raise InvalidCallError("url contains a user name, which can hide the host.")
    return host


class UserInterface(Protocol):
    """What acp-tui's own tools can do on the screen of a conversation."""

    def show(self, call_id: str, text: str | None) -> bool:
        """Open a view of the file or the diff that a tool call wants to show.

        `text` is the content of the file; None for a diff. Return False if nothing is opened, for
        example because the user is busy.
        """

    def alert(self, message: str) -> None:
        """Show a message. If the terminal is not focused, also alert the user as configured."""

    async def ask(self, message: str, schema: dict[str, Any]) -> FormAnswer:
        """Ask the user to fill in a form made from a JSON schema."""

    def open_url(self, url: str) -> bool:
        """Open a page in the browser. Return False if there is no browser, or if it could not be started."""

    def selection(self) -> str:
        """Return the selected text; empty if nothing is selected."""
