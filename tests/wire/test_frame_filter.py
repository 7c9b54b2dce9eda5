"""Filters for frames: what an expression means, its errors and completions, and finding the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.wire import frame_log
from acp_tui.wire.frame_filter import FilterError, completions, parse_filter
from acp_tui.wire.frame_log import FrameLog
from tests.support.wire_lines import answer, line, request, update, write_log

if TYPE_CHECKING:
    from pathlib import Path

LINES = [
    line(0.0, "client", {"event": "agent_started", "command": ["agent"]}),
    line(1.0, "sent", request(7, sessionId="abc-1", prompt="Übersetze das")),
    line(2.0, "received", update(session="abc-1", content={"type": "text", "text": "Hello \\ received"})),
    line(3.0, "received", update("tool_call", session="xyz-2", title="received")),
    line(4.0, "received", update("tool_call_update", session="xyz-2")),
    line(5.0, "received", "Warning: noise"),
    line(6.0, "received", answer(7, {"stopReason": "end_turn"})),
    line(7.0, "received", request(8, "session/request_permission", sessionId="abc-1")),
    line(8.0, "client", {"event": "mcp_called", "server": "files", "tool": "read"}),
]
STDERR = "1970-01-01T00:00:05.500000Z │ warning on stderr\n"


@pytest.fixture
def log(tmp_path: Path) -> FrameLog:
    (tmp_path / "stderr.log").write_text(STDERR)
    return FrameLog(write_log(tmp_path / "wire.jsonl", LINES))


def matching(log: FrameLog, expression: str, start: int = 0) -> list[int]:
    return [number for step in log.rows_matching(parse_filter(expression), start) for number in step]


@pytest.mark.parametrize(
    ("expression", "numbers"),
    [
        ("", list(range(10))),
        ('- "" \'', list(range(10))),
        ("method:session/prompt", [1, 7]),
        ("method:session/*", [1, 2, 3, 4, 7, 8]),
        ("kind:tool_call", [3]),
        ("kind:tool_call,tool_call_update", [3, 4]),
        ("kind:tool* session:xyz", [3, 4]),
        ("dir:out", [1]),
        ("dir:in -type:notification", [5, 7, 8]),
        ("dir:sent,client", [0, 1, 9]),
        ("dir:stderr", [6]),
        ("session:abc", [1, 2, 7, 8]),
        ("session:z-2", [3, 4]),
        ("type:request", [1, 8]),
        ("type:mcp", [9]),
        ("-type:mcp,event,stderr dir:client", []),
        ("id:7", [1, 7]),
        ("warning", [5, 6]),
        ("hello", [2]),
        ("received", [2, 3]),  # in the message, not in the rest of the record
        ("warning -noise", [6]),
        ('"warning on"', [6]),
        ("übersetze", [1]),
        ("ÜBERSETZE", [1]),
        ('"\\\\"', [2]),
        ("method:SESSION/PROMPT", []),
        ("method:[s]ession/prompt", []),
    ],
)
def test_a_filter_finds_rows(log: FrameLog, expression: str, numbers: list[int]) -> None:
    assert matching(log, expression) == numbers
    for start in range(11):
        assert matching(log, expression, start) == [number for number in numbers if number >= start]


def test_text_is_found_in_every_step_and_in_long_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_log, "STEP_BYTES", 500)
    monkeypatch.setattr(frame_log, "MAX_PARSED_BYTES", 500)
    long = update(content={"text": "x" * 5000 + "NEEDLE" + "y" * 5000})
    lines = [line(at, "received", long if at == 20 else update(text=f"n{at}")) for at in range(40)]
    log = FrameLog(write_log(tmp_path / "wire.jsonl", lines))
    for at in (0, 19, 21, 39):
        assert matching(log, f"'\"n{at}\"'") == [at]
    assert matching(log, "needle") == [20]
    assert matching(log, "-needle") == [number for number in range(40) if number != 20]


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("metod:x", 'There is no filter "metod:"; did you mean method:?'),
        ("https://x", 'There is no filter "https:"; put text that contains a colon in quotes.'),
        ("dir:up", 'There is no direction "up"; the directions are in, out, client, stderr, log.'),
        ("type:reply", 'There is no type "reply"; the types are request,'),
        ("method:", "A value is missing after method:."),
        ("method:,", "A value is missing after method:."),
    ],
)
def test_an_error_is_one_sentence(expression: str, sentence: str) -> None:
    with pytest.raises(FilterError) as error:
        parse_filter(expression)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", []),
        ("me", ["method:"]),
        ("-ki", ["-kind:"]),
        ("dir:in k", ["dir:in kind:"]),
        ("kind:tool", ["kind:tool_call", "kind:tool_call_update"]),
        ("kind:tool_call,pl", []),
        ("kind:tool_call,tool_call_", ["kind:tool_call,tool_call_update"]),
        ("dir:", ["dir:client", "dir:in", "dir:out", "dir:stderr"]),
        ("session:x", ["session:xyz-2"]),
        ("session:xyz-2", []),
        ("foo:", []),
    ],
)
def test_completions_are_values_that_occur(log: FrameLog, typed: str, offered: list[str]) -> None:
    assert completions(typed, log.values()) == offered
    for each in offered:
        if not each.endswith(":"):
            parse_filter(each)


@pytest.mark.parametrize(("words", "numbers"), [("text", [1, 2, 4]), ("second", [2]), ("received", [3])])
def test_a_filter_finds_the_messages_of_a_batch(tmp_path: Path, words: str, numbers: list[int]) -> None:
    first, second = (update(content={"type": "text", "text": words}) for words in ("first", "second"))
    noise = line(3.0, "received", "a received line")
    lines = [
        line(1.0, "sent", request(1)),
        line(2.0, "received", [first, second]),
        noise,
        line(4.0, "sent", [first]),
    ]
    assert matching(FrameLog(write_log(tmp_path / "wire.jsonl", lines)), words) == numbers
