"""The events of a conversation.

Events come from frames of the wire (made by `protocol`) and from what the client itself did and knows.
They carry no time: it comes with the record. Texts of chunks and terminal output are raw (the state
makes them safe as they grow); all other texts meant for display are safe already.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from acp_tui.session.state import (
        Agent,
        Annotations,
        Choice,
        ConfigOption,
        Content,
        Cost,
        Hunk,
        Level,
        Location,
        Mode,
        PermissionOption,
        PlanItem,
        RequestId,
        RpcError,
        SlashCommand,
        TerminalOwner,
        ToolContent,
    )

Speaker = Literal["user", "agent", "thought"]


class Event:
    """Base class of all events."""

    __slots__ = ()


# --------------------------------------------------------------------------- the agent's process


@dataclass(slots=True)
class AgentStarted(Event):
    """Client: the agent's process was started or restarted."""

    command: list[str]
    cwd: str
    pid: int | None = None


@dataclass(slots=True)
class AgentExited(Event):
    """Client: the process is gone. Both None: it could not be started."""

    exit_code: int | None = None
    signal: str | None = None
    stderr_tail: list[str] = field(default_factory=list)
    expected: bool = False  # we ended it ourselves
    reason: str | None = None  # one sentence, when it never ran or was ended for a fault


# --------------------------------------------------------------------------- opening


@dataclass(slots=True)
class Initializing(Event):
    """`initialize` was sent, asking for this version."""

    protocol_version: int | str


@dataclass(slots=True)
class Initialized(Event):
    """The agent answered `initialize`."""

    agent: Agent
    dialect: Literal["v1", "0.1.0"] = "v1"


@dataclass(slots=True)
class SessionOpening(Event):
    """`session/new`, `load`, `resume` or `fork` was sent."""

    how: Literal["new", "load", "resume", "fork"]
    cwd: str
    directories: list[str] = field(default_factory=list)
    session_id: str | None = None  # the one loaded, resumed or forked


@dataclass(slots=True)
class SessionOpened(Event):
    """The opening request was answered. None: the answer did not say; the known value stays."""

    session_id: str | None = None
    how: Literal["new", "load", "resume", "fork"] = "new"
    modes: list[Mode] | None = None
    mode: str | None = None
    config_options: list[ConfigOption] | None = None
    models: list[Choice] | None = None
    model: str | None = None


@dataclass(slots=True)
class CallFailed(Event):
    """A request of ours, other than a prompt, was answered with an error."""

    method: str
    error: RpcError


@dataclass(slots=True)
class SignedIn(Event):
    """`authenticate` was answered without an error (which some agents do also when it failed)."""

    method_id: str


@dataclass(slots=True)
class SignedOut(Event):
    """`logout` was answered."""


@dataclass(slots=True)
class SessionClosed(Event):
    """`session/close` or `session/delete` of this session was answered."""

    deleted: bool = False


# --------------------------------------------------------------------------- turns


@dataclass(slots=True)
class PromptSent(Event):
    """`session/prompt` was sent."""

    contents: list[Content]
    raw_text: str = ""  # raw: all its text, to know the agent's echo by


@dataclass(slots=True)
class TurnAccepted(Event):
    """Draft dialect: the prompt was accepted; another message will end the turn."""


@dataclass(slots=True)
class TurnEnded(Event):
    """The turn is over."""

    stop_reason: str
    tokens: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class TurnFailed(Event):
    """The prompt was answered with an error."""

    error: RpcError


@dataclass(slots=True)
class CancelSent(Event):
    """`session/cancel` was sent."""


# --------------------------------------------------------------------------- what the agent says


@dataclass(slots=True)
class TextChunk(Event):
    """A piece of text. The hot path: keep it small."""

    speaker: Speaker
    text: str  # raw
    message_id: str | None = None
    annotations: Annotations | None = None


@dataclass(slots=True)
class ContentChunk(Event):
    """Content of another kind than text."""

    speaker: Speaker
    content: Content
    message_id: str | None = None


@dataclass(slots=True)
class ToolCallChanged(Event):
    """A `tool_call`, a `tool_call_update` or the tool call inside a permission request.

    A patch: None leaves a field as it is. `announced` tells a `tool_call` from an update.
    """

    call_id: str
    announced: bool = False
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    content: list[ToolContent] | None = None
    locations: list[Location] | None = None
    has_raw_input: bool = False
    raw_input: Any = None
    has_raw_output: bool = False
    raw_output: Any = None
    command: str | None = None  # from here on: read from the raw values
    input_paths: list[str] = field(default_factory=list)
    output: Content | None = None
    exit_code: int | None = None
    raw_failed: bool = False
    hunks: list[Hunk] = field(default_factory=list)
    meta: dict[str, Any] | None = None
    asked: bool = False  # from a permission request: its content joins what is there


@dataclass(slots=True)
class PlanChanged(Event):
    """A whole plan; it replaces the one before (of the same id). No items and no text: cleared."""

    items: list[PlanItem] = field(default_factory=list)
    plan_id: str | None = None
    markdown: str | None = None
    uri: str | None = None
    removed: bool = False


@dataclass(slots=True)
class CommandsChanged(Event):
    """The complete list of slash commands."""

    commands: list[SlashCommand]


@dataclass(slots=True)
class ModeChanged(Event):
    """The current mode, from the agent or confirmed by the answer to `set_mode`."""

    mode: str


@dataclass(slots=True)
class ConfigOptionsChanged(Event):
    """The complete list of config options."""

    options: list[ConfigOption]


@dataclass(slots=True)
class ConfigOptionSet(Event):
    """`session/set_config_option` was answered, but without the state it should carry."""

    option_id: str
    value: str | bool


@dataclass(slots=True)
class ModelChanged(Event):
    """The answer to `session/set_model`."""

    model: str


@dataclass(slots=True)
class UsageChanged(Event):
    """Context window and cost. None leaves a value as it is."""

    used: int | None = None
    size: int | None = None
    cost: Cost | None = None


@dataclass(slots=True)
class InfoChanged(Event):
    """Title and time of the session. `clear_title`: the agent sent null."""

    title: str | None = None
    clear_title: bool = False
    updated_at: str | None = None


@dataclass(slots=True)
class AgentNotice(Event):
    """The unstable `notice` update."""

    level: Level
    text: str
    detail: str | None = None


@dataclass(slots=True)
class CompactionChanged(Event):
    """The unstable `compaction_update`. None leaves a field as it is."""

    compaction_id: str
    status: str | None = None
    summary: str | None = None
    error: str | None = None


@dataclass(slots=True)
class CompactionChunk(Event):
    """The unstable `compaction_summary_chunk`."""

    compaction_id: str
    text: str  # raw


@dataclass(slots=True)
class Unknown(Event):
    """A message of a kind that acp-tui does not know."""

    what: str
    raw: Any


@dataclass(slots=True)
class Nothing(Event):
    """A well-formed message without effect on the state, except that the agent is alive."""

    what: str


@dataclass(slots=True)
class ProtocolFault(Event):
    """A violation of JSON-RPC: a malformed message, a response without a request, a second response."""

    text: str
    raw: Any = None


@dataclass(slots=True)
class Noise(Event):
    """A line on the agent's standard output that is not JSON."""

    text: str


@dataclass(slots=True)
class Elsewhere(Event):
    """An event of another session on the same connection."""

    session_id: str
    inner: Event


# --------------------------------------------------------------------------- what the agent asks


@dataclass(slots=True)
class PermissionRequested(Event):
    """`session/request_permission`. Its tool call came just before, as `ToolCallChanged`."""

    request_id: RequestId
    call_id: str
    options: list[PermissionOption]
    answerable: bool = True


@dataclass(slots=True)
class PermissionAnswered(Event):
    """Our answer to it was sent. Without an option: cancelled, or refused with an error."""

    request_id: RequestId
    outcome: Literal["selected", "cancelled", "error"]
    option_id: str | None = None


@dataclass(slots=True)
class ElicitationRequested(Event):
    """`elicitation/create`."""

    request_id: RequestId
    mode: str
    message: str
    url: str | None = None
    elicitation_id: str | None = None
    schema: dict[str, Any] | None = None


@dataclass(slots=True)
class ElicitationAnswered(Event):
    """Our answer to it was sent."""

    request_id: RequestId
    action: Literal["accept", "decline", "cancel", "error"]


@dataclass(slots=True)
class ElicitationCompleted(Event):
    """`elicitation/complete`."""

    elicitation_id: str


@dataclass(slots=True)
class RequestWithdrawn(Event):
    """The agent withdrew one of its requests (`$/cancel_request`)."""

    request_id: RequestId


@dataclass(slots=True)
class FileServed(Event):
    """We answered `fs/read_text_file` or `fs/write_text_file`."""

    path: str
    wrote: bool
    error: RpcError | None = None
    request_id: RequestId = None
    line: int | None = None  # where the agent began to read
    content: str = ""  # what was written


@dataclass(slots=True)
class FileBeforeWrite(Event):
    """Client: what a file held right before the agent's `fs/write_text_file` was carried out."""

    request_id: RequestId
    old: str | None = None  # None: there was no file
    known: bool = True  # False: not text, or too long to be kept
    line_ends: list[str] = field(default_factory=list)  # of old and new, where they are not the same


@dataclass(slots=True)
class TerminalCreated(Event):
    """We answered `terminal/create`, or the agent reported a terminal of its own in `_meta`.

    Client: the user ran something.
    """

    terminal_id: str
    owner: TerminalOwner = "client"
    command: str | None = None
    cwd: str | None = None


@dataclass(slots=True)
class TerminalOutput(Event):
    """Output of a terminal, after `skipped` characters that were not kept."""

    terminal_id: str
    text: str  # raw
    skipped: int = 0
    replace: bool = False  # the agent sent its whole output again


@dataclass(slots=True)
class TerminalExited(Event):
    """The command ended."""

    terminal_id: str
    exit_code: int | None = None
    signal: str | None = None


@dataclass(slots=True)
class TerminalReleased(Event):
    """`terminal/release`: it cannot be used any more; its text stays."""

    terminal_id: str


# --------------------------------------------------------------------------- what the client did


@dataclass(slots=True)
class Decided(Event):
    """Client: who will answer a permission or guard question, and why; before the answer is sent."""

    request_id: RequestId
    by: str  # "you" | "rule" | "policy" | "turn" (cancelled) | "covered" (by an allowed request)
    why: str
    allowed: bool | None = None  # None: cancelled
    subject: str | None = None  # in words: "run `pytest -q`"
    waited: float = 0.0  # seconds that the answer took


@dataclass(slots=True)
class DiffPlaced(Event):
    """Client: where in its file a diff of a tool call begins, as the file was found at that time."""

    call_id: str
    index: int  # of the diff in the call's content
    path: str
    line: int  # 1-based


@dataclass(slots=True)
class Noticed(Event):
    """Client: a notice for the transcript.

    A notice with the source `waiting` is replaced by the next one with the source `waited`.
    """

    level: Level
    text: str
    detail: str | None = None
    source: str = "client"


@dataclass(slots=True)
class SettingsRestored(Event):
    """Client: after a session was opened again, its settings were set as before, except for these keys."""

    failed: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Queued(Event):
    """Client: a prompt was put into the queue, or the one with this id was edited."""

    id: str
    text: str
    blocks: list[dict[str, Any]] = field(default_factory=list)
    first: bool = False  # goes to the front


@dataclass(slots=True)
class Unqueued(Event):
    """Client: a prompt left the queue, sent or removed."""

    id: str


@dataclass(slots=True)
class QueuePaused(Event):
    """Client: the queue waits for the user, or goes on."""

    paused: bool
