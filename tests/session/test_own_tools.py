"""Calls of acp-tui's own tools, as entries of the session."""

from __future__ import annotations

from acp_tui.entry_kinds.kind import TextContext
from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.entry_labels import call_title
from acp_tui.session import events as ev
from acp_tui.session.reduce import reduce
from acp_tui.session.state import Content, Diff, OwnToolCall, Session


def called(event: ev.OwnToolCalled) -> tuple[Session, OwnToolCall]:
    session = Session(cwd="/work")
    reduce(session, event, 1.0)
    entry = session.entries[-1]
    assert isinstance(entry, OwnToolCall)
    return session, entry


def test_a_call_runs_until_it_has_ended() -> None:
    session, entry = called(ev.OwnToolCalled("1", "notify", text="Done.\nAll tests pass."))
    assert call_title(entry.call, "") == "acp-tui › notify: Done."
    assert kind_of(entry).is_running(entry)
    changes = reduce(session, ev.OwnToolEnded("1", "completed", "shown"), 2.0)
    assert [change.entry for change in changes] == [entry]
    assert not kind_of(entry).is_running(entry)
    assert [item.text for item in entry.call.content if isinstance(item, Content)] == [
        "Done.\nAll tests pass.",
        "shown",
    ]


def test_a_shown_file_can_be_opened_from_its_entry() -> None:
    _, entry = called(ev.OwnToolCalled("1", "show_file", path="/work/src/a.py", line=7))
    assert call_title(entry.call, "/work") == "acp-tui › show_file: src/a.py:7"
    assert kind_of(entry).location(entry) == ("/work/src/a.py", 7)


def test_a_shown_diff_is_searched_but_does_not_count_as_a_change_of_the_agent() -> None:
    diff = {"path": "/work/a.py", "old": "one\n", "new": "two\x1b\n", "line": 3}
    session, entry = called(ev.OwnToolCalled("1", "show_diff", path="/work/a.py", diffs=[diff, {"path": 1}]))
    assert entry.call.content == [Diff("/work/a.py", "one\n", "two␛\n", line=3)]
    assert "one" in kind_of(entry).searched_text(entry, session)
    assert session.tool_calls == {}


def test_calls_that_still_run_are_cancelled_when_the_agent_exits() -> None:
    session, entry = called(ev.OwnToolCalled("1", "ask_user", text="Which?"))
    reduce(session, ev.AgentExited(1), 2.0)
    assert entry.call.status == "cancelled"
    assert reduce(session, ev.OwnToolEnded("1", "completed"), 3.0) == []


def test_plain_text_has_the_title_the_status_and_the_content() -> None:
    session, entry = called(ev.OwnToolCalled("1", "open_url", text="https://example.org/"))
    text = "\n".join(kind_of(entry).lines(entry, TextContext(session)))
    assert text == "* acp-tui › open_url: https://example.org/ (in_progress)\n    https://example.org/"
