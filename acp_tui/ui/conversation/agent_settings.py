"""What the user can change in a conversation: agent options, the mode and the permission policy."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from acp_tui.session.offered_options import offered_options
from acp_tui.session.state import Choice, ConfigOption

if TYPE_CHECKING:
    from acp_tui.config.validators import Policy
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.session_screen import SessionScreen
    from acp_tui.ui.keys.commands import PaletteCommand
    from acp_tui.ui.screens.options import OptionChanges, OptionsScreen


class AgentSettings:
    """Opens the dialogs for agent options and the permission policy, and applies what the user chooses."""

    def __init__(self, screen: SessionScreen, runner: ConversationRunner) -> None:
        self._screen = screen
        self._runner = runner
        self._context = screen.context
        self._dialog: OptionsScreen | None = None

    @cached_property
    def _changes(self) -> OptionChanges:
        from acp_tui.ui.screens.options import OptionChanges

        return OptionChanges(self._runner.change_option, self.refresh_options)

    # ------------------------------------------------------------------------- options

    def choose(self, setting: str) -> None:
        """Let the user choose the policy if `setting` is "policy"; otherwise, call `choose_option`."""
        if setting == "policy":
            self.choose_policy()
        else:
            self.choose_option(setting)

    def choose_option(self, name: str | None = None) -> None:
        """Let the user choose a value of the agent option whose id or category is `name`.

        If there is no such option, or if `name` is None, show all options. Show a toast if the agent has no
        options.
        """
        self._screen.run_worker(self._choose_option(name), group="choose", exclusive=True)

    async def _choose_option(self, name: str | None) -> None:
        options = offered_options(self._context.session)
        if not options:
            self._screen.notify("This agent has no options.", timeout=3)
            return
        option = next((each for each in options if name in (each.category, each.id)), None) if name else None
        if option is None:
            await self._show_options()
        else:
            await self._choose_value(option)

    async def _show_options(self) -> None:
        """Show all options until the user closes the dialog."""
        from acp_tui.ui.screens.options import OptionsScreen

        self._dialog = OptionsScreen(
            self._context.session,
            self._changes,
            change=self._change,
            choose=lambda option: self._start(self._choose_value(option)),
        )
        await self._screen.ask(self._dialog)
        self._dialog = None

    async def _choose_value(self, option: ConfigOption) -> None:
        """Let the user choose a value of the option; toggle an option that is only on or off."""
        from acp_tui.ui.dialogs.choose import ChooseScreen

        if option.kind == "boolean":
            self._change(option.id, not option.current)
            return
        current = str(option.current) if option.current is not None else None
        value = await self._screen.ask(ChooseScreen(option.name, option.choices, current=current))
        if value is not None:
            self._change(option.id, value)

    def _change(self, option_id: str, value: str | bool) -> None:
        self._start(self._changes.change(option_id, value))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        """Run a coroutine in a worker of the conversation's screen.

        Closing the dialog does not stop the coroutine.
        """
        self._screen.run_worker(work, group="options")

    def refresh_options(self) -> None:
        """Show the current options in the dialog, if it is open."""
        if self._dialog is not None:
            self._dialog.refresh_options()

    def use_next_mode(self) -> None:
        """Switch to the agent's next mode."""
        session = self._context.session
        modes = [mode.id for mode in session.modes]
        position = modes.index(session.mode) + 1 if session.mode in modes else 0
        self._runner.set_mode(modes[position % len(modes)])

    # ------------------------------------------------------------------------- the policy

    def choose_policy(self) -> None:
        """Let the user choose the permission policy."""
        self._screen.run_worker(self._choose_policy(), group="choose", exclusive=True)

    async def _choose_policy(self) -> None:
        from acp_tui.config.validators import POLICY_SUMMARIES
        from acp_tui.ui.dialogs.choose import ChooseScreen

        choices = [Choice(name, name, summary) for name, summary in POLICY_SUMMARIES.items()]
        title = "Policy: what is allowed without asking"
        current = self._screen.status.policy
        dialog = ChooseScreen(title, choices, current=current)
        chosen = await self._screen.ask(dialog)
        policy = next((name for name in POLICY_SUMMARIES if name == chosen), None)
        if policy is not None:
            self.set_policy(policy)

    def set_policy(self, policy: Policy) -> None:
        """Apply `policy`, beginning with the agent's next permission request."""
        if self._runner.conversation is not None:
            self._runner.conversation.set_policy(policy)
            self._screen.status.policy = policy
            self._screen.update_status()

    # ------------------------------------------------------------------------- the command palette

    def commands(self) -> Iterator[PaletteCommand]:
        """Yield a palette command for each policy and for each value of each agent option."""
        from acp_tui.ui.keys.commands import option_commands, policy_commands

        if self._runner.conversation is not None:
            yield from policy_commands(self._screen.status.policy, self.set_policy)
        yield from option_commands(self._context.session, self._runner.set_option)
