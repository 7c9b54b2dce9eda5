"""The dialogs in which the user signs in to the agent of a conversation."""

from __future__ import annotations

import os
import shlex
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from acp_tui.session.text.invisible import reveal_line
from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.app_interface import app_of
from acp_tui.ui.keys.palette_command import PaletteCommand

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from typing import TypeAlias

    from acp_tui.controller import Conversation
    from acp_tui.session.change import Change
    from acp_tui.session.state import AuthMethod
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.screens.conversation.reopening.readiness import AgentReadiness
    from acp_tui.ui.screens.session.context import SessionContext
    from acp_tui.ui.screens.session.session_screen import SessionScreen
    from acp_tui.ui.screens.sign_in.progress_dialog import SignInProgress

    Proceed: TypeAlias = Callable[[], Awaitable[None]]


class SignInDialogs:
    """Lets the user choose a sign-in method, and signs in with it."""

    def __init__(
        self,
        screen: SessionScreen,
        runner: ConversationRunner,
        context: SessionContext,
        readiness: AgentReadiness,
    ) -> None:
        self._screen = screen
        self._runner = runner
        self._context = context
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
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen
        from acp_tui.ui.screens.sign_in.method_list import method_choices

        choices, palette = method_choices(methods), self._context.palette
        dialog = ChooseScreen("Choose a sign-in method", choices, palette, note=visible_line(reason))
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
        from acp_tui.ui.screens.sign_in.progress_dialog import SignInProgress

        conversation = self._conversation
        self._screen.call_later(self._readiness.work_started)  # later, when `sign_in.waiting` is true
        self._progress = dialog = SignInProgress(
            conversation.launch.title, method.name, self._context.palette, conversation.agent_stderr
        )
        self._screen.open_dialog(dialog, lambda _: self._runner.sign_in.cancel())
        try:
            await self._runner.sign_in.by_agent(method)
        finally:
            self._progress = None
            dialog.finish()

    async def _ask_about_command(self, method: AuthMethod) -> Proceed:
        from acp_tui.ui.screens.dialogs.guarded_question import GuardedQuestionScreen
        from acp_tui.ui.screens.sign_in.command_question import AUTHENTICATE, RUN, command_question

        conversation = self._conversation
        question = command_question(conversation.launch.title, method, str(conversation.cwd))
        index = await self._screen.ask(GuardedQuestionScreen(question, self._context.palette))
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
        line = reveal_line(shlex.join(command))
        try:
            with release_terminal(self._screen.app):
                print(f"Signing in to {conversation.launch.title}: {line}", flush=True)
                code = await run_program(command, {**os.environ, **environment}, cwd=str(conversation.cwd))
        except SuspendNotSupported:
            return partial(self._failed, "This terminal does not support running another program.")
        except OSError as error:
            return partial(self._failed, f"{visible_line(command[0])}: {error.strerror or error}")
        if app_of(self._screen).exit_signal is not None:
            return self._abandon  # acp-tui ends, and has ended the program
        if code == 0:
            return partial(self._runner.sign_in.by_program, method)
        return partial(self._failed, failed_program_sentence(method, code))

    @property
    def _conversation(self) -> Conversation:
        assert self._runner.conversation is not None
        return self._runner.conversation
