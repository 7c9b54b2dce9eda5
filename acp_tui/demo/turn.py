"""One turn: what can be sent while a prompt is answered, and the slash commands that answer it."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from acp import (
    plan_entry,
    schema,
    start_tool_call,
    text_block,
    tool_content,
    update_plan,
    update_tool_call,
    update_user_message,
)
from acp.utils import serialize_params

from acp_tui.demo.sessions import MODELS, OpenSession

if TYPE_CHECKING:
    from acp.helpers import ContentBlock, ToolCallContentVariant

    from acp_tui.demo.wire import Wire

_SPLITTERS: dict[str, Callable[[str], list[str]]] = {
    "character": list,
    "word": re.compile(r"\S+\s*|\s+").findall,
    "line": lambda text: text.splitlines(keepends=True),
}
"""Functions that split a text into the chunks in which it is sent."""

NO_RUNNING_TURN = {"outcome": "promptRequired", "reason": "noRunningTurn"}
"""The answer to a steering message when no turn is running: the client must send the message as a prompt."""


class EndTurn(Exception):  # noqa: N818 - not an error
    """Raised by a command to end the turn with a stop reason."""

    def __init__(self, reason: schema.StopReason) -> None:
        super().__init__(reason)
        self.reason: schema.StopReason = reason


class Turn:
    """The context of one prompt: the client, the session, and methods to send updates."""

    def __init__(
        self, session: OpenSession, wire: Wire, blocks: Sequence[ContentBlock], meta: dict[str, Any]
    ) -> None:
        self.session = session
        self.stored = session.stored
        self.client = session.client
        self.capabilities = session.capabilities
        self.wire = wire
        self.blocks = blocks
        self.meta = meta
        self.request_id = wire.request_id
        self._steering: list[str] = []  # messages that came during the turn and are not yet answered
        self.argument = ""
        """The text after the name of the command."""
        self.ignores_cancel = False
        """Set by `/hang` to ignore `session/cancel`."""
        self.request_cancelled = False
        """Set if the client cancelled the prompt with `$/cancel_request`."""
        self.characters_sent = 0
        """Characters sent in messages and thoughts of this turn. The token usage is estimated from them."""

    @property
    def text(self) -> str:
        """The text of the prompt, without attachments."""
        texts = [block.text for block in self.blocks if isinstance(block, schema.TextContentBlock)]
        return " ".join(texts).strip()

    @property
    def session_id(self) -> str:
        return self.stored.id

    @property
    def cwd(self) -> Path:
        """The working folder of the session."""
        return Path(self.stored.cwd)

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """The client's capabilities as sent. The SDK's models drop those that they do not know."""
        capabilities: dict[str, Any] = self.wire.initialize_params.get("clientCapabilities", {})
        return capabilities

    def number(self, default: int, *, maximum: int, position: int = 0) -> int:
        """Return a word of the argument as a number, at most `maximum`; the default if it is no number."""
        word = "".join(self.argument.split()[position : position + 1])
        return min(int(word), maximum) if word.isascii() and word.isdigit() else default

    # ------------------------------------------------------------------ updates

    async def send_update(self, update: Any, *, store: bool = True) -> None:
        """Send a session update; if `store` is true, add it to the history for replay."""
        await self.session.send(update)
        if store:
            self.store_update(update)

    def store_update(self, update: Any) -> None:
        """Add an update to the history, without sending the update."""
        self.stored.history.add(serialize_params(update))

    async def send_raw_update(self, kind: str, /, session_id: str | None = None, **update: Any) -> None:
        """Send an update that the SDK's models cannot express, by default for this session."""
        params = {"sessionId": session_id or self.session_id, "update": {"sessionUpdate": kind, **update}}
        await self.wire.notify("session/update", params)

    # ------------------------------------------------------------------ messages

    async def say(self, text: str, *, chunking: Literal["character", "word", "line"] = "word") -> None:
        """Send an agent message in chunks."""
        await self._stream(schema.AgentMessageChunk, "agent_message_chunk", _SPLITTERS[chunking](text))

    async def think(self, text: str) -> None:
        """Send a thought in chunks, unless the user turned thoughts off."""
        if self.stored.settings.thoughts:
            await self._stream(schema.AgentThoughtChunk, "agent_thought_chunk", _SPLITTERS["word"](text))

    async def send_content(self, block: ContentBlock) -> None:
        """Send a content block, such as an image or a resource, as a separate message."""
        chunk = schema.AgentMessageChunk(
            session_update="agent_message_chunk", content=block, message_id=str(uuid.uuid4())
        )
        await self.send_update(chunk)
        await self.pause()

    async def _stream(self, chunk: type[Any], kind: str, pieces: Sequence[str]) -> None:
        message_id = str(uuid.uuid4())
        for piece in pieces:
            content = text_block(piece)
            await self.send_update(chunk(session_update=kind, content=content, message_id=message_id))
            self.characters_sent += len(piece)
            await self.pause()

    async def send_plan(self, steps: Sequence[str], done: int) -> None:
        """Send the whole plan, with the first `done` steps completed and the next one in progress."""

        def status(position: int) -> schema.PlanEntryStatus:
            if position < done:
                return "completed"
            return "in_progress" if position == done else "pending"

        priorities: tuple[schema.PlanEntryPriority, ...] = ("high", "medium", "low")
        await self.send_update(
            update_plan(
                plan_entry(step, priority=priorities[min(index, 2)], status=status(index))
                for index, step in enumerate(steps)
            )
        )
        await self.pause(10)

    @property
    def token_usage(self) -> schema.Usage:
        """The usage of this turn, estimated at four characters per token."""
        read, said = len(self.text) // 4, self.characters_sent // 4
        return schema.Usage(input_tokens=read, output_tokens=said, total_tokens=read + said)

    async def send_usage(self) -> None:
        """Add this turn to the session's usage and send the new total."""
        tokens = self.token_usage.total_tokens
        self.stored.used += tokens
        self.stored.cost += tokens * MODELS[self.stored.settings.model].price / 1000
        await self.session.send_usage()

    # ------------------------------------------------------------------ questions

    async def ask_permission(
        self, call: schema.ToolCallUpdate, options: Sequence[schema.PermissionOption]
    ) -> schema.PermissionOption:
        """Ask for permission and return the option that was chosen.

        Raises `EndTurn` if the client answers `cancelled`, because the turn was cancelled. Also raises
        `EndTurn` if the client chooses an option that was not offered.
        """
        answer = await self.client.request_permission(self.session_id, call, list(options))
        if not isinstance(answer.outcome, schema.AllowedOutcome):
            raise EndTurn("cancelled")
        for option in options:
            if option.option_id == answer.outcome.option_id:
                return option
        await self.say(f"Your client chose `{answer.outcome.option_id}`, which is not one of the options.")
        raise EndTurn("end_turn")

    def can_elicit(self, mode: Literal["form", "url"]) -> bool:
        """Return True if the client supports this mode of elicitation. Others must not be used."""
        return getattr(self.capabilities.elicitation, mode, None) is not None

    async def elicit_form(self, message: str, fields: dict[str, Any]) -> schema.CreateElicitationResponse:
        """Ask the user to fill in a form, which a JSON schema describes."""
        params = {"sessionId": self.session_id, "requestedSchema": fields}
        form = schema.ElicitationFormSessionMode.model_validate(params)
        return await self.client.create_elicitation(message, form)

    async def elicit_visit(self, message: str, url: str, page_id: str) -> schema.CreateElicitationResponse:
        """Ask the user to visit a web page."""
        params = {"sessionId": self.session_id, "elicitationId": page_id, "url": url}
        page = schema.ElicitationUrlSessionMode.model_validate(params)
        return await self.client.create_elicitation(message, page)

    # ------------------------------------------------------------------ pace

    async def pause(self, steps: float = 1) -> None:
        """Pause. The pace setting determines the length of a step. The turn can be cancelled meanwhile."""
        await self.wait(steps * self.stored.settings.delay)

    async def wait(self, seconds: float) -> None:
        """Wait, then answer the messages that the user has sent into the turn meanwhile."""
        await asyncio.sleep(seconds)
        await self.answer_steering()

    # ------------------------------------------------------------------ steering

    def steer(self, blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Accept a message that the user sends into the turn. Return the result of the client's request.

        The turn answers the message at its next pause.
        """
        for block in blocks:
            if block["type"] == "text":
                self.store_update(update_user_message(text_block(block["text"])))
                self._steering.append(block["text"])
        return {"outcome": "injected"}

    async def answer_steering(self) -> None:
        """Answer the messages that `steer` has accepted."""
        while self._steering:
            await self.say(f'\n\nIn the middle of this turn, you said: "{self._steering.pop(0)}"\n\n')


# ------------------------------------------------------------------ tool calls


def text_content(text: str) -> schema.ContentToolCallContent:
    """Return a text as content of a tool call."""
    return tool_content(text_block(text))


def standard_options(kind: schema.ToolKind) -> list[schema.PermissionOption]:
    """Return options to allow or reject, once or always. "Always" means all tool calls of this kind."""
    what = {"edit": "edits", "execute": "commands"}.get(kind, f"calls of kind {kind}")
    always = f"all {what} in this session"
    options: tuple[tuple[str, str, schema.PermissionOptionKind], ...] = (
        ("allow", "Allow", "allow_once"),
        ("allow-always", f"Allow {always}", "allow_always"),
        ("reject", "Reject", "reject_once"),
        ("reject-always", f"Reject {always}", "reject_always"),
    )
    return [schema.PermissionOption(option_id=key, name=name, kind=kind) for key, name, kind in options]


class ToolCall:
    """Sends a tool call and its updates. `start` comes first: it announces the id that updates refer to."""

    def __init__(
        self,
        turn: Turn,
        title: str,
        kind: schema.ToolKind | None,
        *,
        raw_input: Any = None,
        content: Sequence[ToolCallContentVariant] = (),
        path: Path | None = None,
        line: int | None = None,
    ) -> None:
        self._turn = turn
        self.id = f"call-{uuid.uuid4().hex[:8]}"
        self._kind = kind
        self._content = list(content)
        self._description: dict[str, Any] = {
            "title": title,
            "kind": kind,
            "content": self._content or None,
            "locations": [schema.ToolCallLocation(path=str(path), line=line)] if path else None,
            "raw_input": raw_input,
        }

    async def start(self, status: schema.ToolCallStatus = "pending") -> ToolCall:
        """Announce the tool call to the client."""
        await self._turn.send_update(start_tool_call(self.id, status=status, **self._description))
        await self._turn.pause(15)
        return self

    async def update(self, **changes: Any) -> None:
        """Send what has changed. The client keeps the rest, also the content if that is None."""
        await self._turn.send_update(update_tool_call(self.id, **changes))

    async def complete(
        self, *, content: Sequence[ToolCallContentVariant] | None = None, raw_output: Any = None
    ) -> None:
        """Set the status to `completed`."""
        await self.update(status="completed", content=content, raw_output=raw_output)
        await self._turn.pause(15)

    async def fail(self, reason: str) -> None:
        """Set the status to `failed` and add the reason below the content."""
        await self.update(status="failed", content=[*self._content, text_content(reason)])
        await self._turn.pause(15)

    async def ask(self, options: Sequence[schema.PermissionOption]) -> schema.PermissionOption:
        """Ask for permission, with everything that the user needs to decide. Raises `EndTurn`."""
        call = schema.ToolCallUpdate(tool_call_id=self.id, status="pending", **self._description)
        return await self._turn.ask_permission(call, options)

    async def start_if_allowed(self) -> bool:
        """Announce the call, and set the status to `in_progress` if it is allowed, otherwise to `failed`."""
        await self.start()
        refusal = await self._refusal()
        await (self.fail(refusal) if refusal else self.update(status="in_progress"))
        return refusal is None

    async def _refusal(self) -> str | None:
        """Return why the call is not allowed, by the mode, by a remembered answer, or by asking the user."""
        stored = self._turn.stored
        if stored.settings.mode == "plan":
            return "Refused: the demo changes nothing in plan mode. Switch to another mode first."
        if stored.settings.mode == "auto":
            return None
        kind: schema.ToolKind = self._kind or "other"
        allowed = stored.remembered.get(kind)
        if allowed is None:
            option = await self.ask(standard_options(kind))
            allowed = option.kind.startswith("allow")
            if option.kind.endswith("always"):
                stored.remembered[kind] = allowed
        return None if allowed else "Rejected by the user."


# ------------------------------------------------------------------ slash commands

CommandFunction = Callable[[Turn], Awaitable["schema.StopReason | None"]]
"""Runs a command and returns the stop reason of the turn; None means `end_turn`."""


@dataclass(frozen=True)
class SlashCommand:
    """A slash command and its description for the client's menu."""

    name: str
    description: str
    hint: str | None  # describes the argument
    run: CommandFunction


def slash_command(
    name: str, description: str, hint: str | None = None
) -> Callable[[CommandFunction], SlashCommand]:
    """Turn the decorated function into a slash command. `commands.COMMANDS` lists them."""
    return lambda run: SlashCommand(name, description, hint, run)
