"""What the user can set in a conversation: the agent's modes and options, and our policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from acp_tui.ui.screens.prompting import Prompting
from acp_tui.ui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_tui.config.policies import Policy
    from acp_tui.ui.keys.palette_commands import PaletteCommand
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.theme.palette import Palette


class AgentSettings(Prompting):
    """A part of the conversation's screen."""

    new_session: Callable[[Palette], BaseScreen] | None = None
    """Makes the screen of a new session with the same agent in the same folder."""

    def action_options(self, wanted: str | None = None) -> None:
        """Choose an option and a value for it; `wanted` names the option, such as `mode`."""
        self.run_worker(self._choose(wanted), group="choose", exclusive=True)

    def set_option(self, option: str) -> None:
        """Choose a value for this option."""
        self.action_options(option)

    @on(StatusLine.ModeClicked)
    def _mode_clicked(self) -> None:
        self.action_options("mode")

    @on(StatusLine.ModelClicked)
    def _model_clicked(self) -> None:
        self.action_options("model")

    async def _choose(self, wanted: str | None) -> None:
        from acp_tui.ui.conversation.agent_options import choose_option

        chosen = await choose_option(self.app, self.session, self._palette, wanted)
        if chosen is not None:
            self.runner.set_option(*chosen)

    def action_next_mode(self) -> None:
        """Set the agent's next mode."""
        modes = [mode.id for mode in self.session.modes]
        place = modes.index(self.session.mode) + 1 if self.session.mode in modes else 0
        self.runner.set_mode(modes[place % len(modes)])

    # ------------------------------------------------------------------------- the policy

    def action_policy(self) -> None:
        """Choose the policy."""
        self.run_worker(self._choose_policy(), group="choose", exclusive=True)

    @on(StatusLine.PolicyClicked)
    def _policy_clicked(self) -> None:
        self.action_policy()

    async def _choose_policy(self) -> None:
        from acp_tui.ui.conversation.agent_options import choose_policy

        policy = await choose_policy(self.app, self._palette, self._status.policy)
        if policy is not None:
            self.set_policy(policy)

    def set_policy(self, policy: Policy) -> None:
        """Decide by this policy from the next request on."""
        if self.runner.conversation is not None:
            self.runner.conversation.set_policy(policy)
            self._status.policy = policy
            self._update_status()

    # ------------------------------------------------------------------------- the list of commands

    def commands(self) -> Iterable[PaletteCommand]:
        """What has no key, then the policies and the values of the agent's options, each by its name."""
        from acp_tui.ui.keys.palette_commands import PaletteCommand, option_commands, policy_commands

        if self.new_session is not None:
            yield PaletteCommand("New session", self._start_new_session, "Session")
        if self.runner.prepared is not None:
            yield PaletteCommand(
                "Show permissions", self._show_permissions, "Permissions", word="rules remembered"
            )
            if self.runner.prepared.conversation.log_path is not None:
                yield PaletteCommand("Open log in $EDITOR", self._open_log, "Session", word="wire log")
            yield from policy_commands(self._status.policy, self.set_policy)
        yield from option_commands(self.session, self.runner.set_option)

    async def _start_new_session(self) -> None:
        if reason := self.busy_reason():
            self.notify(reason, markup=False)
        elif self.new_session is not None:
            await self.app.replace_screen(self.new_session(self._palette))  # type: ignore[attr-defined]

    def _show_permissions(self) -> None:
        from acp_tui.ui.permission.rule_list import permission_list

        prepared = self.runner.prepared
        assert prepared is not None
        self._detail("Permissions", permission_list(prepared.conversation, prepared.app_context.rule_store))

    def _open_log(self) -> None:
        prepared = self.runner.prepared
        if prepared is not None and prepared.conversation.log_path is not None:
            self._edit((prepared.conversation.log_path, None))
