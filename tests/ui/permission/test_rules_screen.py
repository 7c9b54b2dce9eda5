"""The screen of permission rules: list, filter, revoke and undo."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.widgets import Input, Static

from acp_tui.controller.permission_gate import PermissionGate
from acp_tui.controller.rule_book import RuleBook
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import AgentIdentity, Rule
from acp_tui.ui.permission.rules_screen import RulesScreen
from tests.support.looks import Show, look, two_looks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


PROJECT = "/work/project"
NOW = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
DAY = 86400.0

SAVED = [
    Rule(
        decision="allow",
        kind="execute",
        command=("pytest",),
        scope="everywhere",
        id="pytest",
        created=NOW - 9 * DAY,
    ),
    Rule(
        decision="allow",
        kind="execute",
        command=("git", "status"),
        exact=True,
        scope="project",
        project=PROJECT,
        agent="claude-code",
        id="status",
        created=NOW - 3 * DAY,
    ),
    Rule(
        decision="reject",
        kind="execute",
        command=("git", "push"),
        scope="everywhere",
        id="push",
        created=NOW - 2 * DAY,
    ),
    Rule(
        decision="allow",
        kind="edit",
        path="src/**",
        scope="project",
        project=PROJECT,
        agent="claude-code",
        id="src",
        created=NOW - DAY,
    ),
    Rule(
        decision="allow",
        kind="mcp",
        server="github",
        tool="list_issues",
        scope="project",
        project="/work/other",
        agent="gemini-cli",
        id="issues",
        created=NOW - 40 * DAY,
    ),
]
SESSION = [
    Rule(decision="allow", kind="fetch", scope="session", agent="claude-code", id="fetch", created=NOW - 60)
]
RUN = [Rule(decision="reject", kind="execute", command=("rm",), scope="run", origin="--reject execute:rm")]


def rule_book(saved: Sequence[Rule] = SAVED) -> RuleBook:
    store = RuleStore()
    store.catalogue = lambda: ("claude-code", "gemini-cli")
    for rule in saved:
        store.add(rule)
    gate = PermissionGate(
        "ask",
        lambda: AgentIdentity("claude-code"),
        PROJECT,
        lambda _: None,
        lambda: NOW,
        rule_store=store,
        run_rules=list(RUN),
        session_rules=list(SESSION),
    )
    by_id = {rule.id: rule for rule in saved}
    for name, count, ago in (("pytest", 1204, 300), ("status", 12, 7200), ("src", 1, DAY)):
        if name in by_id:
            store.matches.add([by_id[name]] * count, NOW - ago)
    return RuleBook(gate)


def rules_app(theme: str = "dark", rules: RuleBook | None = None, rule_id: str | None = None) -> Show:
    book = rules or rule_book()

    def screen() -> RulesScreen:
        return RulesScreen(book, policy="ask", rule_id=rule_id, clock=lambda: NOW)

    return Show(theme, screen=screen)  # type: ignore[arg-type]  # of whatever result


def shown(app: Show) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def message(app: Show) -> str:
    return str(app.screen.query_one("#about", Static).render())


def saved_ids() -> list[str]:
    return [rule.id for rule in RuleStore().rules()]


@look
def test_rules(snap_compare: Callable[..., bool], theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(rules_app(theme), terminal_size=size, press=["down", "down"])


@two_looks
def test_a_filter_and_a_revoked_rule(
    snap_compare: Callable[..., bool], theme: str, size: tuple[int, int]
) -> None:
    assert snap_compare(rules_app(theme), terminal_size=size, press=["g", "i", "t", "delete"])


def test_no_rules(snap_compare: Callable[..., bool]) -> None:
    book = rule_book([])
    book.gate.run_rules.clear()
    book.gate.session_rules.clear()
    assert snap_compare(rules_app("dark", book), terminal_size=(80, 24))


async def test_rules_are_grouped_with_their_matches() -> None:
    app = rules_app()
    async with app.run_test(size=(100, 40)):
        lines = [line.strip() for line in shown(app).splitlines()]
        groups = ["This run", "This session", "This project", "Everywhere", "Other projects"]
        assert [line for line in lines if line in groups] == groups
        text = shown(app)
        for part in ("1,204 matches", "12 matches", "1 match", "no match yet", "last match 11:55"):
            assert part in text, part
        assert "--reject execute:rm" in text
        assert message(app) == "Commands that begin with `rm` will be rejected without asking in this run."


async def test_typing_filters_the_rules() -> None:
    app = rules_app()
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("g", "i", "t")
        assert " 3 of 7" in shown(app)
        for text, count in (("reject", 2), ("everywhere git", 1), ("session", 1), ("zzz", 0)):
            app.screen.query_one(Input).value = text
            await pilot.pause()
            assert f" {count} of 7" in shown(app)
            assert ("No matches" in shown(app)) == (count == 0)
        await pilot.press("escape")
        assert "of 7" not in shown(app)
        await pilot.press("escape")
        assert app.answers == [None]


async def test_a_rule_is_revoked_and_restored_wherever_it_is_kept() -> None:
    book = rule_book()
    before = [each.rule for each in book.rules()]
    app = rules_app(rules=book)
    async with app.run_test(size=(100, 40)) as pilot:
        for _ in before:
            await pilot.press("delete")
            assert message(app).startswith("Revoked: always ")
            assert message(app).endswith(". Ctrl+_ restores it.")
        assert book.rules() == []
        assert (book.gate.run_rules, book.gate.session_rules, saved_ids()) == ([], [], [])
        await pilot.press("delete")
        for _ in before:
            await pilot.press("ctrl+underscore")
            assert message(app).startswith("Restored: always ")
        assert [each.rule for each in book.rules()] == before
        await pilot.press("ctrl+underscore")
        assert message(app) == "There is no rule change to undo."


async def test_the_next_rule_is_selected_after_a_revoke() -> None:
    app = rules_app(rules=rule_book(), rule_id="push")
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("delete", "down", "up")
        assert "`pytest`" in message(app)
        await pilot.press("ctrl+underscore")
        assert "git push" in message(app)


async def test_a_change_of_an_earlier_run_is_undone() -> None:
    book = rule_book()
    RuleStore().revoke("push")
    app = rules_app(rules=book)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("ctrl+underscore")
        assert message(app) == "Restored: always reject commands that begin with `git push` everywhere."
        assert "push" in saved_ids()


async def test_a_rule_that_another_process_has_revoked_leaves_the_list() -> None:
    app = rules_app(rule_id="push")
    async with app.run_test(size=(100, 40)) as pilot:
        RuleStore().revoke("push")
        await pilot.press("delete")
        assert "no such rule" in message(app)
        assert "git push" not in shown(app)
        assert set(saved_ids()) == {"pytest", "status", "src", "issues"}


async def test_it_opens_at_a_rule() -> None:
    app = rules_app(rule_id="issues")
    async with app.run_test(size=(80, 24)):
        assert "list_issues" in message(app)
        assert "list_issues" in shown(app)


async def test_a_rule_that_no_longer_exists_is_reported() -> None:
    app = rules_app(rule_id="gone")
    async with app.run_test(size=(80, 24)):
        assert message(app) == "That rule no longer exists."


@two_looks
def test_a_rule_that_is_edited(snap_compare: Callable[..., bool], theme: str, size: tuple[int, int]) -> None:
    assert snap_compare(rules_app(theme, rule_id="status"), terminal_size=size, press=["enter", "down"])


async def test_a_rule_is_edited_as_a_sentence() -> None:
    app = rules_app(rule_id="status")
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("enter", "down", "right", "down", "right", "down", "enter")
        assert message(app) == (
            "Changed: always allow commands that begin with `git status` everywhere. Undo with Ctrl+_."
        )
        (changed,) = [rule for rule in RuleStore().rules() if rule.id == "status"]
        assert (changed.exact, changed.scope, changed.agent) == (False, "everywhere", None)
        await pilot.press("ctrl+underscore")
        assert message(app).startswith("Restored: always allow exactly `git status` in /work/project")


async def test_an_edit_is_cancelled() -> None:
    app = rules_app(rule_id="status")
    async with app.run_test(size=(100, 40)) as pilot:
        before = RuleStore().rules()
        await pilot.press("enter", "down", "escape")
        await pilot.press("enter", "enter")
        assert RuleStore().rules() == before
        assert isinstance(app.screen, RulesScreen)


async def test_a_rule_of_another_project_keeps_its_project_and_agent() -> None:
    app = rules_app(rule_id="issues")
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("enter")
        assert "Edit rule for the project /work/other" in shown(app)
        await pilot.press("down", "enter")
        (changed,) = [rule for rule in RuleStore().rules() if rule.id == "issues"]
        assert (changed.tool, changed.project, changed.agent) == (None, "/work/other", "gemini-cli")


async def test_a_rule_of_the_run_can_be_kept() -> None:
    book = rule_book()
    app = rules_app(rules=book)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("enter", "right", "down", "down", "down", "enter")
        assert book.gate.run_rules == []
        assert RuleStore().rules()[-1].scope == "everywhere"


async def test_control_characters_in_rules_are_shown() -> None:
    hostile = "\x1b[31m\u202e\n"
    rule = Rule(
        decision="allow",
        kind="edit",
        path=f"{hostile}/a",
        scope="project",
        project=f"/{hostile}",
        agent=f"command:{hostile}",
        agent_line=hostile,
        id="hostile",
        created=NOW,
    )
    app = rules_app(rules=rule_book([rule]), rule_id="hostile")
    async with app.run_test(size=(100, 40)) as pilot:
        seen = shown(app) + message(app)
        await pilot.press("enter")
        seen += shown(app)
        await pilot.press("escape", "delete")
        seen += shown(app) + message(app)
        assert "Revoked" in seen
        assert not {"\x1b", "\u202e"} & set(seen)
