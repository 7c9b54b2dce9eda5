"""The dialogs in which the user signs in to the agent of a conversation."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from rich.segment import Segment
from textual.app import ComposeResult, SuspendNotSupported

from acp_tui.guarded_question import GuardedAnswer, GuardedQuestion
from acp_tui.session.safe_text import escape_invisible, escape_invisible_line, escape_line
from acp_tui.session.state import AgentMessage, AuthMethod, Choice, Notice
from acp_tui.ui import keys
from acp_tui.ui.dialogs.base_screen import app_of
from acp_tui.ui.dialogs.dialog import BoxDialog, scroll_page
from acp_tui.ui.drawing.body import Body, LinesBody
from acp_tui.ui.drawing.wrap import make_strip, shorten, wrap
from acp_tui.ui.keys.commands import PaletteCommand
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.select_list import SelectList, SelectRow

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.controller import Conversation
    from acp_tui.processes.piped_process import LineRing
    from acp_tui.session.record import Change
    from acp_tui.ui.conversation.reopening import AgentReadiness
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.session_screen import SessionScreen
    from acp_tui.ui.widgets.bar import Hint

    Proceed: TypeAlias = Callable[[], Awaitable[None]]


POLL_SECONDS = 0.25
"""Seconds between two reads of the agent's stderr."""
MAX_OUTPUT_LINES = 200
MAX_TEXT = 4000
"""The maximum number of characters shown of one message of the agent."""
MAX_ADDRESSES = 5
MAX_TITLE_WIDTH = 40
_ADDRESS = re.compile(r"https?://[^\s<>\"'`|]+")
REFUSE = GuardedAnswer("Do not run the command")
RUN = GuardedAnswer("Run the command in this terminal", grants=True)
AUTHENTICATE = GuardedAnswer("Let the agent sign in by itself", grants=True)


class SignInDialogs:
    """Lets the user choose a sign-in method, and signs in with it."""

    def __init__(self, screen: SessionScreen, runner: ConversationRunner, readiness: AgentReadiness) -> None:
        self._screen = screen
        self._runner = runner
        self._context = screen.context
        self._readiness = readiness
        self._is_asking = False
        """True while the user chooses a method, and while the program of the chosen method runs."""
        self._progress: SignInProgress | None = None

    def offer(self, methods: Sequence[AuthMethod], reason: str = "") -> None:
        """Let the user choose one of these methods, and sign in with it.

        `reason` is shown above the methods. Does nothing while an earlier call waits for the user's choice or
        for a sign-in program.
        """
        if methods and not self._is_asking:
            self._is_asking = True
            self._screen.run_worker(self._sign_in(list(methods), reason), group="sign in")

    def commands(self) -> Iterator[PaletteCommand]:
        """Return the commands that are available now, for the command palette."""
        agent = self._context.session.agent
        if agent is None:
            return
        if agent.auth_methods:
            yield PaletteCommand("Sign in", self._open, "Agent", word="login")
        if agent.can("auth", "logout"):
            yield PaletteCommand("Sign out", self._sign_out, "Agent", word="logout")

    def _open(self) -> None:
        agent = self._context.session.agent
        if not self._is_busy() and agent is not None and not self._runner.sign_in.waiting:
            self.offer(agent.auth_methods)

    def _sign_out(self) -> None:
        if not self._is_busy():
            self._runner.sign_out()

    def _is_busy(self) -> bool:
        """Return True and show the reason if a turn is running: signing in or out could end the turn."""
        if reason := self._screen.busy_reason():
            self._screen.notify(reason, markup=False)
        return bool(reason)

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Show the agent's messages during a sign-in.

        If a sign-in that the user has cancelled still succeeds, open the session.
        """
        if self._progress is not None:
            self._progress.show_changes(changes)
        signed_in = any(change.kind == "fact" and change.fact == "auth_required" for change in changes)
        if signed_in and not self._context.session.auth_required and not self._runner.sign_in.waiting:
            self._screen.run_worker(self._runner.sign_in.notice_late_success(), group="sign in")

    # ------------------------------------------------------------------------- signing in

    async def _sign_in(self, methods: list[AuthMethod], reason: str) -> None:
        try:
            proceed = await self._choose(methods, reason)
        finally:
            self._is_asking = False
        await proceed()

    async def _choose(self, methods: list[AuthMethod], reason: str) -> Proceed:
        from acp_tui.ui.dialogs.choose import ChooseScreen

        choices = method_choices(methods)
        dialog = ChooseScreen("Choose a sign-in method", choices, note=escape_line(reason))
        chosen = await self._screen.ask(dialog)
        return self._abandon if chosen is None else await self._prepare(methods[int(chosen)])

    async def _prepare(self, method: AuthMethod) -> Proceed:
        """Do what a method needs before the agent is called, such as running a program.

        Return the function to call next.
        """
        from acp_tui.controller import unusable_method_sentence

        if method.way == "unknown":
            self._screen.notify(unusable_method_sentence(method), timeout=10, markup=False)
            return self._abandon
        if method.way == "terminal":
            return await self._run_program(method)
        if method.way == "suggested":
            return await self._ask_about_command(method)
        return partial(self._by_agent, method)

    async def _abandon(self) -> None:
        self._runner.sign_in.abandon()

    async def _failed(self, reason: str) -> None:
        self._runner.sign_in.failed(reason)

    async def _by_agent(self, method: AuthMethod) -> None:

        conversation = self._conversation
        self._screen.call_later(self._readiness.work_started)  # later, when `sign_in.waiting` is true
        self._progress = dialog = SignInProgress(
            conversation.launch.title, method.name, conversation.agent_stderr
        )
        self._screen.open_dialog(dialog, lambda _: self._runner.sign_in.cancel())
        try:
            await self._runner.sign_in.by_agent(method)
        finally:
            self._progress = None
            dialog.finish()

    async def _ask_about_command(self, method: AuthMethod) -> Proceed:
        from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen

        conversation = self._conversation
        question = command_question(conversation.launch.title, method, str(conversation.cwd))
        index = await self._screen.ask(GuardedQuestionScreen(question))
        answer = question.answers[index or 0]
        if answer is RUN:
            return await self._run_program(method)
        return partial(self._by_agent, method) if answer is AUTHENTICATE else self._abandon

    async def _run_program(self, method: AuthMethod) -> Proceed:
        """Run the program of a method in the terminal; return the function to call next."""
        from acp_tui.controller import failed_program_sentence, sign_in_command
        from acp_tui.ui.terminal.suspend import release_terminal, run_program

        conversation = self._conversation
        command, environment = sign_in_command(conversation.launch, method)
        line = escape_invisible_line(shlex.join(command))
        try:
            with release_terminal(self._screen.app):
                print(f"Signing in to {conversation.launch.title}: {line}", flush=True)
                code = await run_program(command, {**os.environ, **environment}, cwd=str(conversation.cwd))
        except SuspendNotSupported:
            return partial(self._failed, "This terminal does not support running another program.")
        except OSError as error:
            return partial(self._failed, f"{escape_line(command[0])}: {error.strerror or error}")
        if app_of(self._screen).exit_signal is not None:
            return self._abandon  # acp-tui ends, and has ended the program
        if code == 0:
            return partial(self._runner.sign_in.by_program, method)
        return partial(self._failed, failed_program_sentence(method, code))

    @property
    def _conversation(self) -> Conversation:
        assert self._runner.conversation is not None
        return self._runner.conversation


class SignInProgress(BoxDialog[None]):
    """Shows the agent's output during a sign-in. Esc closes the dialog and cancels the sign-in."""

    CSS = """
    SignInProgress #output { margin: 1 0; }
    SignInProgress #addresses { margin-bottom: 1; }
    """
    BINDINGS: ClassVar = keys.bindings("choose")

    clock = staticmethod(time.monotonic)
    """Returns the time in seconds."""

    def __init__(self, agent: str, method: str, stderr: LineRing | None) -> None:
        super().__init__()
        self._agent = agent
        self._method = method
        self._stderr = stderr
        self._first_line = stderr.count if stderr is not None else 0
        self._began = self.clock()
        self._shown_count = 0  # the number of complete lines of stderr at the last update
        self._messages: dict[int, str] = {}  # by entry
        self._lines: list[str] = []  # the output that is shown
        self._finished = False
        self._addresses: list[str] = []

    def content(self) -> ComposeResult:
        yield BodyScroller(self._bodies, id="output")
        yield SelectList([], id="addresses")

    def on_mount(self) -> None:
        """Follow the agent's stderr."""
        self.query_one("#addresses").display = False
        self.set_interval(POLL_SECONDS, self._tick)

    def apply_theme(self) -> None:
        super().apply_theme()
        rows = self.query_one("#addresses", SelectList)
        rows.show(self._address_rows(), rows.selected)
        self.fit()

    def finish(self) -> None:
        """Close the dialog as soon as its conversation is in front: Textual cannot close a dialog earlier."""
        self._finished = True
        self.close_if_open()

    def _tick(self) -> None:
        if self._finished:
            self.close_if_open()
            return
        self.show_head()
        if self._stderr is not None and self._stderr.count != self._first_line + self._shown_count:
            self.fit()

    # ------------------------------------------------------------------------- what is shown

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Show the agent's messages and the notices that `changes` contain."""
        texts = {change.entry.id: _text_of(change.entry) for change in changes if change.entry is not None}
        said = {number: text for number, text in texts.items() if text}
        if said:
            self._messages |= said
            if self.is_mounted:
                self.fit()

    def head(self) -> tuple[Spans, Spans]:
        palette = current_palette()
        agent, method = (
            shorten(escape_invisible_line(text), MAX_TITLE_WIDTH) for text in (self._agent, self._method)
        )
        elapsed = f" {int(self.clock() - self._began)} s"
        return (
            [Segment(f"Signing in to {agent}: {method}", palette.strong)],
            [Segment(elapsed, palette.dim)],
        )

    def hints(self) -> list[Hint]:
        take, close = (keys.bound_keys(self, name) for name in ("choose.take", "choose.close"))
        open_address = [(f"↑↓ {take}", "open or copy the address")] if self._addresses else []
        return [*open_address, (close, "cancel the sign-in")]

    def _output(self) -> Iterator[str]:
        lines = self._stderr.since(self._first_line) if self._stderr is not None else []
        self._shown_count = self._stderr.count - self._first_line if self._stderr is not None else 0
        yield from lines[-MAX_OUTPUT_LINES:]
        for text in self._messages.values():
            yield from text[-MAX_TEXT:].splitlines()

    def fit(self) -> None:
        """Show the output and the addresses in it."""
        self._lines = [escape_invisible(line) for line in self._output()]
        found = list(dict.fromkeys(_addresses_in("\n".join(self._lines))))[-MAX_ADDRESSES:]
        rows = self.query_one("#addresses", SelectList)
        if found != self._addresses:
            self._addresses = found
            rows.display = bool(found)
            rows.show(self._address_rows(), 0)
            self.update_hints()
        page, width = self.query_one(BodyScroller), self.inner_width
        page.show(self._bodies)
        addresses = rows.height_at(width) + 1 if self._addresses else 0  # with the blank row below them
        room = max(2, self.room - addresses)
        page.styles.height = max(1, min(page.height_at(width - 1), room))
        page.scroll_end(animate=False)

    def _address_rows(self) -> list[SelectRow]:
        return [SelectRow([], [Segment(url, current_palette().text)]) for url in self._addresses]

    def _bodies(self, width: int) -> Sequence[Body]:
        palette = current_palette()
        waiting = (
            f"Waiting for {shorten(escape_invisible_line(self._agent), MAX_TITLE_WIDTH)}. No output yet."
        )
        lines: list[Strip] = []
        for line in self._lines or [waiting]:
            style = palette.text if self._lines else palette.dim
            lines += [make_strip(piece) for piece in wrap([Segment(line, style)], width)]
        return [LinesBody(lines, "\n".join(self._lines))]

    # ------------------------------------------------------------------------- keys

    def action_move(self, step: int) -> None:
        """Move to another address, or scroll the output by a page."""
        if abs(step) == 1:
            self.query_one("#addresses", SelectList).move(step)
        else:
            scroll_page(self.query_one(BodyScroller), step)

    def action_choose(self) -> None:
        """Ask whether to open the selected address."""
        if self._addresses:
            self._ask_about(self._addresses[self.query_one("#addresses", SelectList).selected])

    def _ask_about(self, url: str) -> None:
        from acp_tui.ui.dialogs.guarded_question import (
            GuardedQuestionScreen,
            answer_page_question,
            page_question,
        )

        question = page_question(self._agent, "This address appeared in the agent's output.", url)
        dialog = GuardedQuestionScreen(question)

        def answered(index: int | None) -> None:
            answer_page_question(self, question, index)

        self.app.push_screen(dialog, answered)


def _text_of(entry: object) -> str:
    if isinstance(entry, AgentMessage | Notice):
        return entry.text
    return ""


def _addresses_in(text: str) -> Iterable[str]:
    for match in _ADDRESS.finditer(text):
        url = match.group().rstrip(".,;:!?")
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1]
        yield url


def command_question(agent: str, method: AuthMethod, cwd: str) -> GuardedQuestion[GuardedAnswer]:
    """Return the question whether to run the command that an agent suggests for a sign-in method."""
    assert method.suggested is not None
    suggested = method.suggested
    facts = [("command", shlex.join([suggested.command, *suggested.args])), ("folder", cwd)]
    facts += [("environment", f"{name}={value}") for name, value in suggested.env.items()]
    title = f"Run a command to sign in to {shorten(agent, MAX_TITLE_WIDTH)}?"
    return GuardedQuestion(
        title,
        "The agent suggests this command. It is a separate program that runs with your "
        "permissions. No permission rule applies to it.",
        (REFUSE, RUN, AUTHENTICATE),
        facts=(("method", suggested.label or method.name), *facts),
        main_fact="command",
        close_label="close",
    )


def method_choices(methods: Sequence[AuthMethod]) -> list[Choice]:
    """Return a choice for each method, with the method's index as value, because two ids can be equal."""
    return [Choice(str(n), method.name, _description(method)) for n, method in enumerate(methods)]


def _description(method: AuthMethod) -> str | None:
    parts = [" ".join((method.description or "").split())]
    if method.way == "terminal":
        parts.append("in this terminal")
    elif method.way == "suggested" and method.suggested is not None:
        command = shlex.join([method.suggested.command, *method.suggested.args])
        parts.append(f"suggests running {escape_invisible_line(command)}")
    elif method.way == "unknown":
        parts.append(_why_unusable(method))
    return " · ".join(filter(None, parts)) or None


def _why_unusable(method: AuthMethod) -> str:
    if method.kind == "env_var":
        names = ", ".join(map(escape_line, method.vars))
        return f"needs environment variables: {names}" if names else "needs environment variables"
    return f"unknown type {method.kind}: acp-tui does not support it"
