"""The state of one conversation.

A `Session` is an ordered list of entries (what the transcript shows) and values such as mode and usage.
Only `reduce` changes it. All texts for display have been made safe by `protocol`, except `raw_*` fields,
`Terminal.output` and fields marked "as sent".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.session.growing_text import GrowingText
from acp_tui.session.terminal_text import TerminalText

if TYPE_CHECKING:
    from acp_tui.session.mcp_tool import McpTool


RequestId = int | str | None
Phase = Literal["connecting", "idle", "loading", "prompting", "dead"]
Level = Literal["info", "warning", "error"]
Dialect = Literal["v1", "0.1.0", "v2"]
"""The version of the protocol that the agent speaks: 1, the 0.1.0 draft, or 2."""
TerminalOwner = Literal["client", "agent", "user"]
"""Who runs a terminal: acp-tui for `terminal/create`, the agent itself, or the user."""
ToolStatus = str
"""The status of a tool call.

The agent sends `pending`, `in_progress`, `completed` or `failed`; acp-tui sets `cancelled` or `unfinished`.
"""

HandStatus = Literal["sent", "answered", "failed", "cancelled", "unanswered"]
"""The state of a message that the user wrote: a cancelled request can still be answered."""

DONE_STATUSES = frozenset({"completed", "failed", "cancelled", "unfinished"})


# --------------------------------------------------------------------------- content


@dataclass(slots=True)
class Annotations:
    """The annotations of a content block."""

    audience: tuple[str, ...] = ()
    priority: float | None = None
    last_modified: str | None = None


@dataclass(slots=True)
class Content:
    """A content block of a message or tool call."""

    kind: str  # text | image | audio | resource_link | resource | any word of the agent
    text: str = ""  # of a text block or an embedded text resource
    coloured: str | None = None  # the text with SGR escapes (see `ansi_text`): to be parsed, never printed
    data: str | None = None  # base64 of an image, a sound or an embedded file
    mime: str | None = None
    uri: str | None = None
    name: str | None = None
    title: str | None = None
    description: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    raw: Any = None  # the block as sent, if its kind is unknown
    of_request: bool = field(default=False, compare=False)  # it came with a permission request: not output

    @property
    def for_assistant_only(self) -> bool:
        """Whether the content is annotated as meant for the assistant only, not for the user."""
        return self.annotations is not None and self.annotations.audience == ("assistant",)


class AnnotatedText(GrowingText):
    """A part of a message's text, with the part's own annotations."""

    __slots__ = ("annotations",)

    def __init__(self, annotations: Annotations) -> None:
        super().__init__()
        self.annotations = annotations

    @property
    def for_assistant_only(self) -> bool:
        """Whether the text is annotated as meant for the assistant only, not for the user."""
        return self.annotations.audience == ("assistant",)


# --------------------------------------------------------------------------- entries


@dataclass(kw_only=True, slots=True)
class Entry:
    """An item of the transcript."""

    id: int  # its index in `Session.entries`
    at: float  # when it started
    turn: int = 0  # number of the prompt it belongs to; 0 before the first
    version: int = 0  # increases with every change, for caches
    stray: bool = False  # came outside a turn, after its turn was cancelled, or before the session was open
    withdrawn: bool = False  # no longer in the agent's context, because of a refusal


@dataclass(kw_only=True, slots=True)
class Message(Entry):
    """Text and other content of one speaker. Adjacent chunks form one message."""

    message_id: str | None = None
    parts: list[GrowingText | Content] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text of the message, without its other content."""
        return text_of(self.parts)


def text_of(parts: list[GrowingText | Content]) -> str:
    """Return all text of a message or summary, without its other content."""
    return "".join(str(part) if isinstance(part, GrowingText) else part.text for part in parts)


@dataclass(kw_only=True, slots=True)
class UserMessage(Message):
    """A message of the user."""

    steering: bool = False  # sent into a running turn, instead of beginning one


@dataclass(kw_only=True, slots=True)
class AgentMessage(Message):
    """A message of the agent."""


@dataclass(kw_only=True, slots=True)
class Thought(Message):
    """A thought of the agent."""

    ended_at: float | None = None  # when the next entry came


@dataclass(slots=True)
class Location:
    """A file that a tool call reads or changes."""

    path: str
    line: int | None = None  # 1-based


@dataclass(slots=True)
class Diff:
    """A change that a tool call makes to one file."""

    path: str
    old: str | None  # None for a new file
    new: str | None  # None for a deleted file
    patch: str | None = None  # a unified diff, if the agent sent that instead of the two texts
    line_ends: tuple[str, str] | None = None  # for `old` and `new`, if the line ends differ: LF, CRLF, mixed
    line: int | None = None  # the first line of `old` in the file, 1-based, if known
    from_input: bool = False  # from a patch in the raw input; shown if the agent sends no diff
    operation: str | None = None  # add | delete | modify | move | copy, if the agent names it (version 2)
    old_path: str | None = None  # of a file that is moved or copied


@dataclass(frozen=True, slots=True)
class PatchHunk:
    """A hunk of a patch.

    The agent sent the patch in addition to a diff; the hunk tells where the diff starts.
    """

    path: str  # "" if the patch does not name the file
    line: int  # its first line in the old file, 1-based
    old: str  # its context lines and removed lines


@dataclass(slots=True)
class TerminalRef:
    """A reference from a tool call to the terminal with the call's output."""

    terminal_id: str
    inferred: bool = False  # the agent did not name the terminal; the call has the same command


ToolContent = Content | Diff | TerminalRef


@dataclass(kw_only=True, slots=True)
class ToolCall(Entry):
    """A tool call with all its updates applied, or a file access without a tool call (see `served`)."""

    call_id: str
    title: str = ""
    name: str | None = None
    kind: str = "other"
    kind_given: bool = False  # the agent sent a kind
    status: ToolStatus = "pending"
    content: list[ToolContent] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    raw_input: Any = None  # as sent
    raw_output: Any = None  # as sent
    command: str | None = None  # from the raw input, as a user would type it
    input_paths: list[str] = field(default_factory=list)  # files named in the raw input
    exit_code: int | None = None  # from the raw output
    raw_failed: bool = False  # the raw output reports a failure
    hunks: list[PatchHunk] = field(default_factory=list)  # from patches in the raw values
    input_diffs: list[Diff] = field(default_factory=list)  # from patches in the raw input
    question_title: str | None = None  # the title in the last permission request, if not the same as `title`
    can_cancel: bool = False  # it can be stopped without stopping the turn
    raw_content: Content | None = None  # the item of `content` that was read from the raw output
    has_result: bool = False  # its result came as content, outside a permission request
    meta: dict[str, Any] = field(default_factory=dict)  # all its `_meta`, merged; as sent
    mcp_tool: McpTool | None = None  # the MCP tool that the call names, if any
    announced: bool = False  # a `tool_call` announced it, not only an update or a permission request
    served: bool = False  # stands for a file that acp-tui read or wrote at the agent's request
    ended_at: float | None = None
    waited: float = 0.0  # seconds that it waited for answers to permission requests

    @property
    def done(self) -> bool:
        """Whether no more updates of the call are expected."""
        return self.status in DONE_STATUSES

    @property
    def permission_title(self) -> str:
        """The title for a permission dialog."""
        return self.question_title or self.title

    @property
    def paths(self) -> list[str]:
        """The paths of the call's locations or, if there are none, the paths in the call's raw input."""
        return list(dict.fromkeys(place.path for place in self.locations)) or self.input_paths

    @property
    def began(self) -> float:
        """The start time plus the time spent waiting for permission, so that durations exclude the wait."""
        return self.at + self.waited


@dataclass(slots=True)
class PlanItem:
    """One step of a plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


@dataclass(kw_only=True, slots=True)
class Plan(Entry):
    """A plan of the agent. Updates in one turn change the same entry; a later turn adds a new entry."""

    plan_id: str | None = None
    items: list[PlanItem] = field(default_factory=list)
    markdown: str | None = None  # instead of items, in unstable variants of the protocol
    uri: str | None = None  # likewise
    removed: bool = False


@dataclass(slots=True)
class PermissionOption:
    """One of the answers that the agent offers in a permission request."""

    id: str
    name: str
    kind: str  # allow_once | allow_always | reject_once | reject_always | any word of the agent


@dataclass(kw_only=True, slots=True)
class Permission(Entry):
    """A permission request and its outcome."""

    request_id: RequestId
    call_id: str  # of its tool call in `Session.tool_calls`; generated if the agent sent none
    options: list[PermissionOption] = field(default_factory=list)
    answerable: bool = True  # False if the request had no id
    session_id: str = ""  # of another session, such as a subagent's, made safe to display
    subagent: str = ""  # the key in `Session.subagents` of the subagent that asks, if one does
    outcome: Literal["selected", "cancelled", "error"] | None = None  # None while it is pending
    option: PermissionOption | None = None  # the selected one
    by: str | None = None  # who answered: "you", "rule", "policy", "turn" …
    why: str | None = None  # a sentence that names the rule or policy
    rule_ids: list[str] = field(default_factory=list)  # of the rules that decided, or that the answer created
    reason: str = ""  # what the user wrote to the agent when rejecting
    subject: str = ""  # what was decided on, such as "run `ls`"; the call may have changed since


@dataclass(kw_only=True, slots=True)
class Elicitation(Entry):
    """A question of the agent to the user. Of the answer, only the outcome is stored."""

    request_id: RequestId
    mode: str  # form | url | any word of the agent
    message: str = ""
    url: str | None = None  # as sent
    elicitation_id: str | None = None
    schema: dict[str, Any] | None = None  # as sent
    call_id: str | None = None  # of the tool call that the question belongs to
    session_id: str = ""  # of another session than the conversation's own, such as a subagent's
    subagent: str = ""  # as in `Permission`
    for_method: str = ""  # of acp-tui's request that the question belongs to, such as `authenticate`
    raw: dict[str, Any] | None = None  # the params as sent, if the mode is unknown
    outcome: Literal["accept", "decline", "cancel", "error"] | None = None
    completed: bool = False  # the agent reported that the web form was completed


@dataclass(kw_only=True, slots=True)
class Terminal(Entry):
    """A command with its output."""

    terminal_id: str
    owner: TerminalOwner = "client"
    command: str | None = None
    cwd: str | None = None
    output: TerminalText = field(default_factory=TerminalText)  # raw: only for the terminal emulator
    exit_code: int | None = None
    signal: str | None = None
    ended_at: float | None = None
    released: bool = False
    can_cancel: bool = False  # the agent can stop its command without stopping the turn


@dataclass(kw_only=True, slots=True)
class OwnToolCall(Entry):
    """A call of one of the tools that acp-tui itself offers to agents, shown like an agent's tool call."""

    call: ToolCall  # not in `Session.tool_calls`


@dataclass(kw_only=True, slots=True)
class Notice(Entry):
    """A message of acp-tui or the agent about an event."""

    level: Level = "info"
    text: str = ""
    detail: str | None = None  # shown when the entry is unfolded
    source: str = "client"  # "client" | "agent" | "rule" | "policy" | "protocol"
    rule_ids: list[str] = field(default_factory=list)  # of the rules that the message is about


@dataclass(kw_only=True, slots=True)
class HandMessage(Notice):
    """A request or notification that the user wrote, and the agent's answer."""

    method: str
    request_id: RequestId = None  # None for a notification
    raw_params: Any = None  # as sent
    faults: list[str] = field(default_factory=list)  # sentences: what the schema does not allow in it
    status: HandStatus = "sent"
    raw_result: Any = None  # as received
    error: RpcError | None = None
    ended_at: float | None = None  # when it was answered


@dataclass(kw_only=True, slots=True)
class TurnEnd(Entry):
    """The end of a turn."""

    stop_reason: str | None = None  # the agent's word; None if the turn failed
    error: RpcError | None = None
    empty: bool = False  # the agent sent nothing
    unfinished: int = 0  # calls that the agent left unfinished without saying anything after them


@dataclass(kw_only=True, slots=True)
class Compaction(Entry):
    """A compaction of the agent's context."""

    compaction_id: str
    status: str = "in_progress"
    parts: list[GrowingText | Content] = field(default_factory=list)  # of the summary
    error: str | None = None
    tokens_before: int | None = None  # tokens in the context, if the agent says so
    tokens_after: int | None = None

    @property
    def text(self) -> str:
        """All text of the summary, without its other content."""
        return text_of(self.parts)


@dataclass(kw_only=True, slots=True)
class SessionMessage(Message):
    """A message that the session sent to another session, such as a subagent's, or received from it."""

    peer: str = ""  # the title of the other session
    peer_id: str = ""  # its id, as sent
    received: bool = False  # the other session sent it


@dataclass(kw_only=True, slots=True)
class Subagent(Entry):
    """Another agent that the agent started, with a transcript of its own.

    The agent reports the subagent as a separate session, or in updates that name the tool call that
    started the subagent.
    """

    key: str  # its key in `Session.subagents`
    session: Session  # its transcript and state
    session_id: str = ""  # as sent; empty if it is known only by its tool call
    call: ToolCall | None = None  # the tool call that started it; None if it was reported as a session
    parent: str = ""  # the key of the subagent that started it; empty if that is the agent itself
    title: str = ""
    description: str = ""
    can_cancel: bool = False  # it can be stopped without stopping the agent
    state: str = ""  # running | requires_action | idle | unknown | ended | any word of the agent; "": none
    stop_reason: str | None = None  # why it became idle, in the agent's word
    error: str | None = None  # the error's message, if it failed
    began_at: float = 0.0  # when it last started to work
    ended_at: float | None = None  # when it became idle
    message_count: int = 0
    call_count: int = 0
    size: int = 0  # the approximate number of characters in its transcript
    is_truncated: bool = False  # its transcript is too long; later updates are not kept

    @property
    def is_running(self) -> bool:
        """Whether the subagent is working or waiting for the user."""
        if self.call is not None:
            return not self.call.done or bool(self.session.reducer_state.open_calls)
        return self.state in ("running", "requires_action")

    @property
    def is_asking(self) -> bool:
        """Whether the subagent is waiting for an answer from the user."""
        waiting = self.session.permissions or self.session.elicitations
        return self.state == "requires_action" or bool(waiting)

    @property
    def name(self) -> str:
        """The first of these that is not empty: title, tool call's title, description, "Subagent"."""
        return self.title or (self.call.title if self.call else "") or self.description or "Subagent"


@dataclass(kw_only=True, slots=True)
class Unrecognised(Entry):
    """A message of an unknown kind, shown as raw JSON."""

    what: str  # such as "session update 'foo'"
    raw: Any = None  # as sent
    count: int = 1  # of messages of this kind that came one after the other
    repeats: list[Any] = field(default_factory=list)  # the further ones as sent, up to a limit


# --------------------------------------------------------------------------- facts


@dataclass(slots=True)
class RpcError:
    """Why a request or a turn failed: the agent's JSON-RPC error, or an error that acp-tui noticed."""

    code: int
    message: str
    detail: str | None = None  # from `data`, or from errors that do not follow the protocol
    raw: Any = None  # as sent
    auth_required: bool = False
    auth_methods: list[AuthMethod] = field(default_factory=list)  # if the error lists them


@dataclass(slots=True)
class SuggestedCommand:
    """A command for signing in that an agent suggests in `_meta["terminal-auth"]`, an older extension."""

    command: str
    args: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    label: str | None = None


@dataclass(slots=True)
class AuthMethod:
    """A way to sign in that the agent offers."""

    id: str
    name: str
    description: str | None = None
    kind: str = "agent"  # agent | terminal | env_var (obsolete: shown, never sent) | any word of the agent
    args: list[str] = field(default_factory=list)  # terminal: added to the agent's own command
    env: dict[str, str] = field(default_factory=dict)
    suggested: SuggestedCommand | None = None
    vars: list[str] = field(default_factory=list)  # the variables that an env_var method needs

    @property
    def way(self) -> Literal["agent", "terminal", "suggested", "unknown"]:
        """How the user signs in with this method.

        "agent": by `authenticate`; "terminal": with the agent's program in a terminal; "suggested": with the
        command in `suggested`. Only the ids of "agent" and "suggested" methods may be sent to `authenticate`.
        """
        if self.kind == "terminal":
            return "terminal"
        if self.kind != "agent":
            return "unknown"
        return "agent" if self.suggested is None else "suggested"


@dataclass(slots=True)
class Agent:
    """The agent's name and capabilities, from `initialize`."""

    name: str | None = None
    title: str | None = None
    version: str | None = None
    protocol_version: int | str | None = None
    capabilities: dict[str, Any] = field(default_factory=dict)  # as sent; to be read with `can`
    auth_methods: list[AuthMethod] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def can(self, *path: str) -> bool:
        """Return True if a capability is advertised, as in `can("sessionCapabilities", "fork")`.

        The names are those of version 1. Any object counts as advertised, even an empty one; `false` and null
        do not.
        """
        if self.protocol_version == 2:
            if path == ("auth", "logout"):
                return bool(self.auth_methods)
            path = _names_of_version_2(path)
        found: Any = self.capabilities
        for name in path:
            if not isinstance(found, dict):
                return False
            found = found.get(name)
        return found is not None and found is not False

    @property
    def custom_capabilities(self) -> dict[str, Any]:
        """What is advertised in `_meta`, by name: of the answer to `initialize`, and of its capabilities."""
        found = dict(self.meta)
        groups = [("", self.capabilities)]
        for path, group in groups:  # grows
            for name, inner in group.items():
                if name == "_meta" and isinstance(inner, dict):
                    found |= {f"{path}{key}": value for key, value in inner.items()}
                elif name != "_meta" and isinstance(inner, dict):
                    groups.append((f"{path}{name}.", inner))
        return {name: value for name, value in found.items() if value is not None and value is not False}

    @property
    def can_resume(self) -> bool:
        """Whether the agent can resume earlier sessions."""
        return self.can("sessionCapabilities", "resume") or self.can("loadSession")

    @property
    def can_steer(self) -> bool:
        """Whether the agent advertises in `_meta` that it accepts messages during a turn."""
        steering = self.meta.get("steering")
        return isinstance(steering, dict) and steering.get("supported") is True


_VERSION_2_GROUPS = {
    "loadSession": ("session",),
    "sessionCapabilities": ("session",),
    "promptCapabilities": ("session", "prompt"),
    "mcpCapabilities": ("session", "mcp"),
}
_VERSION_2_BASELINE = ("list", "resume", "close")
"""What every agent with sessions supports in version 2."""


def _names_of_version_2(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return where version 2 of the protocol has a capability of version 1."""
    group, *rest = path
    if group == "sessionCapabilities" and rest and rest[0] in _VERSION_2_BASELINE:
        rest = []
    return (*_VERSION_2_GROUPS.get(group, (group,)), *rest)


@dataclass(slots=True)
class Mode:
    """A mode of the agent."""

    id: str
    name: str
    description: str | None = None


@dataclass(slots=True)
class Choice:
    """A value of a config option, or a model, that the user can choose."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


@dataclass(slots=True)
class ConfigOption:
    """A setting that the agent offers. Settings of an unknown kind are read-only."""

    id: str
    name: str
    kind: str  # select | boolean | any word of the agent
    current: str | bool | None = None
    description: str | None = None
    category: str | None = None
    choices: list[Choice] = field(default_factory=list)


@dataclass(slots=True)
class Setting:
    """The value of one setting (the mode, the model or a config option), with the names to display."""

    name: str
    value: str | bool
    value_name: str


@dataclass(slots=True)
class SlashCommand:
    """A slash command of the agent."""

    name: str
    description: str = ""
    hint: str | None = None


@dataclass(slots=True)
class Cost:
    """An amount of money that the session or one of its turns has cost."""

    amount: float
    currency: str


@dataclass(slots=True)
class Usage:
    """The used part of the context window, the cost so far, and the tokens of the last turn with any."""

    used: int | None = None  # tokens in the context window
    size: int | None = None  # tokens that fit into it
    cost: Cost | None = None
    tokens: dict[str, int] = field(default_factory=dict)  # of the last turn that reported any
    totals: dict[str, int] = field(default_factory=dict)  # of the session, if the agent reports them


@dataclass(slots=True)
class TurnUsage:
    """What one turn used, as far as the agent reported it."""

    turn: int
    at: float  # when it began
    tokens: dict[str, int] = field(default_factory=dict)  # by their names in the protocol
    models: dict[str, dict[str, int]] = field(default_factory=dict)  # the tokens of each model
    used: int | None = None  # tokens in the context window at the end of the turn
    size: int | None = None
    cost: Cost | None = None  # spent in this turn
    cost_before: float | None = None  # spent on the session before this turn; None if unknown
    totals_before: dict[str, int] = field(default_factory=dict)  # the session's tokens before this turn


@dataclass(slots=True)
class Quota:
    """A limit of the user's plan, such as a limit for five hours, and how much of the limit is used."""

    name: str
    status: str | None = None  # the agent's word, such as "allowed" or "rejected"
    share: float | None = None  # from 0 to 1
    resets_at: float | None = None  # seconds since the epoch


@dataclass(slots=True)
class McpCall:
    """A finished call that went through acp-tui to an MCP tool.

    In the arguments and the result, secrets are masked and long values are shortened. The rest is as sent.
    """

    at: float  # when it ended
    server: str
    tool: str
    raw_arguments: Any = None
    raw_result: Any = None  # the server's result object; None if there is none
    error: str | None = None  # why there is no result, as a sentence
    seconds: float = 0.0
    by: str = "agent"  # who called: "agent" or "you"

    @property
    def failed(self) -> bool:
        """Whether there is no result, or the result reports an error of the tool."""
        result = self.raw_result
        return self.error is not None or (isinstance(result, dict) and result.get("isError") is True)


@dataclass(slots=True)
class QueuedPrompt:
    """A prompt in the queue."""

    id: str
    text: str
    blocks: list[dict[str, Any]] = field(default_factory=list)  # the content to send, if it is not only text
    paused: bool = False  # it was in the queue when the queue was paused


@dataclass(slots=True)
class Process:
    """The agent's process: its command, and how it ended."""

    command: list[str] = field(default_factory=list)
    cwd: str = ""
    pid: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    outlived_input: bool = False  # it did not exit when acp-tui closed its stdin
    stderr_tail: list[str] = field(default_factory=list)


# --------------------------------------------------------------------------- the reducer's own state


@dataclass(slots=True)
class FileBefore:
    """The content of a file right before the agent wrote to the file; see `events.FileBeforeWrite`."""

    old: str | None
    known: bool
    line_ends: list[str]


@dataclass(slots=True)
class Replay:
    """A history that the agent replays or may still replay (see `reduce.history`)."""

    into: Session | None  # collects the replay; None if it goes into the session itself, which was empty
    other: bool  # the replay belongs to another session than the entries so far
    is_load: bool  # requested by `session/load`, which must replay; `session/resume` should not
    expected: bool  # `session/load` is not answered yet, so all messages are history
    held: list[str]  # the prompts in the session when the replay was requested
    began: bool = False
    unchecked: bool = False  # a prompt was replayed since the last comparison with `held`
    last_at: float = 0.0  # when the last event of the replay came
    scanned: int = 0  # entries of `into` that were searched for prompts
    prompts: int = 0  # the number of prompts among them
    matched: int = 0  # the number of prompts in `held` up to the last one that was replayed
    first_new: int | None = None  # the index in `into` of the first prompt after those in `held`
    changes: list[Any] = field(default_factory=list)  # each a `Change`, by the last event for `into`


@dataclass(slots=True)
class ForeignSession:
    """A session that sent updates but was not announced as a subagent's."""

    session: Session
    notice: Notice  # tells the user about it
    size: int = 0  # as `Subagent.size`


@dataclass(slots=True)
class ReducerState:
    """What the reducer remembers from one event to the next. Nothing else uses it."""

    message: Message | None = None  # the one that the next chunk of its kind extends
    split: tuple[AgentMessage, int] | None = None  # it ends with its paragraph; the failed attempts to end it
    by_message_id: dict[tuple[type[Message], str], Message] = field(default_factory=dict)  # of this turn
    turn_began: int = 0  # index of the turn's first entry
    prompts: int = 0  # unanswered prompts; more than one only in logs of other clients
    unaccepted: int = 0  # those of them that the agent has not begun (version 2)
    open_calls: dict[str, ToolCall] = field(default_factory=dict)
    echo: str = ""  # the text of the prompt, which the agent may repeat
    echo_at: int | None = None  # characters of `echo` repeated so far; None if no echo is expected
    opening: str | None = None  # the kind of an unanswered opening request: `new`, `load` …
    phase_before: Phase = "connecting"  # the phase to return to if that request fails
    is_new: bool = False  # the session was opened by `session/new`, so it has cost nothing yet
    resuming: bool = False  # the session is being reopened by another run of acp-tui
    restoring: bool = False  # the session was reopened, and `settings` has the values from before
    replay: Replay | None = None  # until the first prompt after a load or resume
    waiting: Notice | None = None  # the last notice with the source "waiting"
    before_write: dict[RequestId, FileBefore] = field(default_factory=dict)
    # For each write that a tool call shows: the entry id of the call, and the path.
    written: set[tuple[int, str]] = field(default_factory=set)
    repeated: dict[str, tuple[Notice, int]] = field(default_factory=dict)  # counted notices of this turn
    foreign: dict[str, ForeignSession] = field(default_factory=dict)  # other sessions, by id
    call_owners: dict[str, Subagent] = field(default_factory=dict)  # of calls that subagents made
    session_messages: dict[str, SessionMessage] = field(default_factory=dict)
    hand_messages: dict[RequestId, HandMessage] = field(default_factory=dict)  # unanswered requests
    rejected: set[RequestId] = field(default_factory=set)  # requests whose rejection is already shown
    elicitations: dict[str, Elicitation] = field(default_factory=dict)  # by the agent's id
    compactions: dict[str, Compaction] = field(default_factory=dict)
    plans: dict[str | None, Plan] = field(default_factory=dict)  # the latest of each id


# --------------------------------------------------------------------------- the session


@dataclass(slots=True)
class Session:
    """The state of one conversation, built from its records."""

    entries: list[Entry] = field(default_factory=list)

    # identity
    session_id: str | None = None
    cwd: str | None = None
    directories: list[str] = field(default_factory=list)
    mcp_servers: list[str] = field(
        default_factory=list
    )  # the names of the MCP servers that the agent was sent
    agent: Agent | None = None
    process: Process | None = None
    dialect: Dialect = "v1"
    title: str | None = None
    updated_at: str | None = None

    # activity
    phase: Phase = "connecting"
    requires_action: bool = False  # the agent says that it waits for the user (version 2)
    background_calls: list[str] = field(default_factory=list)  # ids of calls that go on without a turn
    background_terminals: list[str] = field(default_factory=list)  # likewise, of the agent's terminals
    cancelling: bool = False
    turn: int = 0
    forgotten: int = 0  # number of entries at the beginning that the agent does not remember
    replayed: int = 0  # the last turn of a loaded history, which lacks permission requests
    replaying: bool = False  # the last event belongs to a history that the agent replays
    history_complete: bool = True  # False if more of it may follow the answer to `session/load`
    turn_started: float | None = None
    heard_at: float | None = None  # when the last event came from the agent
    heard: str | None = None  # … and what it was, for the status line
    retrying: str | None = None  # why the agent repeats a request to its model; None once it goes on
    background_at: float | None = None  # when the agent last worked without a turn, after the first turn
    auth_required: bool = False
    stop_reason: str | None = None  # of the last turn; None if it failed
    last_error: RpcError | None = None

    # settings and other facts reported by the agent
    modes: list[Mode] = field(default_factory=list)
    mode: str | None = None
    config_options: list[ConfigOption] = field(default_factory=list)
    models: list[Choice] = field(default_factory=list)  # only if `session/set_model` is offered
    model: str | None = None
    settings: dict[str, Setting] = field(default_factory=dict)  # confirmed values, kept across a restart
    commands: list[SlashCommand] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    turn_usages: list[TurnUsage] = field(default_factory=list)  # of the turns since the session was opened
    quotas: dict[str, Quota] = field(default_factory=dict)  # by name
    plan: Plan | None = None  # the current one
    mcp_calls: list[McpCall] = field(default_factory=list)  # the last ones; see `facts.MAX_MCP_CALLS`
    queue: list[QueuedPrompt] = field(default_factory=list)
    queue_paused: bool = False

    # entries by the agent's ids
    tool_calls: dict[str, ToolCall] = field(default_factory=dict)
    terminals: dict[str, Terminal] = field(default_factory=dict)
    terminal_calls: dict[str, ToolCall] = field(default_factory=dict)  # the call that shows each terminal
    own_tool_calls: dict[str, OwnToolCall] = field(default_factory=dict)  # the running ones, by acp-tui's id
    subagents: dict[str, Subagent] = field(default_factory=dict)  # also those that subagents started
    permissions: dict[RequestId, Permission] = field(default_factory=dict)  # pending
    elicitations: dict[RequestId, Elicitation] = field(default_factory=dict)  # pending

    reducer_state: ReducerState = field(default_factory=ReducerState, repr=False, compare=False)

    @property
    def working(self) -> bool:
        """Whether a turn is running."""
        return self.phase == "prompting"

    @property
    def prompts(self) -> list[UserMessage]:
        """The user's messages that began a turn."""
        messages = (entry for entry in self.entries if isinstance(entry, UserMessage))
        return [message for message in messages if not message.steering]

    @property
    def prompts_since_forgotten(self) -> list[UserMessage]:
        """The prompts after the first `forgotten` entries, even if a refusal withdrew them."""
        return [prompt for prompt in self.prompts if prompt.id >= self.forgotten]

    @property
    def mode_option(self) -> ConfigOption | None:
        """The config option for the mode, if any. `modes` and `mode` are taken from the option."""
        options = (option for option in self.config_options if option.category == "mode")
        return next((option for option in options if option.kind == "select"), None)

    @property
    def model_option(self) -> ConfigOption | None:
        """The config option for the model, if any: Cline has its provider in the same category."""
        options = [option for option in self.config_options if option.category == "model"]
        return next((option for option in options if option.id == "model"), options[0] if options else None)

    @property
    def active_locations(self) -> list[Location]:
        """The locations of unfinished tool calls."""
        return [location for call in self.reducer_state.open_calls.values() for location in call.locations]
