"""The events of a conversation.

`protocol` makes events from frames, which are the messages between acp-tui and the agent, and from client
records, which acp-tui writes about its own actions: these events are `ClientEvent`s. The time of an event is
in the record from which the event is made. The names of classes and fields are part of the log format and of
the output of `exec`.

Texts are safe to display, except ids and the values of fields of the type `Raw`. The texts of chunks and
of terminal output are raw; they become safe when they are appended to the state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

if TYPE_CHECKING:
    from acp_tui.session.state import (
        Agent,
        Annotations,
        Choice,
        ConfigOption,
        Content,
        Cost,
        Dialect,
        Diff,
        Level,
        Location,
        Mode,
        PatchHunk,
        PermissionOption,
        PlanItem,
        Quota,
        RequestId,
        RpcError,
        SlashCommand,
        TerminalOwner,
        ToolContent,
    )

_Value = TypeVar("_Value")
Raw = Annotated[_Value, "raw"]
"""A value that is not safe to display: kept as it is, because it is compared, sent or parsed."""

Speaker = Literal["user", "agent", "thought"]


class Event:
    """Base class of all events."""

    __slots__ = ()


class ClientEvent(Event):
    """Base class of the events that can come from a client record. They describe what acp-tui itself did."""

    __slots__ = ()


# --------------------------------------------------------------------------- process


@dataclass(slots=True)
class AgentStarted(ClientEvent):
    """The agent's process was started or restarted, or acp-tui has connected to a remote agent."""

    command: list[str]  # of a remote agent: its URL
    cwd: str
    pid: int | None = None  # None: a remote agent
    in_new_run: bool = False  # acp-tui itself was started since the agent last ran


@dataclass(slots=True)
class AgentExited(ClientEvent):
    """The agent's process has exited, or it could not be started.

    In the second case, there is neither an exit code nor a signal.
    """

    exit_code: int | None = None
    signal: str | None = None
    stderr_tail: list[str] = field(default_factory=list)
    expected: bool = False  # acp-tui ended it
    outlived_input: bool = False  # it did not exit when acp-tui closed its stdin
    reason: str | None = None  # a sentence, if it could not be started or was ended because of a fault
    found_later: bool = False  # acp-tui ended first, and recorded this when it was started again


# --------------------------------------------------------------------------- opening


@dataclass(slots=True)
class Initializing(Event):
    """`initialize` was sent with this protocol version."""

    protocol_version: int | str


@dataclass(slots=True)
class Initialized(Event):
    """The agent answered `initialize`."""

    agent: Agent
    dialect: Dialect = "v1"


@dataclass(slots=True)
class SessionOpening(Event):
    """`session/new`, `session/load`, `session/resume` or `session/fork` was sent."""

    how: Literal["new", "load", "resume", "fork"]
    cwd: str
    directories: list[str] = field(default_factory=list)
    session_id: str | None = None  # the session to load, resume or fork
    mcp_servers: list[str] = field(default_factory=list)  # the names of the MCP servers sent to the agent


@dataclass(slots=True)
class SessionOpened(Event):
    """The request to open a session was answered.

    Values that the answer does not contain are None. The session keeps its modes, config options or models if
    the answer contains none.
    """

    session_id: str | None = None
    how: Literal["new", "load", "resume", "fork"] = "new"
    modes: list[Mode] | None = None
    mode: str | None = None
    config_options: list[ConfigOption] | None = None
    models: list[Choice] | None = None
    model: str | None = None


@dataclass(slots=True)
class HistoryCompleted(ClientEvent):
    """The history that `session/load` replays is complete, as far as acp-tui can tell."""


@dataclass(slots=True)
class CallFailed(Event):
    """A request to the agent, other than a prompt, was answered with an error."""

    method: str
    error: RpcError


@dataclass(slots=True)
class SignedIn(Event):
    """`authenticate` was answered without an error. With some agents, the sign-in can have failed anyway."""

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
    raw_text: Raw[str] = ""  # all text of the prompt, to recognise the agent's echo


@dataclass(slots=True)
class Steered(Event):
    """The agent accepted a message that the user sent into the running turn."""

    contents: list[Content]
    raw_text: Raw[str] = ""  # all text of the message, to recognise the agent's echo


@dataclass(slots=True)
class TurnAccepted(Event):
    """The agent accepted the prompt. A later notification ends the turn.

    The event occurs only in the 0.1.0 draft and in version 2 of the protocol.
    """


@dataclass(slots=True)
class WorkStateChanged(Event):
    """A `state_update` of version 2 that does not end a turn: running, requires_action, idle or unknown."""

    state: str


@dataclass(slots=True)
class BackgroundWorkChanged(Event):
    """The work that goes on while no turn runs, as far as version 2 reports it: a complete list."""

    call_ids: list[str]
    terminal_ids: list[str]


@dataclass(slots=True)
class TurnEnded(Event):
    """The turn has ended without an error."""

    stop_reason: str
    tokens: dict[str, int] = field(default_factory=dict)
    models: dict[str, dict[str, int]] = field(default_factory=dict)  # the tokens of each model


@dataclass(slots=True)
class TurnFailed(Event):
    """The prompt was answered with an error."""

    error: RpcError


@dataclass(slots=True)
class CancelSent(Event):
    """`session/cancel` was sent."""


# --------------------------------------------------------------------------- messages by hand


@dataclass(slots=True)
class HandMessageSent(Event):
    """A request or notification that the user wrote was sent. `WrittenByHand` announced it."""

    method: str
    params: Raw[Any] = None
    request_id: Raw[RequestId] = None  # None for a notification
    faults: list[str] = field(default_factory=list)


@dataclass(slots=True)
class HandMessageAnswered(Event):
    """The agent answered a request that the user wrote."""

    request_id: Raw[RequestId]
    result: Raw[Any] = None
    error: RpcError | None = None


@dataclass(slots=True)
class HandMessageCancelled(Event):
    """`$/cancel_request` was sent for a request that the user wrote. An answer can still come."""

    request_id: Raw[RequestId]


# --------------------------------------------------------------------------- messages of the agent


@dataclass(slots=True)
class TextChunk(Event):
    """A part of a text message. There are many chunks, so the event has few fields."""

    speaker: Speaker
    text: Raw[str]
    message_id: str | None = None
    annotations: Annotations | None = None


@dataclass(slots=True)
class ContentChunk(Event):
    """An image or other content that is not text."""

    speaker: Speaker
    content: Content
    message_id: str | None = None


@dataclass(slots=True)
class MessageReplaced(Event):
    """A whole message of version 2. Chunks with its id append to it. Contents that are None are unchanged."""

    speaker: Speaker
    message_id: str
    contents: list[Content] | None = None


@dataclass(slots=True)
class ToolCallChanged(Event):
    """A `tool_call`, a `tool_call_update` or the tool call in a permission request.

    A field that is None leaves the known value unchanged.
    """

    call_id: str
    announced: bool = False  # it is a `tool_call`
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    content: list[ToolContent] | None = None
    locations: list[Location] | None = None
    has_raw_input: bool = False
    raw_input: Raw[Any] = None
    has_raw_output: bool = False
    raw_output: Raw[Any] = None
    command: str | None = None  # from here to `input_diffs`: read from raw values and `_meta`
    input_paths: list[str] = field(default_factory=list)
    output: Content | None = None
    exit_code: int | None = None
    raw_failed: bool = False
    hunks: list[PatchHunk] = field(default_factory=list)
    input_diffs: list[Diff] = field(default_factory=list)
    meta: dict[str, Any] | None = None
    asked: bool = False  # from a permission request, whose content is added to the known content
    is_patch: bool = False  # from version 2: what is given replaces what is known, without guesses
    cleared: frozenset[str] = frozenset()  # fields that are null in version 2, by their names here
    added: list[ToolContent] = field(default_factory=list)  # appended to the known content
    question_title: str | None = None  # of the permission request in version 2, not of the call
    can_cancel: bool | None = None  # the call can be stopped without stopping the turn


@dataclass(slots=True)
class PlanChanged(Event):
    """A complete plan, which replaces the old plan with the same id. An empty plan clears the old plan."""

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
    """The current mode, reported by the agent or confirmed by its answer to `session/set_mode`."""

    mode: str


@dataclass(slots=True)
class ConfigOptionsChanged(Event):
    """The complete list of config options."""

    options: list[ConfigOption]


@dataclass(slots=True)
class ConfigOptionSet(Event):
    """`session/set_config_option` was answered, but without the required list of options."""

    option_id: str
    value: str | bool


@dataclass(slots=True)
class ModelChanged(Event):
    """`session/set_model` was answered."""

    model: str


@dataclass(slots=True)
class UsageChanged(Event):
    """The usage of the context window, the cost, and all tokens. Values that are None are unchanged."""

    used: int | None = None
    size: int | None = None
    cost: Cost | None = None
    totals: dict[str, int] | None = None  # the tokens of the session so far, by their names in the protocol


@dataclass(slots=True)
class TokensUsed(Event):
    """The token counts of one request to the model. Some agents report them during a turn."""

    tokens: dict[str, int]


@dataclass(slots=True)
class Retrying(Event):
    """The agent repeats a request to its model that has failed. Mistral Vibe reports it."""

    reason: str


@dataclass(slots=True)
class QuotaChanged(Event):
    """The agent reported how much of a limit of the user's plan is used."""

    quota: Quota


@dataclass(slots=True)
class InfoChanged(Event):
    """The session's title, and the time of the session's last change."""

    title: str | None = None
    clear_title: bool = False  # the agent sent null
    updated_at: str | None = None


@dataclass(slots=True)
class AgentNotice(Event):
    """A `notice` update: information for the user, outside of the session's history."""

    level: Level
    text: str
    detail: str | None = None


@dataclass(slots=True)
class CompactionChanged(Event):
    """A `compaction_update`.

    Fields that are None are unchanged. A null summary becomes an empty list, a null error an empty string.
    """

    compaction_id: str
    status: str | None = None
    summary: list[Content] | None = None
    error: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None


@dataclass(slots=True)
class CompactionChunk(Event):
    """A `compaction_summary_chunk`: text, or other content."""

    compaction_id: str
    text: Raw[str] = ""
    content: Content | None = None


@dataclass(slots=True)
class Unknown(Event):
    """A message of an unknown kind."""

    what: str
    raw: Raw[Any]


@dataclass(slots=True)
class RequestRefused(Event):
    """An error with which acp-tui answered a request of the agent."""

    method: str
    error: RpcError
    request_id: RequestId
    about: str = ""  # what the request lacks, as a sentence; empty: the error's message says it


@dataclass(slots=True)
class IgnoredMessage(Event):
    """A valid message that changes nothing, but shows that the agent is alive."""

    what: str


@dataclass(slots=True)
class ProtocolFault(Event):
    """A violation of JSON-RPC: a malformed message, a response without a request, a second response."""

    text: str
    raw: Raw[Any] = None


@dataclass(slots=True)
class Noise(Event):
    """A line that is not JSON, on the agent's standard output."""

    text: str


@dataclass(slots=True)
class OtherSessionUpdate(Event):
    """An event of another session on the same connection."""

    session_id: str
    inner: Event


@dataclass(slots=True)
class SubagentChanged(Event):
    """A `subagent_update` or `state_update`. Both are unstable parts of the protocol.

    Fields that are None are unchanged. A null title, description, cwd or state becomes an empty string.
    """

    session_id: str  # of the subagent; empty in a `state_update`, which the subagent itself sends
    title: str | None = None
    description: str | None = None
    can_cancel: bool | None = None
    cwd: str | None = None
    state: str | None = None
    stop_reason: str | None = None  # if the state is "idle"
    error: RpcError | None = None  # likewise


@dataclass(slots=True)
class InSubagent(Event):
    """An event of a subagent without a session of its own.

    `call_id` is the id of the tool call that started the subagent.
    """

    call_id: str
    inner: Event


@dataclass(slots=True)
class SessionMessageChanged(Event):
    """A `session_message` or a chunk of it. Both are unstable parts of the protocol.

    Fields that are None are unchanged. A null in the protocol becomes an empty string or list.
    """

    message_id: str
    sender: str | None = None  # the id of a session
    recipient: str | None = None  # likewise
    contents: list[Content] | None = None
    is_chunk: bool = False  # the contents are added to the known contents


# --------------------------------------------------------------------------- requests of the agent


@dataclass(slots=True)
class PermissionRequested(Event):
    """`session/request_permission` was received. The previous event contains the tool call of the request."""

    request_id: RequestId
    call_id: str
    options: list[PermissionOption]
    answerable: bool = True  # False for a request without an id
    session_id: str = ""  # "": the conversation's own session; else another, such as a subagent's


@dataclass(slots=True)
class PermissionAnswered(Event):
    """The permission request was answered."""

    request_id: RequestId
    outcome: Literal["selected", "cancelled", "error"]
    option_id: str | None = None  # if the outcome is "selected"


@dataclass(slots=True)
class ElicitationRequested(Event):
    """`elicitation/create` was received."""

    request_id: RequestId
    mode: str
    message: str
    url: str | None = None
    elicitation_id: str | None = None
    schema: dict[str, Any] | None = None
    call_id: str | None = None
    session_id: str = ""  # "": the conversation's own session
    for_method: str = ""  # acp-tui's request to which the question belongs, such as `authenticate`
    raw: Raw[dict[str, Any] | None] = None  # the params, if the mode is unknown


@dataclass(slots=True)
class ElicitationAnswered(Event):
    """The elicitation was answered."""

    request_id: RequestId
    action: Literal["accept", "decline", "cancel", "error"]


@dataclass(slots=True)
class ElicitationCompleted(Event):
    """`elicitation/complete` was received."""

    elicitation_id: str


@dataclass(slots=True)
class RequestWithdrawn(Event):
    """The agent withdrew one of its requests (`$/cancel_request`)."""

    request_id: RequestId


@dataclass(slots=True)
class FileServed(Event):
    """`fs/read_text_file` or `fs/write_text_file` was answered."""

    path: str
    wrote: bool
    error: RpcError | None = None
    request_id: RequestId = None
    line: int | None = None  # the line at which a read starts, 1-based
    content: str = ""  # of a write


@dataclass(slots=True)
class FileBeforeWrite(ClientEvent):
    """The content of a file right before a change by `fs/write_text_file`."""

    request_id: Raw[RequestId]
    old: str | None = None  # None if there was no file
    known: bool = True  # False if the content is not text, or too long to be kept
    line_ends: Raw[list[str]] = field(default_factory=list)  # of the old and the new content; [] if equal


@dataclass(slots=True)
class TerminalCreated(ClientEvent):
    """A terminal was created.

    Either `terminal/create` was answered, or the agent reported its own terminal in `_meta`, or the user ran
    a command. In the last case, the event comes from a client record.
    """

    terminal_id: Raw[str]
    owner: TerminalOwner = "client"
    command: str | None = None
    cwd: str | None = None


@dataclass(slots=True)
class TerminalOutput(ClientEvent):
    """Output of a terminal."""

    terminal_id: Raw[str]
    text: Raw[str]
    skipped: int = 0  # the number of characters before `text` that were not kept


@dataclass(slots=True)
class TerminalExited(ClientEvent):
    """The command of a terminal ended."""

    terminal_id: Raw[str]
    exit_code: int | None = None
    signal: str | None = None


@dataclass(slots=True)
class TerminalCleared(Event):
    """The agent takes back what it said of its own terminal: the output, or only that the command ended."""

    terminal_id: str
    exit_only: bool = False


@dataclass(slots=True)
class TerminalControlChanged(Event):
    """Whether the command of one of the agent's own terminals can be stopped."""

    terminal_id: str
    can_cancel: bool


@dataclass(slots=True)
class TerminalReleased(Event):
    """The agent released a terminal. The terminal's text stays visible."""

    terminal_id: str


# --------------------------------------------------------------------------- actions of acp-tui


@dataclass(slots=True)
class Decided(ClientEvent):
    """A request of the agent was allowed, rejected or cancelled.

    It is answered after this event.
    """

    request_id: Raw[RequestId]
    by: str  # "you" | "rule" | "policy" | "turn" (cancelled) | "covered" (by a permission given before)
    why: str
    allowed: bool | None = None  # None if cancelled
    subject: str | None = None  # as text, such as "run `pytest -q`"
    waited: float = 0.0  # seconds until the user answered
    rule_ids: list[str] = field(default_factory=list)  # of the rules that answered, or that the user made
    reason: str = ""  # what the user wrote to the agent when rejecting


@dataclass(slots=True)
class DiffPlaced(ClientEvent):
    """acp-tui found at which line of the file a diff of a tool call starts."""

    call_id: Raw[str]
    index: int  # of the diff in the call's content
    path: Raw[str]
    line: int  # 1-based


@dataclass(slots=True)
class Noticed(ClientEvent):
    """A notice for the transcript.

    `protocol` also makes a notice from a frame: when the agent does not support version 1 of the protocol.
    A notice with the source "waited" replaces the text of the last notice with the source "waiting".
    """

    level: Level
    text: str
    detail: str | None = None
    source: str = "client"


@dataclass(slots=True)
class WrittenByHand(ClientEvent):
    """The user wrote the message that is sent next."""

    method: str
    request_id: Raw[RequestId] = None  # None for a notification
    faults: list[str] = field(default_factory=list)  # what the schema does not allow; sent nevertheless


@dataclass(slots=True)
class McpCalled(ClientEvent):
    """A call of an MCP tool through acp-tui has ended, or was refused.

    The record is written when the call ends. Long values are shortened before they are recorded.
    """

    server: str
    tool: str
    arguments: Raw[Any] = None
    result: Raw[Any] = None  # the server's result object; None if there is none
    error: str | None = None  # why there is no result, as a sentence
    seconds: float = 0.0  # from the request to the answer, without the wait for a permission
    by: str = "agent"  # who called: "agent" or "you"


@dataclass(slots=True)
class OwnToolCalled(ClientEvent):
    """The agent called a tool of acp-tui's own MCP server."""

    call_id: Raw[str]
    tool: str
    arguments: Raw[Any] = None
    text: str = ""  # what the user is shown: a message, a question, an address
    path: str | None = None  # the file that is shown
    line: int | None = None  # the line in the file, 1-based
    diffs: Raw[list[dict[str, Any]]] = field(default_factory=list)  # with `path`, `old`, `new` and `line`


@dataclass(slots=True)
class OwnToolEnded(ClientEvent):
    """The call of a tool of acp-tui's own MCP server has ended."""

    call_id: Raw[str]
    status: str  # completed | failed | cancelled
    text: str = ""  # what the agent was told, shortened; without the user's answer to a question


@dataclass(slots=True)
class SettingsRestored(ClientEvent):
    """A reopened session has its earlier settings again, except those in `failed`."""

    failed: Raw[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class Queued(ClientEvent):
    """A prompt was queued, or the queued prompt with this id was edited."""

    id: Raw[str]
    text: Raw[str]
    blocks: Raw[list[dict[str, Any]]] = field(default_factory=list)
    first: bool = False  # put at the front


@dataclass(slots=True)
class Unqueued(ClientEvent):
    """A prompt left the queue, because it was sent or removed."""

    id: Raw[str]


@dataclass(slots=True)
class QueuePaused(ClientEvent):
    """The queue was paused or resumed."""

    paused: bool
