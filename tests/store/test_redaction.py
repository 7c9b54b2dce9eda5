"""Redaction of frames: secrets are masked, everything else is unchanged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.protocol.raw_values import PATH_KEYS
from acp_tui.store.redaction import Redactor
from acp_tui.store.secret_patterns import MASK, may_hold_secret
from acp_tui.store.session_folder import create_session_folder
from acp_tui.store.stored_sessions import read_session
from tests.support.stored_sessions import stderr_text
from tests.support.talk import properties

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def received(frame: Any) -> Any:
    return Redactor().redact("received", frame)


def call(method: str, params: Any, number: int | str | None = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def update(**fields: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": fields}}


def chunk(text: str, **more: Any) -> dict[str, Any]:
    return update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text}, **more)


def test_frames_without_secrets_are_returned_as_they_are() -> None:
    for frame in (
        chunk("Hello"),
        chunk("x = 1", messageId="m"),
        update(sessionUpdate="usage_update", used=1, size=2),
        call("session/new", {"cwd": "/", "mcpServers": []}),
        "not JSON",
        [1, {"a": None}],
        None,
    ):
        assert received(frame) is frame


def test_tokens_in_a_chunk_are_masked_in_text_and_meta() -> None:
    assert received(chunk(f"use {TOKEN}!")) == chunk(f"use {MASK}!")
    assert received(chunk("hi", _meta={"a": [TOKEN]})) == chunk("hi", _meta={"a": [MASK]})


def test_tokens_in_a_line_that_is_not_json_are_masked() -> None:
    assert received(f"debug: {TOKEN}") == f"debug: {MASK}"


def test_variables_and_headers_with_secret_names_are_masked() -> None:
    params = {
        "command": "x",
        "env": [{"name": "MY_API_KEY", "value": "abc"}, {"name": "PATH", "value": "/bin"}],
        "mcpServers": [
            {
                "name": "password keeper",
                "headers": [{"name": "X-Auth", "value": "abc"}],
                "args": ["--token", "t"],
            },
            {"env": {"SESSION_COOKIE": "abc", "HOME": "/h"}},
        ],
    }
    clean = received(call("terminal/create", params))["params"]

    assert clean["env"] == [{"name": "MY_API_KEY", "value": MASK}, {"name": "PATH", "value": "/bin"}]
    assert clean["mcpServers"] == [
        {
            "name": "password keeper",
            "headers": [{"name": "X-Auth", "value": MASK}],
            "args": ["--token", MASK],
        },
        {"env": {"SESSION_COOKIE": MASK, "HOME": "/h"}},
    ]


def test_config_options_with_secret_names_are_not_masked() -> None:
    frame = update(
        sessionUpdate="config_option_update", configOptions=[{"name": "Token saver", "value": "on"}]
    )
    assert received(frame) is frame


@pytest.mark.parametrize("number", [7, "seven"])
def test_the_content_of_a_sensitive_file_is_masked_in_the_response(number: int | str) -> None:
    redactor = Redactor()
    request = call("fs/read_text_file", {"sessionId": "s", "path": "/p/.env"}, number)
    answer = {"jsonrpc": "2.0", "id": number, "result": {"content": "harmless looking"}}

    assert redactor.redact("received", request) is request
    # not masked: a response of the agent to a client request with the same id
    assert redactor.redact("received", answer) is answer
    assert redactor.redact("sent", answer)["result"] == {"content": MASK}
    assert redactor.redact("sent", answer) is answer  # each id is masked once; it may be reused


def test_other_files_and_error_responses_are_not_masked() -> None:
    redactor = Redactor()
    redactor.redact("received", call("fs/read_text_file", {"path": "/p/main.py"}, 1))
    redactor.redact("received", call("fs/read_text_file", {"path": "/p/.env"}, 2))
    fine = {"jsonrpc": "2.0", "id": 1, "result": {"content": "import os"}}
    failed = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32002, "message": "not found"}}

    assert redactor.redact("sent", fine) is fine
    assert redactor.redact("sent", failed) is failed


def test_text_written_to_a_sensitive_file_is_masked() -> None:
    params = {"sessionId": "s", "path": "/home/me/.ssh/id_rsa", "content": "x"}
    assert received(call("fs/write_text_file", params))["params"] == params | {"content": MASK}


def test_elicitation_answers_are_masked_and_their_keys_kept() -> None:
    redactor = Redactor()
    redactor.redact("received", call("elicitation/create", {"mode": "form", "message": "Who?"}, 3))
    result = {"action": "accept", "content": {"name": "Jo", "age": 5, "tags": ["a"], "none": None}}
    clean = redactor.redact("sent", {"jsonrpc": "2.0", "id": 3, "result": result})

    assert clean["result"] == {
        "action": "accept",
        "content": {"name": MASK, "age": MASK, "tags": [MASK], "none": None},
    }


def test_a_tool_call_on_a_sensitive_file_keeps_title_and_paths_only() -> None:
    redactor = Redactor()
    first = redactor.redact(
        "received",
        update(
            sessionUpdate="tool_call",
            toolCallId="c",
            title="Edit .env",
            kind="edit",
            locations=[{"path": "/p/.env", "line": 3}],
            rawInput={"file_path": "/p/.env", "old_string": "a", "edits": [{"new": "b"}]},
            content=[
                {"type": "diff", "path": "/p/.env", "oldText": "a", "newText": None},
                {"type": "diff", "path": "/p/main.py", "oldText": "a", "newText": "b"},
            ],
        ),
    )["params"]["update"]
    later = redactor.redact(
        "received",
        update(
            sessionUpdate="tool_call_update",
            toolCallId="c",
            content=[{"type": "content", "content": {"type": "text", "text": "whole file"}}],
            rawOutput="whole file",
            status="completed",
        ),
    )["params"]["update"]

    assert first["title"] == "Edit .env"
    assert first["locations"] == [{"path": "/p/.env", "line": 3}]
    assert first["rawInput"] == {"file_path": "/p/.env", "old_string": MASK, "edits": [{"new": MASK}]}
    assert first["content"] == [
        {"type": "diff", "path": "/p/.env", "oldText": MASK, "newText": None},
        {"type": "diff", "path": "/p/main.py", "oldText": "a", "newText": "b"},
    ]
    assert later["content"] == [{"type": "content", "content": {"type": "text", "text": MASK}}]
    assert (later["rawOutput"], later["status"]) == (MASK, "completed")


@pytest.mark.parametrize("key", PATH_KEYS)
def test_a_sensitive_file_is_recognised_under_every_path_key(key: str) -> None:
    fields = update(toolCallId="c", rawInput={key: "/p/.env", "new_text": "a"})["params"]["update"]
    clean = received(update(**fields))["params"]["update"]
    assert clean["rawInput"]["new_text"] == MASK


def test_the_tool_call_in_a_permission_request_is_masked() -> None:
    params = {"toolCall": {"toolCallId": "c", "rawInput": {"path": ".env", "content": "x"}}, "options": []}
    clean = received(call("session/request_permission", params))
    assert clean["params"]["toolCall"]["rawInput"] == {"path": ".env", "content": MASK}


def test_a_sensitive_file_attached_to_a_prompt_is_masked() -> None:
    def resource(uri: str, text: str) -> dict[str, Any]:
        return {"type": "resource", "resource": {"uri": uri, "text": text}}

    harmless = resource("file:///p/a.py", "a")
    broken = resource("file://[x", "a")
    prompt = [resource("file:///my%20p/.env#L3", "A=b"), resource("/p/.env", "A=b"), harmless, broken]
    clean = Redactor().redact("sent", call("session/prompt", {"prompt": prompt}))
    assert clean["params"]["prompt"] == [
        resource("file:///my%20p/.env#L3", MASK),
        resource("/p/.env", MASK),
        harmless,
        broken,
    ]


def test_redaction_uses_the_given_sensitivity_check() -> None:
    redactor = Redactor(lambda path: path.endswith(".secret"))
    params = {"path": "/a.secret", "content": "x"}
    clean = redactor.redact("received", call("fs/write_text_file", params))
    assert clean["params"]["content"] == MASK


def test_frames_nested_too_deeply_are_redacted_as_text() -> None:
    deep: Any = TOKEN
    for _ in range(5000):
        deep = [deep]
    line = "[" * 5000 + f'"{TOKEN}"' + "]" * 5000

    assert received(deep) == MASK
    assert Redactor().redact("received", deep, line) == line.replace(TOKEN, MASK)


strings = st.text() | st.sampled_from(
    ["/p/.env", "file:///p/.env", "password=x1", TOKEN, "--token", "fs/read_text_file"]
)
keys = st.text(max_size=6) | st.sampled_from(
    [
        *("method", "params", "id", "result", "update", "sessionUpdate", "toolCall", "toolCallId", "content"),
        *("path", "uri", "text", "blob", "env", "headers", "name", "value", "rawInput", "locations", "type"),
        *("password", "_meta"),
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | strings,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)


def differences(old: Any, new: Any) -> list[tuple[Any, Any]]:
    """Return the pairs of leaves that differ; assert that keys and lengths are equal."""
    if isinstance(old, dict) and isinstance(new, dict):
        assert list(old) == list(new)
        return [pair for key in old for pair in differences(old[key], new[key])]
    if isinstance(old, list) and isinstance(new, list):
        assert len(old) == len(new)
        return [pair for pair in zip(old, new, strict=True) for pair in differences(*pair)]
    return [] if old == new and type(old) is type(new) else [(old, new)]


@properties
@given(frame=json_values, direction=st.sampled_from(["sent", "received", "client"]))
def test_redaction_of_any_frame_only_replaces_values_with_masks(frame: Any, direction: Any) -> None:
    before = json.dumps(frame)
    clean = Redactor().redact(direction, frame)

    assert json.dumps(frame) == before  # the frame passed in is not modified
    assert json.loads(json.dumps(clean)) == clean
    for _, new in differences(frame, clean):
        assert MASK in new


@properties
@given(frame=json_values, token=st.just(TOKEN))
def test_a_token_is_masked_anywhere_in_a_frame(frame: Any, token: str) -> None:
    written = json.dumps(Redactor().redact("received", {"params": frame, "more": [token]}))
    assert not any(token in text for text in texts(json.loads(written)))


def texts(value: Any) -> list[str]:
    """Return all strings of a JSON value, without keys."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


@properties
@given(st.text())
def test_the_quick_check_finds_every_kind_of_secret(text: str) -> None:
    for secret in (TOKEN, "password=x", '"token": "abcdefg1"', "Authorization: Basic abcd", "://a:b@c"):
        assert may_hold_secret(text + secret)


def test_the_wire_log_holds_no_token(tmp_path: Path) -> None:
    folder = create_session_folder(tmp_path, agent="a", title="A", cwd="/", command=[])
    frame = chunk(f"use {TOKEN}")
    folder.log.append(1, "received", frame, json.dumps(frame))

    (record,) = read_session(folder.path).records()
    assert record.frame == chunk(f"use {MASK}")


KEY = [
    "-----BEGIN RSA PRIVATE KEY-----",
    "MIIEabcdefghijklmnop0",
    "qrstuvwxyz0123456789",
    "-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("first", [0, 1])
def test_a_private_key_split_into_lines_is_masked(first: int) -> None:
    lines = ["starting", *KEY[first:], "done"]
    clean = Redactor().redact("client", {"client": "agent_exited", "stderr_tail": lines})["stderr_tail"]
    assert not any(part in line for line in clean for part in KEY[1:3])
    assert (clean[0], clean[-1], len(clean)) == ("starting", "done", len(lines))


PUTTY = [
    *("PuTTY-User-Key-File-3: ssh-ed25519", "Encryption: none", "Private-Lines: 2"),
    *("AAAAIEabcdefghijklmnop0qrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTU", "VWXYZ0123456789abcdef="),
    "Private-MAC: " + "0123456789abcdef" * 4,
]
NETRC = ["machine api.example.org", "  login me", "  password correct-horse"]


@pytest.mark.parametrize(
    ("lines", "secrets"),
    [(PUTTY, PUTTY[3:5]), (PUTTY[3:], PUTTY[3:5]), (NETRC, ["correct-horse"]), (KEY, KEY[1:3])],
)
def test_a_secret_of_several_lines_is_masked_in_the_last_lines_and_the_log_of_stderr(
    tmp_path: Path, lines: list[str], secrets: list[str]
) -> None:
    told = ["starting", *lines, "done"]
    clean = Redactor().redact("client", {"client": "agent_exited", "stderr_tail": told})["stderr_tail"]
    assert (clean[0], clean[-1], len(clean)) == ("starting", "done", len(told))
    assert [secret for secret in secrets if secret in "\n".join(clean)] == []
    if lines[0] != PUTTY[3]:  # the log has all lines, so it has the first one, too
        folder = create_session_folder(tmp_path, agent="a", title="A", cwd="/", command=[])
        for line in told:
            folder.stderr_sink(f"{line}\n")
        folder.close()
        text = stderr_text(folder.path)
        assert [secret for secret in secrets if secret in text] == []
        assert text.startswith("starting\n")
        assert text.endswith("\ndone")


def test_secret_variables_expanded_in_server_arguments_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", "correct-horse")
    server = {"name": "s", "command": "/s", "args": ["serve", "x=correct-horse"], "env": []}
    frame = {"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": [server]}}
    clean = Redactor().redact("sent", frame)
    assert clean["params"]["mcpServers"][0]["args"] == ["serve", f"x={MASK}"]
    assert server["args"] == ["serve", "x=correct-horse"]
