"""What the user writes, attaches and runs, on its way from the prompt to the runner."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from textual import on

from acp_tui.session.state import Terminal
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.screens.session import SessionScreen
from acp_tui.ui.widgets.queue_strip import QueueStrip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.errors import UserError
    from acp_tui.session.change import Change
    from acp_tui.session.state import Agent, Entry, QueuedPrompt, Session
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.status_tracker import StatusTracker
    from acp_tui.ui.theme.palette import Palette


class Prompting(SessionScreen):
    """A part of the conversation's screen: prompts, the queue, attachments, and `!commands`."""

    runner: ConversationRunner

    def __init__(self, session: Session, status: StatusTracker, palette: Palette, prompt: Prompt) -> None:
        super().__init__(session, status, palette)
        self.prompt = prompt
        """Where the user writes."""
        self._own: list[Terminal] = []  # commands of the user that run

    # ------------------------------------------------------------------------- prompts

    @on(Prompt.Submitted)
    def _submitted(self, event: Prompt.Submitted) -> None:
        self.transcript.follow()
        self.runner.submit(event.text, event.attachments)

    @on(Prompt.SendNow)
    def _send_now(self, event: Prompt.SendNow) -> None:
        self.transcript.follow()
        self.runner.send_now(event.text, event.attachments)

    @on(Prompt.Resume)
    def _resume(self) -> None:
        self.runner.resume()

    @on(Prompt.TakeBack)
    def _take_back(self) -> None:
        self._edit_queued(self.runner.take_back())

    def _edit_queued(self, queued: QueuedPrompt | None) -> None:
        if queued is not None:
            self.prompt.load(self.prompt.with_attached(queued.text, queued.blocks))

    @on(Prompt.Changed)
    def _draft_changed(self, event: Prompt.Changed) -> None:
        self.runner.save_draft(event.text)

    @on(QueueStrip.Leave)
    def _queue_left(self) -> None:
        self.prompt.focus()

    @on(QueueStrip.SendNow)
    def _queued_now(self, event: QueueStrip.SendNow) -> None:
        self.runner.send_queued_now(event.queued)

    @on(QueueStrip.Edit)
    def _queued_edit(self, event: QueueStrip.Edit) -> None:
        self._edit_queued(self.runner.take_back(event.queued))
        self.prompt.focus()

    @on(QueueStrip.Remove)
    def _queued_remove(self, event: QueueStrip.Remove) -> None:
        self.runner.remove_queued(event.queued)

    # ------------------------------------------------------------------------- attachments

    def _use_workspace(self) -> None:
        """The conversation is there: its files can be attached."""
        conversation = self.runner.conversation
        assert conversation is not None
        self.prompt.use_files(str(conversation.cwd), conversation.listing.current)

    def _use_agent(self, agent: Agent) -> None:
        """It is known what the agent takes."""
        title = agent.title or agent.name or self._status.agent
        takes = agent.can("promptCapabilities", "image")
        self.prompt.refuse_images("" if takes else f"{title} takes no images")

    async def confirm(self, question: str, *, yes: str, no: str) -> bool:
        """Ask the user a yes-or-no question."""
        from acp_tui.ui.screens.confirm import ConfirmScreen

        answer: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()

        def answered(yes: bool | None) -> None:
            if not answer.done():
                answer.set_result(yes)

        dialog = ConfirmScreen(question, self._palette, yes=yes, no=no)
        self.app.push_screen(dialog, answered)
        return bool(await answer)

    def send_failed(self, error: UserError, text: str) -> None:
        """The prompt comes back, unless a new one was begun meanwhile; then it is in the history."""
        if not self.prompt.text:
            self.prompt.load(text)
        self.notify(str(error), severity="warning", timeout=10, markup=False)

    # ------------------------------------------------------------------------- commands

    @on(Prompt.CommandLine)
    def _run_command(self, event: Prompt.CommandLine) -> None:
        self.transcript.follow()
        self.runner.run_command(event.line)

    def _follow_commands(self, changes: Sequence[Change]) -> None:
        """Know what runs; offer the output of what has ended."""
        for change in changes:
            entry = change.entry
            if not isinstance(entry, Terminal) or entry.owner != "user":
                continue
            if change.kind == "added":
                self._own.append(entry)
                self.refresh_bindings()  # Esc ends it
            if entry.ended_at is not None and any(one is entry for one in self._own):
                self._own = [one for one in self._own if one is not entry]
                self.refresh_bindings()
                self.prompt.offer_output(entry.command or "", partial(_output, entry))

    def _kill_last(self) -> bool:
        """End the command of the user's that was started last; False: none runs."""
        if not self._own:
            return False
        self.runner.kill_command(self._own[-1].terminal_id)
        return True

    def _with_entry(self, what: str, entry: Entry) -> None:
        match what:
            case "kill":
                self._kill_command(entry)
            case "attach":
                self._attach_output(entry)
            case _:
                super()._with_entry(what, entry)

    def _kill_command(self, entry: Entry) -> None:
        if isinstance(entry, Terminal) and entry.owner == "user" and entry.ended_at is None:
            self.runner.kill_command(entry.terminal_id)
        else:
            self.notify("This is not one of your running commands.", timeout=3)

    def _attach_output(self, entry: Entry) -> None:
        if isinstance(entry, Terminal):
            self.prompt.attach_output(entry.command or "", _output(entry))
            self.prompt.focus()
        else:
            self.notify("Only command output can be attached.", timeout=3)


def _output(terminal: Terminal) -> str:
    from acp_tui.ui.entries.terminal.command_output import command_output

    return command_output(terminal)
