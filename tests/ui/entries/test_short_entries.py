"""Plans, notices, ends of turns, questions and other short entries as text."""

from __future__ import annotations

import json

import pytest

from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import (
    Compaction,
    Elicitation,
    Notice,
    Permission,
    PermissionOption,
    Plan,
    PlanItem,
    RpcError,
    Session,
    Terminal,
    ToolCall,
    TurnEnd,
    Unrecognised,
)
from acp_tui.ui.drawing.body import DrawContext
from acp_tui.ui.drawing.text_layout import MAX_LINES
from acp_tui.ui.entries.renderers import GuardedBody
from acp_tui.ui.entries.terminal import MAX_CHARACTERS, command_output
from acp_tui.ui.theme.palette import Palette
from tests.support.looks import drawn


def test_attached_output_counts_the_omitted_characters_correctly() -> None:
    terminal = Terminal(id=1, at=0, terminal_id="t", command="flood", exit_code=0, ended_at=1.0)
    for _ in range(1000):
        terminal.output.append("x" * 9999 + "\n")
    lines = command_output(terminal).splitlines()
    assert (lines[0], lines[-1]) == ("$ flood", "[exit code 0]")
    told = [line for line in lines if "omitted" in line]
    (count,) = [int(line.split()[1].replace(",", "")) for line in told]
    assert len(command_output(terminal)) < MAX_CHARACTERS + 200
    assert abs(count + MAX_CHARACTERS - 10_000_000) < 200


def test_attached_output_of_a_command_that_ended_without_an_exit_code() -> None:
    terminal = Terminal(id=1, at=0, terminal_id="t", command="x", ended_at=1.0)
    assert command_output(terminal) == "$ x\n[ended]\n"


def test_a_turn_that_ended_normally_has_no_lines() -> None:
    assert drawn(TurnEnd(id=1, at=0, stop_reason="end_turn")) == []


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("cancelled", "stopped"),
        ("max_tokens", "token limit"),
        ("max_turn_requests", "limit of model requests"),
        ("strange", "ended: strange"),
    ],
)
def test_stop_reasons_are_shown_in_words(reason: str, says: str) -> None:
    (line,) = drawn(TurnEnd(id=1, at=0, stop_reason=reason))
    assert says in line


def test_a_refusal_explains_itself_and_names_a_key() -> None:
    text = "\n".join(drawn(TurnEnd(id=1, at=0, stop_reason="refusal")))
    assert "Its context no longer contains your prompt" in text
    assert "F6 edit and send again" in text


def test_an_empty_turn_offers_to_send_again() -> None:
    text = "\n".join(drawn(TurnEnd(id=1, at=0, stop_reason="end_turn", empty=True)))
    assert "The agent returned nothing" in text
    assert "F6 send again" in text


def test_an_error_shows_its_message_and_unfolds_its_details() -> None:
    end = TurnEnd(id=1, at=0, error=RpcError(-32603, "No such model", "try another", {"data": "x1"}))
    assert kind_of(end).starts_folded(end)
    assert drawn(end, folded=True) == ["✘ No such model", "▸ error -32603: details"]
    unfolded = "\n".join(drawn(end))
    assert "try another" in unfolded
    assert '"data": "x1"' in unfolded


def test_an_error_without_a_code_starts_folded() -> None:
    end = TurnEnd(id=1, at=0, error=RpcError(0, "it broke", None, {"message": "it broke"}))
    assert kind_of(end).starts_folded(end)
    assert drawn(end, folded=True) == ["✘ it broke", "▸ error without a code: details"]


def test_the_last_lines_on_stderr_start_unfolded() -> None:
    end = TurnEnd(id=1, at=0, error=RpcError(0, "The agent ended", "Traceback"))
    assert not kind_of(end).starts_folded(end)
    assert drawn(end) == ["✘ The agent ended", "▾ last lines of the agent's stderr", "  Traceback"]


def test_an_error_that_requires_a_sign_in_says_so() -> None:
    end = TurnEnd(id=1, at=0, error=RpcError(-32000, "Please log in", raw={}, auth_required=True))
    assert "▸ sign-in required · error -32000: details" in drawn(end, folded=True)


def test_a_notice_folds_its_details() -> None:
    notice = Notice(id=1, at=0, text="Something", detail="one\ntwo", level="error")
    assert drawn(notice, folded=True) == ["✘ Something ▸"]
    assert drawn(notice) == ["✘ Something", "  one", "  two"]


def test_a_plan_counts_its_steps_and_marks_the_current_one() -> None:
    items = [
        PlanItem("One", "completed"),
        PlanItem("Two", "in_progress", "high"),
        PlanItem("Three", "odd", "low"),
    ]
    plan = Plan(id=1, at=0, items=items)
    assert drawn(plan) == ["▾ plan 1/3", "  ☑ One", "  ◐ Two ↑", "  ☐ Three (odd) ↓"]
    assert drawn(plan, folded=True) == ["▸ plan 1/3 · Two"]


def test_only_the_newest_version_of_a_plan_shows_its_steps() -> None:
    older, newer = (Plan(id=number, at=0, items=[PlanItem("One")]) for number in (1, 2))
    other = Plan(id=1, at=0, plan_id="another", items=[PlanItem("One")])
    session = Session(plan=newer)
    assert drawn(older, session=session) == ["▸ plan 0/1 · continued below"]
    assert drawn(newer, session=session) == ["▾ plan 0/1", "  ☐ One"]
    assert drawn(other, session=session) == ["▾ plan 0/1", "  ☐ One"]
    newer.turn = 2  # the plans of earlier turns fold, whatever their ids are
    assert drawn(other, session=session) == ["▸ plan 0/1 · replaced below"]


def test_a_plan_can_be_a_text_and_an_address() -> None:
    assert drawn(Plan(id=1, at=0, markdown="# All\nof it", uri="file:///plan.md")) == [
        *("▾ plan", "  # All", "  of it", "  file:///plan.md")
    ]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.org/a", "example.org"),
        ("https://example.org:8443/a?b@c", "example.org"),
        ("https://bank.com@evil.test/x", "evil.test"),
        ("https://user:bank.com@evil.test", "evil.test"),
        ("https://evil.test\\@bank.com", "evil.test"),
        ("no address at all", ""),
    ],
)
def test_a_url_is_shown_in_full_with_its_host_highlighted(url: str, host: str) -> None:
    from rich.style import Style

    loud = Style(bold=True)
    entry = Elicitation(id=1, at=0, request_id=1, mode="url", message="Sign in", url=url)
    body = GuardedBody(entry, DrawContext(width=80, palette=Palette(strong=loud), session=Session()))
    assert body.line(1).text.strip() == url
    marked = "".join(text for text, style, _ in body.line(1) if style == loud)
    assert marked == host


def test_an_unfolded_compaction_shows_its_summary() -> None:
    entry = Compaction(id=1, at=0, compaction_id="c", status="completed", parts=[GrowingText("We did this")])
    assert drawn(entry, folded=True) == ["▸ compacted the context"]
    assert drawn(entry) == ["▾ compacted the context", "│ We did this"]


def test_a_long_summary_folds_when_the_compaction_is_over() -> None:
    summary = GrowingText("word " * 100)
    entry = Compaction(id=1, at=0, compaction_id="c", parts=[summary])
    body = GuardedBody(entry, DrawContext(width=40, session=Session()))
    height = body.height
    summary.append("and more words\n\nto the end")
    assert body.update()
    assert body.height > height
    assert not kind_of(entry).starts_folded(entry)
    entry.status, entry.tokens_before, entry.tokens_after = "completed", 180_000, 24_000
    assert not body.update()
    assert kind_of(entry).starts_folded(entry)
    assert drawn(entry, folded=True) == ["▸ compacted the context from 180,000 to 24,000 tokens"]


def test_an_unknown_message_is_truncated_on_the_screen_but_copied_in_full() -> None:
    raw = {"many": list(range(MAX_LINES * 2)), "escape": "\x1b[31m"}
    entry = Unrecognised(id=1, at=0, what="session update 'foo'", raw=raw)
    assert kind_of(entry).starts_folded(entry)
    assert drawn(entry, folded=True) == ["▸ not recognised: session update 'foo'"]
    lines = drawn(entry)
    assert len(lines) == MAX_LINES + 2
    assert lines[-1] == "  ▸ more"
    copied = GuardedBody(entry, DrawContext(80, Session())).copy_text()
    assert json.loads(copied.replace("␛", "\\u001b")) == raw
    assert "\x1b" not in copied


@pytest.mark.parametrize("width", [20, 31, 80])
def test_short_entries_fit_the_width(width: int) -> None:
    wide = "漢字🙂 " * 30 + "x" * 100
    entries = [
        Notice(id=1, at=0, text=wide, detail=wide),
        TurnEnd(id=2, at=0, error=RpcError(1, wide, wide, {wide: wide})),
        Plan(id=3, at=0, items=[PlanItem(wide, "in_progress", "high")], markdown=wide, uri=wide),
        Elicitation(
            id=4, at=0, request_id=1, mode="url", message=wide, url=wide, schema={"properties": {wide: 1}}
        ),
        Compaction(id=5, at=0, compaction_id="c", status=wide, parts=[GrowingText(wide)], error=wide),
        Unrecognised(id=6, at=0, what=wide, raw=[wide]),
    ]
    for entry in entries:
        for folded in (True, False):
            assert drawn(entry, width=width, folded=folded)


def test_a_permission_entry_is_short_however_long_its_texts_are() -> None:
    option = PermissionOption("y", "Yes " * 1000, "allow_once")
    session = Session()
    session.tool_calls["c"] = ToolCall(id=1, at=0, call_id="c", title="Run " * 1000)
    record = Permission(
        id=2, at=0, request_id=1, call_id="c", options=[option], outcome="selected", option=option, by="you"
    )
    lines = drawn(record, session=session)
    assert len(lines) <= 4
    assert lines[0].startswith("✔ allowed: Run Run")
    assert "you" in lines[-1]


def test_a_long_error_shows_its_first_lines_and_names_the_key_for_the_rest() -> None:
    words = "It could not be done because of this and that. " * 60
    for entry in (
        Notice(id=1, at=0, text=words, level="error"),
        TurnEnd(id=2, at=0, error=RpcError(-32603, words, None, {"data": "x"})),
    ):
        lines = drawn(entry, folded=False)
        assert len([line for line in lines if "It could not" in line]) <= 6
        assert any("more lines · v shows all" in line for line in lines)
        assert GuardedBody(entry, DrawContext(80, Session(), full=True)).height > 20
