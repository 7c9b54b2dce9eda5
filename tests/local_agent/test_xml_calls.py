"""Calls written as XML in the text of a model."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from acp_tui.local_agent.profile import CallBegun, TextPiece, ToolSpec
from acp_tui.local_agent.xml_calls import (
    UNNAMED,
    CallEnd,
    XmlCallReader,
    XmlEvent,
    describe_tools,
    messages_as_text,
    parse_arguments,
)

TOOLS = [
    ToolSpec("read", "Read a file.", {"type": "object"}),
    ToolSpec("docs__search", "Search.", {"type": "object"}, server="docs"),
]


def call(arguments: str, name: str = "read", server: str = "local") -> str:
    return (
        f"<use_mcp_tool>\n<server_name>{server}</server_name>\n<tool_name>{name}</tool_name>\n"
        f"<arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>"
    )


def read(*pieces: str) -> list[XmlEvent]:
    reader = XmlCallReader(TOOLS)
    events: list[XmlEvent] = []
    for piece in pieces:
        events += reader.feed(piece)
    return events + reader.finish()


def prose(events: list[XmlEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextPiece))


def calls(events: list[XmlEvent]) -> list[tuple[str, dict[str, Any], str]]:
    """The name, the arguments and the problem of each call."""
    names = {event.id: event.name for event in events if isinstance(event, CallBegun)}
    return [
        (names[event.id], *parse_arguments(event.arguments)) for event in events if isinstance(event, CallEnd)
    ]


def outline(events: list[XmlEvent]) -> list[object]:
    """The events without the places where text has been cut."""
    joined: list[object] = []
    for event in events:
        if isinstance(event, TextPiece) and joined and isinstance(joined[-1], TextPiece):
            joined[-1] = TextPiece(joined[-1].text + event.text)
        else:
            joined.append(event)
    return joined


def test_a_call_is_separated_from_the_prose_around_it() -> None:
    events = read("I read it.\n\n" + call('{"path": "a.py"}') + "\n\nDone.")

    assert outline(events) == [
        TextPiece("I read it."),
        CallBegun("1", "read"),
        CallEnd("1", '{"path": "a.py"}'),
        TextPiece("Done."),
    ]


def test_several_calls_are_read_from_one_answer() -> None:
    events = read(call('{"path": "a"}') + call('{"path": "b"}') + "\n" + call('{"q": 1}', "search", "docs"))

    assert calls(events) == [
        ("read", {"path": "a"}, ""),
        ("read", {"path": "b"}, ""),
        ("docs__search", {"q": 1}, ""),
    ]
    assert prose(events) == ""


def test_a_call_is_reported_as_soon_as_its_name_is_known() -> None:
    reader = XmlCallReader(TOOLS)

    assert reader.feed(call('{"path": "a.py"}').partition(".py")[0]) == [CallBegun("1", "read")]


def test_a_call_needs_no_arguments() -> None:
    text = "<use_mcp_tool><tool_name>read</tool_name></use_mcp_tool>"

    assert calls(read(text + call('{"path": "a"}'))) == [("read", {}, ""), ("read", {"path": "a"}, "")]


@pytest.mark.parametrize("name", ["search", "docs__search"])
def test_a_tool_of_a_server_can_be_named_with_and_without_its_server(name: str) -> None:
    assert calls(read(call("{}", name, "docs"))) == [("docs__search", {}, "")]


def test_closing_tags_in_a_string_belong_to_the_string() -> None:
    text = call('{"path": "</arguments></use_mcp_tool> \\" </arguments>"}')

    assert calls(read(text)) == [("read", {"path": '</arguments></use_mcp_tool> " </arguments>'}, "")]


def test_line_breaks_in_a_string_are_accepted() -> None:
    assert calls(read(call('{"path": "a\nb"}'))) == [("read", {"path": "a\nb"}, "")]


def test_a_call_in_a_code_block_of_its_own_counts() -> None:
    events = read(f"Reading:\n```xml\n{call('{}')}\n{call('{}')}\n```\nThen more.")

    assert len(calls(events)) == 2
    assert prose(events) == "Reading:Then more."


@pytest.mark.parametrize(
    "text",
    [
        "Write `<use_mcp_tool><server_name>x` to call.",
        "The tag <use_mcp_tool> opens a call.",
        "a < b and <use_mcp_tools> and </use_mcp_tool>",
        f"```python\nprint(1)\n{call('{}')}\n```\nThat was an example.",
        f"````\n```\n{call('{}')}\n```\n````",
    ],
)
def test_tags_that_are_only_mentioned_are_prose(text: str) -> None:
    events = read(text)

    assert prose(events) == text
    assert calls(events) == []


@pytest.mark.parametrize(
    ("text", "name", "problem"),
    [
        (call('{"path": }'), "read", "not valid JSON"),
        (call("[1]"), "read", "not a JSON object"),
        ("<use_mcp_tool><path>x</path></use_mcp_tool>", UNNAMED, "not valid JSON"),
        (call('{"path": "a').partition("\n</arguments>")[0], "read", "not valid JSON"),
        ("<use_mcp_tool>\n<tool_name>read</tool_name>\n", "read", "not valid JSON"),
        ("<use_mcp_tool><tool_name>read</tool_name><x>1</x></use_mcp_tool>", "read", "not valid JSON"),
    ],
)
def test_a_broken_call_carries_one_sentence_for_the_model(text: str, name: str, problem: str) -> None:
    events = read(text)

    assert prose(events) == ""
    assert len(events) == 2
    assert calls(events)[0][0] == name
    assert problem in calls(events)[0][2]


def test_calls_and_prose_after_a_broken_string_are_still_read() -> None:
    events = read(call('{"path": "a"b"}') + "\nand\n" + call('{"path": "c"}'))

    broken, whole = calls(events)
    assert "not valid JSON" in broken[2]
    assert whole == ("read", {"path": "c"}, "")
    assert prose(events) == "and"


def test_a_missing_end_is_forgiven_when_the_arguments_are_complete() -> None:
    text = call('{"path": "a"}')

    for end in ("\n</arguments>", "\n</use_mcp_tool>"):
        assert calls(read(text.partition(end)[0])) == [("read", {"path": "a"}, "")]


PIECES = st.sampled_from(
    [
        call('{"path": "a.py"}'),
        call('{"text": "</arguments> \\" {"}'),
        call('{"text": "a"b"}'),
        call("{}", "unknown"),
        "<use_mcp_tool>",
        "</use_mcp_tool>",
        "<arguments>",
        "</arguments>",
        "<tool_name>read</tool_name>",
        "<server_name>",
        '"',
        "\\",
        "```",
        "```xml\n",
        "````",
        "`",
        "\n",
        "\n```\n",
        "   ",
        "<",
        "prose",
        "{",
        "<us",
    ]
)
TEXTS = st.lists(PIECES | st.text(alphabet='<>`~ \n/abc"\\{}', max_size=8), max_size=14).map("".join)


@given(TEXTS, st.lists(st.integers(min_value=0, max_value=600), max_size=12))
@example("```\n" + " " * 400 + call("{}") + "\n```", [4, 200])
@example("`" * 400 + "\n" + call("{}"), [299, 300, 301])
@example("<use_mcp_tool>" + " " * 400 + "<tool_name>read</tool_name></use_mcp_tool>", [300])
@example("```\nx\n```" + " " * 400 + "x\n```\n" + call("{}"), [309])
@example("<use_mcp_tool><tool_name>" + "x" * 400 + "</tool_name></use_mcp_tool>", [310])
def test_calls_and_prose_do_not_depend_on_how_the_text_is_cut(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in itertools.pairwise(places)]

    assert outline(read(*pieces)) == outline(read(text))


@given(TEXTS)
def test_text_that_arrives_letter_by_letter_gives_the_same(text: str) -> None:
    assert outline(read(*text)) == outline(read(text))


@given(TEXTS)
def test_every_call_begins_and_ends_once(text: str) -> None:
    events = read(text)

    begun = [event.id for event in events if isinstance(event, CallBegun)]
    assert begun == [event.id for event in events if isinstance(event, CallEnd)]


def test_the_description_names_every_tool_with_its_server_and_schema() -> None:
    text = describe_tools(TOOLS)

    assert "## search\nServer: docs\nSearch.\nArguments: {" in text
    assert "<use_mcp_tool>" in text
    assert describe_tools([]) == ""


def test_history_is_sent_as_alternating_text() -> None:
    image = BinaryContent(b"png", media_type="image/png")
    messages = messages_as_text(
        [
            ModelRequest([UserPromptPart("Look.")]),
            ModelResponse([TextPart("Reading."), ToolCallPart("docs__search", '{"q": 1}', "c1")]),
            ModelRequest([ToolReturnPart("docs__search", "found", "c1")]),
            ModelRequest([UserPromptPart(["And this?", image])]),
        ],
        TOOLS,
    )

    first, answer, last = messages
    assert isinstance(answer, ModelResponse)
    assert calls(read(str(answer.text))) == [("docs__search", {"q": 1}, "")]
    (prompt,) = last.parts
    assert isinstance(prompt, UserPromptPart)
    assert list(prompt.content) == ["[Result of docs__search]\nfound\n\nAnd this?", image]
    assert isinstance(first, ModelRequest)
