"""Several agents with the same prompt: what each has used, changed and asked, and the user's check of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.events import Noticed
from acp_tui.session.state import (
    Cost,
    Elicitation,
    Entry,
    Permission,
    Session,
    ToolCall,
    TurnEnd,
    UserMessage,
)
from acp_tui.session.usage_text import total_tokens

if TYPE_CHECKING:
    from acp_tui.controller.conversation import Conversation, UserCommands
    from acp_tui.session.events import Event
    from acp_tui.session.record import Change, Record
    from acp_tui.session.state import Terminal

WORDS = {"end_turn": "done", "max_turn_requests": "turn limit", "max_tokens": "token limit"}
"""How a turn ended, by the protocol's stop reason. Other reasons are shown as the agent sent them."""


STOP_SECONDS = 10.0
"""Seconds that an agent has to end a cancelled turn."""


@dataclass(frozen=True, slots=True)
class Work:
    """What an agent has needed for its turns so far."""

    seconds: float  # in which it worked
    tokens: int | None  # in its context; if it does not report them, those that its turns used
    cost: Cost | None
    tool_calls: int  # with those of its subagents
    questions: int  # permission requests and forms


def work_of(session: Session, now: float) -> Work:
    """Return what the agent of a session has needed so far. `now` is in seconds since the epoch."""
    entries = list(_all_entries(session))
    calls = sum(isinstance(entry, ToolCall) and not entry.served for entry in entries)
    questions = sum(map(_is_question, entries))
    return Work(_seconds(session, now), _tokens(session), session.usage.cost, calls, questions)


def _is_question(entry: Entry) -> bool:
    return isinstance(entry, Permission | Elicitation)


def _all_entries(session: Session) -> Iterator[Entry]:
    yield from session.entries
    for subagent in session.subagents.values():
        yield from subagent.session.entries


def _seconds(session: Session, now: float) -> float:
    began, seconds = 0.0, 0.0
    for entry in session.entries:
        if isinstance(entry, UserMessage) and not entry.steering:
            began = entry.at
        elif isinstance(entry, TurnEnd) and began:
            seconds += entry.at - began
    return seconds + (now - session.turn_started if session.turn_started is not None else 0.0)


def _tokens(session: Session) -> int | None:
    if session.usage.used is not None:
        return session.usage.used
    counts = total_tokens(turn.tokens for turn in session.turn_usages)
    return counts.get("totalTokens", sum(counts.values())) or None


def stop_words(session: Session) -> str:
    """Return how the last turn ended, in one or two words; empty if none has ended."""
    if not session.turn:
        return ""
    reason = session.stop_reason
    return "failed" if reason is None else WORDS.get(reason, reason.replace("_", " "))


class ComparedAgent:
    """One of the agents, with what is found out about its work whenever one of its turns has ended."""

    def __init__(self, name: str, check: str = "", check_seconds: float | None = None) -> None:
        """`check` is a shell command of the user, which may run for `check_seconds`; None for any time."""
        self.name = name
        self.conversation: Conversation | None = None
        """None until the agent is started."""
        self.changed_files: int | None = None
        """The number of files that differ from the commit that the worktree began with; None if unknown."""
        self._check = check
        self._check_seconds = check_seconds
        self._check_id: str | None = None
        self._turn_ended = asyncio.Event()
        self._inspection: asyncio.Task[None] | None = None

    def attach(self, conversation: Conversation) -> None:
        """Follow a conversation of the agent, in place of an earlier one."""
        self.conversation = conversation
        self._check_id, self.changed_files = None, None
        conversation.listen(self._see)

    @property
    def check_result(self) -> Terminal | None:
        """The last run of the check, which may still be running; None before the first one."""
        if self.conversation is None or self._check_id is None:
            return None
        return self.conversation.session.terminals.get(self._check_id)

    @property
    def is_working(self) -> bool:
        """Whether a turn or the check is running."""
        result = self.check_result
        is_checking = result is not None and result.ended_at is None
        return is_checking or (self.conversation is not None and self.conversation.session.working)

    async def inspected(self) -> None:
        """Wait until the work of the last turn has been inspected and checked."""
        if self._inspection is not None:
            await self._inspection

    async def stop(self) -> None:
        """Stop the running turn or check, and wait for its end. Raises `UserError` if it does not end."""
        conversation = self.conversation
        if conversation is None:
            return
        await self._end_check(conversation)
        if conversation.session.working:
            self._turn_ended.clear()
            await conversation.cancel()
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    await self._turn_ended.wait()
            except TimeoutError:
                sentence = f"{self.name} does not stop. Restart it in its tab, or close the tab."
                raise UserError(sentence) from None
        await self.inspected()

    def _see(self, _record: Record, _events: Sequence[Event], changes: Sequence[Change]) -> None:
        if any(change.kind == "added" and isinstance(change.entry, TurnEnd) for change in changes):
            self._turn_ended.set()
            self._inspection = asyncio.create_task(self._inspect(self._inspection))

    async def _inspect(self, earlier: asyncio.Task[None] | None) -> None:
        """Count the changed files, then run the check unless the turn has failed or was cancelled."""
        conversation = self.conversation
        assert conversation is not None
        if earlier is not None and not earlier.done():
            await self._end_check(conversation)
            await asyncio.wait([earlier])
        try:
            self.changed_files = len(await conversation.changes())  # before the check writes files
            if self._check and conversation.session.stop_reason not in (None, "cancelled"):
                await self._run_check(conversation.user_commands)
        except UserError as error:
            conversation.note(Noticed("warning", str(error)))

    async def _end_check(self, conversation: Conversation) -> None:
        if self._check_id is not None:
            await conversation.user_commands.kill(self._check_id)

    async def _run_check(self, commands: UserCommands) -> None:
        self._check_id = await commands.run(self._check)
        try:
            async with asyncio.timeout(self._check_seconds):
                await commands.wait(self._check_id)
        except TimeoutError:
            await commands.kill(self._check_id)
