"""Messages of the user and the agent."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.session.state import AgentMessage, AnnotatedText, Content, Thought, UserMessage
from tests.support.talk import Talk, properties


@pytest.fixture
def talk() -> Talk:
    """A session with a running turn."""
    conversation = Talk().opened()
    conversation.prompt("hello")
    return conversation


def test_adjacent_chunks_without_ids_are_one_message(talk: Talk) -> None:
    talk.says("one ")
    talk.says("two")
    assert talk.only(AgentMessage).text == "one two"


def test_a_new_message_id_starts_a_message(talk: Talk) -> None:
    talk.says("one", messageId="a")
    talk.says("two", messageId="b")
    assert [message.text for message in talk.all(AgentMessage)] == ["one", "two"]


def test_the_same_message_id_continues_its_message_after_other_entries(talk: Talk) -> None:
    talk.says("one ", messageId="a")
    talk.tool("t")
    talk.says("two", messageId="a")
    assert talk.only(AgentMessage).text == "one two"


def test_a_thought_and_a_message_may_share_an_id(talk: Talk) -> None:
    talk.thinks("hm", messageId="a")
    talk.says("so", messageId="a")
    assert (talk.only(Thought).text, talk.only(AgentMessage).text) == ("hm", "so")


def test_without_ids_a_tool_call_ends_the_message(talk: Talk) -> None:
    talk.says("before")
    talk.tool("t")
    talk.says("after")
    assert talk.kinds() == ["UserMessage", "AgentMessage", "ToolCall", "AgentMessage"]


def test_a_notice_does_not_end_a_message(talk: Talk) -> None:
    talk.says("be")
    talk.update("current_mode_update", currentModeId="plan")
    talk.says("fore")
    assert talk.only(AgentMessage).text == "before"


@pytest.mark.parametrize("message_id", [None, "m"])
def test_after_a_notice_the_next_paragraph_of_a_message_stands_below_it(
    talk: Talk, message_id: str | None
) -> None:
    more = {} if message_id is None else {"messageId": message_id}
    talk.says("One", **more)
    talk.update("current_mode_update", currentModeId="plan")
    for chunk in (" is done.\n", "\nTwo", " follows.\n\nThree."):
        talk.says(chunk, **more)
    assert talk.kinds() == ["UserMessage", "AgentMessage", "Notice", "AgentMessage"]
    above, below = talk.all(AgentMessage)
    assert (above.text, below.text) == ("One is done.\n\n", "Two follows.\n\nThree.")


def test_a_notice_does_not_tear_a_code_block_apart(talk: Talk) -> None:
    talk.says("```\na\n")
    talk.update("current_mode_update", currentModeId="plan")
    talk.says("\nb\n\n")
    talk.says("c\n```\n\nAfter it.")
    talk.says("\n\nThen more.")
    assert [message.text for message in talk.all(AgentMessage)] == [
        "```\na\n\nb\n\nc\n```\n\nAfter it.\n\n",
        "Then more.",
    ]


def test_a_message_id_of_an_earlier_turn_is_another_message(talk: Talk) -> None:
    talk.says("first", messageId="0")
    talk.end(3)
    talk.prompt("again")
    talk.says("second", messageId="0")
    assert [message.text for message in talk.all(AgentMessage)] == ["first", "second"]


def test_empty_chunks_are_ignored(talk: Talk) -> None:
    talk.says("", _meta={"usage": 1})
    talk.thinks("")
    assert talk.kinds() == ["UserMessage"]


def test_a_thought_ends_with_the_next_entry(talk: Talk) -> None:
    talk.thinks("hm")
    assert talk.only(Thought).ended_at is None
    talk.says("so")
    assert talk.only(Thought).ended_at == talk.only(AgentMessage).at


def test_a_chunk_changes_only_its_message(talk: Talk) -> None:
    talk.says("one ")
    talk.says("two")
    (change,) = talk.changes
    assert (change.kind, change.entry) == ("updated", talk.only(AgentMessage))
    assert talk.only(AgentMessage).version == 1


def test_content_of_all_kinds_keeps_its_position(talk: Talk) -> None:
    talk.says("see ")
    for content in (
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "audio", "data": "BBBB", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///x", "name": "x", "size": 3, "title": "X"},
        {"type": "resource", "resource": {"uri": "file:///y", "text": "inside", "mimeType": "text/plain"}},
        {"type": "hologram", "beam": 1},
    ):
        talk.update("agent_message_chunk", content=content)
    parts = talk.only(AgentMessage).parts
    assert str(parts[0]) == "see "
    contents = [part for part in parts if isinstance(part, Content)]
    assert [part.kind for part in contents] == ["image", "audio", "resource_link", "resource", "hologram"]
    assert contents[3].text == "inside"
    assert contents[4].raw == {"type": "hologram", "beam": 1}


def test_text_for_the_assistant_only_is_a_separate_part(talk: Talk) -> None:
    private = {"type": "text", "text": "se", "annotations": {"audience": ["assistant"], "priority": 0.5}}
    talk.says("open ")
    talk.update("agent_message_chunk", content=private)
    talk.update("agent_message_chunk", content={**private, "text": "cret"})
    talk.says(" open")
    parts = talk.only(AgentMessage).parts
    assert [str(part) for part in parts] == ["open ", "secret", " open"]
    assert isinstance(parts[1], AnnotatedText)
    assert parts[1].for_assistant_only


def test_messages_after_the_turn_are_marked_as_stray(talk: Talk) -> None:
    talk.end(3)
    talk.says("a banner")
    assert talk.only(AgentMessage).stray


# --------------------------------------------------------------------------- the echo of the prompt


@pytest.mark.parametrize("pieces", [["hello"], ["hel", "lo"], ["hello", "\n"], list("hello")])
def test_the_echo_of_the_prompt_is_not_shown(talk: Talk, pieces: list[str]) -> None:
    for piece in pieces:
        talk.echoes(piece)
    assert talk.only(UserMessage).text == "hello"


def test_a_user_message_that_begins_like_the_prompt_is_shown(talk: Talk) -> None:
    talk.echoes("hel")
    talk.echoes("p me")
    assert [message.text for message in talk.all(UserMessage)] == ["hello", "help me"]


def test_text_after_the_echo_is_shown(talk: Talk) -> None:
    talk.echoes("hello")
    talk.echoes("<reminder>")
    assert [message.text for message in talk.all(UserMessage)] == ["hello", "<reminder>"]


def test_the_echo_of_content_is_not_shown() -> None:
    talk = Talk().opened()
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    talk.call("session/prompt", {"sessionId": "s1", "prompt": [image]})
    talk.update("user_message_chunk", content=image)
    talk.update("user_message_chunk", content={**image, "data": "BBBB"})
    assert [[part.data for part in m.parts if isinstance(part, Content)] for m in talk.all(UserMessage)] == [
        ["AAAA"],
        ["BBBB"],
    ]


def test_an_echo_is_not_expected_in_the_next_turn(talk: Talk) -> None:
    talk.end(3)
    talk.prompt("other")
    talk.echoes("hello")
    assert [message.text for message in talk.all(UserMessage)] == ["hello", "other", "hello"]


# --------------------------------------------------------------------------- properties

nasty = st.text(
    st.one_of(
        st.sampled_from("\x1b[]0;31m\x07\r\n\t\x9b\u202e\u2066\x00\x7f"),
        st.sampled_from("ab é漢😀"),
        st.integers(0xD800, 0xDFFF).map(chr),
    ),
    max_size=30,
)


def halves(text: str) -> str:
    """Split each character beyond U+FFFF into surrogates, as JSON escapes in different chunks do."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(int.from_bytes(raw[at : at + 2], "little")) for at in range(0, len(raw), 2))


def cut(text: str, places: list[int]) -> list[str]:
    """Cut the text at these positions."""
    edges = sorted({place % (len(text) + 1) for place in places})
    return [text[start:end] for start, end in zip([0, *edges], [*edges, len(text)], strict=True)]


@properties
@given(nasty, st.lists(st.integers(0, 60), max_size=8), st.sampled_from(["agent", "user", "thought"]))
def test_a_message_does_not_depend_on_its_chunks(text: str, places: list[int], speaker: str) -> None:
    def messages(pieces: list[str]) -> list[tuple[str, str]]:
        talk = Talk().opened()
        talk.prompt("ab\r\n😀")
        say = {"agent": talk.says, "user": talk.echoes, "thought": talk.thinks}[speaker]
        for piece in pieces:
            say(piece)
        return [
            (type(entry).__name__, entry.text)
            for entry in talk.session.entries
            if isinstance(entry, (AgentMessage, UserMessage, Thought))
        ]

    assert messages(cut(halves(text), places)) == messages([text])


@properties
@given(nasty)
def test_messages_contain_no_control_characters(text: str) -> None:
    talk = Talk().opened()
    talk.prompt("x")
    talk.says(text)
    shown = "".join(message.text for message in talk.all(AgentMessage))
    kinds = {unicodedata.category(char) for char in shown if char not in "\n\t"}
    assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}
