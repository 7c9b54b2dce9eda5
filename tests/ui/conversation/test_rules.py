"""Permission rules in a conversation: made, used, revoked and restored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.cli import main
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import Rule
from acp_tui.session.state import Permission

if TYPE_CHECKING:
    from tests.support.conversation_ui import ConversationUi, Open

ASKS = [
    "permission",
    {"toolCallId": "call", "title": "Test", "kind": "execute", "rawInput": {"command": "make"}},
]


def answers(ui: ConversationUi) -> list[Permission]:
    return [entry for entry in ui.session.entries if isinstance(entry, Permission)]


async def test_a_revoked_rule_no_longer_answers_until_it_is_restored(open_ui: Open) -> None:
    async with open_ui(options=("--allow", "execute:make")) as ui:
        await ui.send(ASKS)
        await ui.until(lambda: answers(ui) and answers(ui)[0].by == "rule")
        await ui.ready()
        (rule_id,) = answers(ui)[0].rule_ids
        ui.screen.action_rules(rule_id)
        await ui.sees("This run", "`make …`", "1 match")
        await ui.press("delete")
        await ui.sees("Revoked: always allow")
        await ui.press("escape")
        await ui.send(ASKS)
        await ui.asked()
        await ui.press("r")
        await ui.ready()
        await ui.press("shift+f4")
        await ui.press("ctrl+underscore")
        await ui.sees("Restored: always allow")
        await ui.press("escape")
        await ui.send(ASKS)
        await ui.until(lambda: [each.by for each in answers(ui)] == ["rule", "you", "rule"])
        await ui.ready()


async def test_changes_of_rules_by_another_process_apply_at_once(open_ui: Open) -> None:
    store = RuleStore()
    store.add(Rule(decision="allow", kind="execute", command=("make",), scope="everywhere"))
    async with open_ui() as ui:
        await ui.send(ASKS)
        await ui.until(lambda: [each.by for each in answers(ui)] == ["rule"])
        await ui.ready()
        assert main(["permissions", "revoke", "1"]) == 0
        await ui.send(ASKS)
        await ui.asked()
        await ui.press("r")
        await ui.ready()
        assert main(["permissions", "undo"]) == 0
        await ui.send(ASKS)
        await ui.until(lambda: [each.by for each in answers(ui)] == ["rule", "you", "rule"])
        await ui.ready()
    (rule,) = store.rules()
    assert store.matches.read()[rule.id].count == 2
