"""Error objects of any shape: code, message and detail."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_tui.protocol.error_reader import read_error

BURIED = '{"error":{"type":"invalid_request_error","message":"credit balance too low"}}'


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ("something broke", 0, "something broke"),
        ("", 0, "The agent answered with an error"),
        (None, 0, "The agent answered with an error"),
        ([1], 0, "The agent answered with an error"),
        ({"code": -32602, "message": "Invalid params: no such mode"}, -32602, "Invalid params: no such mode"),
        ({"code": -32603, "message": "Internal error", "data": {"details": "no key"}}, -32603, "no key"),
        ({"code": -32603, "message": "Internal error", "data": "no key"}, -32603, "no key"),
        ({"code": -32603, "message": "Internal error", "data": {}}, -32603, "Internal error"),
        (
            {"code": -32603, "message": "Internal error", "data": {"error": {"message": "deep"}}},
            -32603,
            "deep",
        ),
        (
            {"code": -32601, "message": "Method not found", "data": {"method": "x/y"}},
            -32601,
            "Method not found: x/y",
        ),
        (
            {"code": -32002, "message": "Resource not found", "data": {"uri": "/a"}},
            -32002,
            "Resource not found: /a",
        ),
        ({"code": 429, "message": BURIED}, 429, "credit balance too low"),
        (
            {"code": "429", "message": f"API Error: 429 {BURIED}"},
            429,
            "API Error: 429: credit balance too low",
        ),
        (
            {"code": -32603, "message": "Internal error", "data": {"details": BURIED}},
            -32603,
            "credit balance too low",
        ),
        ({"code": 1, "message": "odd {braces"}, 1, "odd {braces"),
        ({"message": "no code"}, 0, "no code"),
        ({"code": 5}, 5, "The agent answered with error 5"),
        ({"code": True, "message": {"a": 1}}, 0, "The agent answered with error 0"),
        ({"code": 1, "message": "\x1b[31mred"}, 1, "␛[31mred"),
    ],
)
def test_code_and_message_are_read_from_any_shape(error: Any, code: int, message: str) -> None:
    read = read_error(error)
    assert (read.code, read.message, read.raw) == (code, message, error)


def test_all_other_fields_are_in_the_detail() -> None:
    read = read_error(
        {"code": 1, "message": "Internal error", "data": {"details": "x", "stack": "y\x1b"}, "more": 2}
    )
    assert read.detail is not None
    assert "Internal error" in read.detail
    assert '"stack": "y\\u001b"' in read.detail
    assert '"more": 2' in read.detail


def test_a_plain_error_has_no_detail() -> None:
    assert read_error({"code": 1, "message": "No"}).detail is None


@pytest.mark.parametrize(
    ("error", "required"),
    [
        ({"code": -32000, "message": "Authentication required"}, True),
        ({"code": -32603, "message": "x", "data": {"authMethods": [{"id": "a", "name": "A"}]}}, True),
        ({"code": -32603, "message": "x", "data": {"authMethods": "none"}}, False),
        ({"code": -32603, "message": "x"}, False),
    ],
)
def test_errors_that_require_authentication_are_recognised(error: Any, *, required: bool) -> None:
    assert read_error(error).auth_required is required


def test_the_message_of_a_deeply_nested_error_is_read() -> None:
    deep = json.loads('{"a":' * 400 + "1" + "}" * 400)
    assert read_error({"code": 1, "message": "error", "data": deep}).message == "error"
