"""The table of all checks: group, name, the sentence of the specification, and the function that checks it.

A check passes if its function returns. Otherwise the function raises `Failed`, `NotOffered` or `NotSeen`.
Only what the specification demands can fail: its sentences here say MUST, define a field, or are a schema.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.doctor.suite import handshake, observed
from acp_tui.doctor.suite.observed import schema_of_answer, violation

if TYPE_CHECKING:
    from acp_tui.doctor.suite.bench import Bench

SPECIFICATION = "https://agentclientprotocol.com/protocol/"
JSON_RPC = "https://www.jsonrpc.org/specification"


class Check(NamedTuple):
    """One row of the table."""

    group: str
    name: str
    page: str
    """The page of the sentence, below `SPECIFICATION` unless it is a full address."""
    sentence: str
    """What the specification says, word for word."""
    run: Callable[[Bench], Awaitable[None]]

    @property
    def address(self) -> str:
        """The address of the page."""
        return self.page if "://" in self.page else f"{SPECIFICATION}{self.page}"


_FIELDS = (
    "Implementations MUST NOT add any custom fields at the root of a type that's part of the specification."
)
_SCHEMA = "v1/schema"

CHECKS: tuple[Check, ...] = (
    # ---------------------------------------------------------------------------------- messages
    Check(
        "messages", "stdout-only-messages", "v1/transports",
        "The agent MUST NOT write anything to its stdout that is not a valid ACP message.",
        violation("stdout-noise"),
    ),
    Check(
        "messages", "one-line-per-message", "v1/transports",
        "Messages are delimited by newlines (\\n), and MUST NOT contain embedded newlines.",
        violation("stdout-framing"),
    ),
    Check(
        "messages", "message-is-object", "v1/transports",
        "Messages are individual JSON-RPC requests, notifications, or responses.",
        violation("malformed-envelope"),
    ),
    Check(
        "messages", "utf-8", "v1/transports",
        "JSON-RPC messages MUST be UTF-8 encoded.",
        observed.utf_8,
    ),
    Check(
        "messages", "jsonrpc-2.0", JSON_RPC,
        'A String specifying the version of the JSON-RPC protocol. MUST be exactly "2.0".',
        violation("schema:envelope"),
    ),
    Check(
        "messages", "error-object", "v1/overview",
        "Errors include an error object with code and message.",
        violation("schema:error", "error"),
    ),
    Check(
        "messages", "answers-to-requests-only", "v1/overview",
        "Notifications never receive responses (success or error).",
        violation("answer-to-nothing"),
    ),
    Check(
        "messages", "one-answer-per-request", JSON_RPC,
        "When a rpc call is made, the Server MUST reply with a Response,"
        " except for in the case of Notifications.",
        violation("answered-twice"),
    ),
    Check(
        "messages", "request-ids-differ", JSON_RPC,
        "This member is required. It MUST be the same as the value of the id member in the Request Object.",
        violation("request-id-twice"),
    ),
    # ---------------------------------------------------------------------------------- handshake
    Check(
        "handshake", "initialize", "v1/initialization",
        "The Agent MUST respond with the chosen protocol version and the capabilities it supports.",
        handshake.answered,
    ),
    Check(
        "handshake", "version-is-integer", "v1/initialization",
        "The protocol versions that appear in the initialize requests and responses are a single integer.",
        handshake.version_is_integer,
    ),
    Check(
        "handshake", "same-version", "v1/initialization",
        "If the Agent supports the requested version, it MUST respond with the same version.",
        handshake.same_version,
    ),
    Check(
        "handshake", "future-version", "v1/initialization",
        "Otherwise, the Agent MUST respond with the latest version it supports.",
        handshake.future_version,
    ),
    Check(
        "handshake", "no-capabilities", "v1/initialization",
        "All capabilities included in the initialize request are OPTIONAL.",
        handshake.no_capabilities,
    ),
    Check(
        "handshake", "unknown-capabilities", "v1/initialization",
        "The introduction of new capabilities is not considered a breaking change.",
        handshake.unknown_capabilities,
    ),
    Check("handshake", "schema-initialize", _SCHEMA, _FIELDS, schema_of_answer("initialize")),
)  # fmt: skip
"""All checks, in the order of the report. Names are unique."""
