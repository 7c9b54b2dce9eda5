"""What the user can change in a conversation: agent options, the mode and the permission policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.settings import offered_settings, value_name
from acp_tui.session.state import Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_tui.config.policies import Policy
    from acp_tui.session.state import ConfigOption
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.status_tracker import StatusTracker
    from acp_tui.ui.keys.palette_command import PaletteCommand
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.session.context import SessionContext


class AgentSettings:
    """Opens the dialogs for options and the policy, and applies the answers."""

    def __init__(
        self,
        screen: BaseScreen,
        runner: ConversationRunner,
        context: SessionContext,
        status: StatusTracker,
        update_status: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._runner = runner
        self._context = context
        self._status = status
        self._update_status = update_status

    # ------------------------------------------------------------------------- options

    def choose(self, setting: str) -> None:
        """Let the user choose the permission policy if `setting` is "policy", else that option's value."""
        if setting == "policy":
            self.choose_policy()
        else:
            self.choose_option(setting)

    def choose_option(self, name: str | None = None) -> None:
        """Let the user choose a value of the agent option with this id or category.

        If there is no such option, or if `name` is None, the user chooses an option first.
        """
        self._screen.run_worker(self._choose_option(name), group="choose", exclusive=True)

    async def _choose_option(self, name: str | None) -> None:
        options = offered_settings(self._context.session)
        if not options:
            self._screen.notify("This agent has no options.", timeout=3)
            return
        option = next((each for each in options if name in (each.category, each.id)), None) if name else None
        if option is None:
            option = await self._ask_for_option(options)
        if option is None:
            return
        value = await self._ask_for_value(option)
        if value is not None:
            self._runner.set_option(option.id, value)

    async def _ask_for_option(self, options: list[ConfigOption]) -> ConfigOption | None:
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen

        rows = [Choice(each.id, f"{each.name}: {value_name(each)}", each.description) for each in options]
        chosen = await self._screen.ask(ChooseScreen("Agent options", rows, self._context.palette))
        return next((each for each in options if each.id == chosen), None)

    async def _ask_for_value(self, option: ConfigOption) -> str | bool | None:
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen

        if option.kind == "boolean":
            return not option.current
        current = str(option.current) if option.current is not None else None
        palette = self._context.palette
        return await self._screen.ask(ChooseScreen(option.name, option.choices, palette, current=current))

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
        from acp_tui.config.policies import POLICY_SUMMARIES
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen

        choices = [Choice(name, name, summary) for name, summary in POLICY_SUMMARIES.items()]
        title = "Policy: what is allowed without asking"
        current = self._status.policy
        dialog = ChooseScreen(title, choices, self._context.palette, current=current)
        chosen = await self._screen.ask(dialog)
        policy = next((name for name in POLICY_SUMMARIES if name == chosen), None)
        if policy is not None:
            self.set_policy(policy)

    def set_policy(self, policy: Policy) -> None:
        """Apply this policy, beginning with the agent's next permission request."""
        if self._runner.conversation is not None:
            self._runner.conversation.set_policy(policy)
            self._status.policy = policy
            self._update_status()

    # ------------------------------------------------------------------------- the command palette

    def commands(self) -> Iterator[PaletteCommand]:
        """Return a command of the palette for each policy and each value of an agent option."""
        from acp_tui.ui.keys.generated_commands import option_commands, policy_commands

        if self._runner.conversation is not None:
            yield from policy_commands(self._status.policy, self.set_policy)
        yield from option_commands(self._context.session, self._runner.set_option)
