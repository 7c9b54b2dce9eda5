"""Methods that a client can call, skeletons of their params, and faults in what a user writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.session.state import Agent, AuthMethod, ConfigOption, Dialect, Mode, Session
from acp_tui.wire.client_methods import (
    SESSION,
    client_methods,
    known_values,
    params_faults,
    skeleton,
    with_session,
    without_session,
)
from acp_tui.wire.message_text import check_text
from acp_tui.wire.schema_check import VERSIONS, Fault

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def session(**capabilities: Any) -> Session:
    return Session(
        session_id="s-1",
        agent=Agent(capabilities=capabilities, auth_methods=[AuthMethod("key", "Key")]),
        modes=[Mode("ask", "Ask"), Mode("code", "Code")],
        mode="ask",
    )


def offered(found: Session) -> set[str]:
    return {method.name for method in client_methods(found) if method.is_offered}


def test_the_capabilities_decide_what_is_offered() -> None:
    found = session(loadSession=True, sessionCapabilities={"list": {}, "delete": None}, auth={"logout": {}})
    always = {"session/new", "session/prompt", "session/cancel", "$/cancel_request"}
    assert offered(found) == {
        *always, "session/load", "session/list", "session/set_mode", "authenticate", "logout"
    }  # fmt: skip
    assert offered(Session()) == always


def test_offered_methods_come_first() -> None:
    methods = client_methods(session(loadSession=True))
    assert [method.is_offered for method in methods] == sorted(
        (method.is_offered for method in methods), reverse=True
    )


@pytest.mark.parametrize("dialect", ["v1", "v2"])
@pytest.mark.parametrize("option", ["low", True])
def test_skeletons_follow_the_schema_and_name_the_session(option: str | bool, dialect: Dialect) -> None:
    found = session()
    found.dialect, version = dialect, VERSIONS[dialect]
    kind = "boolean" if option is True else "select"
    found.config_options = [ConfigOption("one", "One", kind, option)]
    for method in client_methods(found):
        params = skeleton(method.name, known_values(found, "/project"), version)
        faults = params_faults(method.name, params, is_request=method.is_request, version=version)
        assert faults == [], method
        assert params.get("sessionId", "s-1") == "s-1"
    assert skeleton("session/set_mode", known_values(found, "/"))["modeId"] == "code"
    assert skeleton("_x/y", known_values(found, "/")) == {"sessionId": "s-1"}


def test_the_session_id_is_stored_as_a_placeholder() -> None:
    params = {"sessionId": "s-1", "text": "about s-1", "list": ["s-1", 3]}
    stored = without_session(params, "s-1")
    assert stored == {"sessionId": SESSION, "text": "about s-1", "list": [SESSION, 3]}
    assert with_session(stored, "s-2") == {"sessionId": "s-2", "text": "about s-1", "list": ["s-2", 3]}


# --------------------------------------------------------------------------- faults in a text

TEXT = """{
  "sessionId": 3,
  "prompt": [
    {"type": "text", "text": "a"},
    {
      "type": "text"
    },
    {"type": "text", "text": "[redacted]"}
  ],
  "more": {"a": [1, 2]}
}"""


def test_faults_name_their_lines() -> None:
    found = check_text("session/prompt", TEXT, is_request=True)
    assert found.params == json.loads(TEXT)
    assert [(fault.line, fault.sentence.rpartition(": ")[2]) for fault in found.faults] == [
        (1, "sessionId must be a string"),
        (4, "prompt[].text is missing"),
        (7, "a secret was replaced by [redacted] when the message was saved; write it again"),
        (9, "more is not in the schema"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [('{"a": 1,\n }', 1), ("[NaN]", 0), ("[-1e999]", 0), ("[" * 100_000, 0), ('{\n\n"a": nul}', 2)],
)
def test_what_is_not_json_names_its_line(text: str, line: int) -> None:
    found = check_text("_x/y", text, is_request=True)
    assert not found.is_json
    assert [fault.line for fault in found.faults] == [line]


def test_no_text_means_no_params() -> None:
    assert check_text("session/list", " \n", is_request=True).faults == []
    (fault,) = check_text("session/close", "", is_request=True).faults
    assert fault.sentence == "session/close: sessionId is missing"


@given(JSON, st.sampled_from([None, 2]))
def test_every_value_is_found_at_its_place(value: Any, indent: int | None) -> None:
    from acp_tui.wire.message_text import _values

    for found in _values(json.dumps(value, indent=indent, ensure_ascii=False)):
        inner = value
        for step in found.place:
            inner = inner[step]
        assert inner == found.value


def test_a_fault_has_the_exact_place() -> None:
    (fault,) = params_faults(
        "session/prompt", {"sessionId": "s", "prompt": [{"type": "text"}]}, is_request=True
    )
    assert fault == Fault(("prompt", 0, "text"), "is missing")
