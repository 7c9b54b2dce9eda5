"""Commands of a conversation that have no key, for the command palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.keys.palette_command import PaletteCommand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.session.state import Entry
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.conversation.reopening.earlier_conversation import NewSession, PromptDraft
    from acp_tui.ui.screens.session.entry_actions import EntryActions


class SessionCommands:
    """Starts a new session, and shows the permission rules and the log."""

    def __init__(
        self,
        screen: BaseScreen,
        runner: ConversationRunner,
        entry_actions: EntryActions,
        new_session: NewSession | None,
    ) -> None:
        """`new_session` makes a screen for a new session with the same agent in the same folder."""
        self._screen = screen
        self._runner = runner
        self._entry_actions = entry_actions
        self._new_session = new_session

    def commands(self) -> Iterator[PaletteCommand]:
        """Return the commands that are available now, for the command palette."""
        if self._new_session is not None:
            yield PaletteCommand("New session", self.open_new_session, "Session")
        if (conversation := self._runner.conversation) is not None and conversation.log_path is not None:
            yield PaletteCommand("Open log in $EDITOR", self._open_log, "Session", word="wire log")

    def open_new_session(self, draft: PromptDraft | None = None) -> None:
        """Open a new session. If `draft` is given, put it into the prompt of that session."""
        if reason := self._screen.busy_reason():
            self._screen.notify(reason, markup=False)
        elif self._new_session is not None:
            screen = self._new_session(self._screen.palette, draft)
            self._screen.post_message(self._screen.SwitchRequested(self._screen, screen))

    def open_rules(self, rule_id: str | None = None) -> None:
        """Open the list of permission rules. If `rule_id` is given, select that rule."""
        from acp_tui.ui.permission.rules_screen import RulesScreen

        if (conversation := self._runner.conversation) is not None:
            policy = conversation.options.policy
            self._screen.open_dialog(
                RulesScreen(conversation.rules, self._screen.palette, policy=policy, rule_id=rule_id)
            )

    def open_rules_of(self, entry: Entry) -> bool:
        """Open the rules and select the one that decided about `entry`; return False if no rule did."""
        from acp_tui.session.state import Notice, Permission

        if not (isinstance(entry, Permission | Notice) and entry.rule_ids):
            return False
        self.open_rules(entry.rule_ids[0])
        return True

    def _open_log(self) -> None:
        conversation = self._runner.conversation
        if conversation is not None and conversation.log_path is not None:
            self._entry_actions.edit_file(str(conversation.log_path))
