"""The state of one conversation.

A `Session` is an ordered list of entries (what the transcript shows) and facts such as mode and usage.
Only `reduce` changes it. All texts that may be displayed have been made safe by `protocol`
before they come here, except `raw_*` fields and `Terminal.output`, which say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from acp_tui.session.text import GrowingText, TerminalText

RequestId = int | str | None
Phase = Literal["connecting", "idle", "loading", "prompting", "dead"]
Level = Literal["info", "warning", "error"]
TerminalOwner = Literal["client", "agent", "user"]
"""Of a terminal: made by `terminal/create`, run by the agent itself, or a command of the user's own."""
ToolStatus = str
"""`pending`, `in_progress`, `completed`, `failed`; ours `cancelled`, `unfinished`; or what the agent said."""

DONE_STATUSES = frozenset({"completed", "failed", "cancelled", "unfinished"})


# --------------------------------------------------------------------------- content


@dataclass(slots=True)
class Annotations:
    """What the sender says about a piece of content."""

    audience: tuple[str, ...] = ()
    priority: float | None = None
    last_modified: str | None = None


@dataclass(slots=True)
class Content:
    """One content block. `kind` is the protocol's word, also when we do not know it."""

    kind: str  # text | image | audio | resource_link | resource | what the agent said
    text: str = ""  # a text block's text, or that of an embedded text resource
    coloured: str | None = (
        None  # the text with its SGR escapes (`session.colours`): to be parsed, never printed
    )
    data: str | None = None  # base64 of an image, a sound or an embedded blob
    mime: str | None = None
    uri: str | None = None
    name: str | None = None
    title: str | None = None
    description: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    raw: Any = None  # the block as sent, only for kinds we do not know

    @property
    def for_assistant_only(self) -> bool:
        """True if the sender marked it as not meant for the user."""
        return self.annotations is not None and self.annotations.audience == ("assistant",)


class AnnotatedText(GrowingText):
    """A stretch of a message's text with annotations of its own."""

    __slots__ = ("annotations",)

    def __init__(self, annotations: Annotations) -> None:
        super().__init__()
        self.annotations = annotations

    @property
    def for_assistant_only(self) -> bool:
        """True if the sender marked it as not meant for the user."""
        return self.annotations.audience == ("assistant",)


# --------------------------------------------------------------------------- entries


@dataclass(kw_only=True, slots=True)
class Entry:
    """One thing in the transcript."""

    id: int  # stable; also its position in the order of arrival
    at: float  # when it began
    turn: int = 0  # number of the prompt it belongs to; 0 before the first
    version: int = 0  # grows with every change: caches compare it
    stray: bool = False  # came out of phase (after the turn, before the session, …)
    withdrawn: bool = False  # a refusal took it out of the agent's context


@dataclass(kw_only=True, slots=True)
class Message(Entry):
    """Text and other content of one speaker; adjacent chunks are one message."""

    message_id: str | None = None
    parts: list[GrowingText | Content] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text of the message, without its other content."""
        return "".join(str(part) if isinstance(part, GrowingText) else part.text for part in self.parts)


@dataclass(kw_only=True, slots=True)
class UserMessage(Message):
    """A message of the user."""


@dataclass(kw_only=True, slots=True)
class AgentMessage(Message):
    """A message of the agent."""


@dataclass(kw_only=True, slots=True)
class Thought(Message):
    """A thought of the agent."""

    ended_at: float | None = None  # when something else followed


@dataclass(slots=True)
class Location:
    """A file the agent touches; lines are 1-based."""

    path: str
    line: int | None = None


@dataclass(slots=True)
class Diff:
    """One file changed by a tool call."""

    path: str
    old: str | None  # None: a new file
    new: str | None  # None: a deleted file
    patch: str | None = None  # when the agent gave unified diff text instead of two versions
    line_ends: tuple[str, str] | None = None  # of old and new, where they are not the same: LF, CRLF, mixed
    line: int | None = None  # where `old` begins in the file, 1-based; None: not known


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk of a patch that came beside a diff."""

    path: str  # "" when the patch does not say
    line: int  # where it begins in the old file, 1-based
    old: str  # its context and removed lines


@dataclass(slots=True)
class TerminalRef:
    """A reference from a tool call to the terminal that shows its output."""

    terminal_id: str


ToolContent = Content | Diff | TerminalRef


@dataclass(kw_only=True, slots=True)
class ToolCall(Entry):
    """One tool call with all its updates applied."""

    call_id: str
    title: str = ""
    name: str | None = None
    kind: str = "other"
    kind_given: bool = False  # False: the agent never said
    status: ToolStatus = "pending"
    content: list[ToolContent] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    raw_input: Any = None  # as sent: not safe to display without `visible`
    raw_output: Any = None  # likewise
    command: str | None = None  # of the raw input, as a user would type it
    input_paths: list[str] = field(default_factory=list)  # the files that the raw input names
    exit_code: int | None = None  # of the raw output
    raw_failed: bool = False  # the raw output tells of a failure, whatever the status says
    hunks: list[Hunk] = field(default_factory=list)  # of the patches in the raw values
    question_title: str | None = None  # of its last permission request, where that is not `title`
    raw_content: Content | None = None  # the part of `content` that is read from the raw output
    has_result: bool = False  # text has come as content, outside a permission request
    meta: dict[str, Any] = field(default_factory=dict)  # all `_meta` seen, merged; as sent
    announced: bool = False  # False: only updates or a permission request ever named it
    served: bool = False  # no call of the agent's: a file that acp-tui read or wrote for it
    ended_at: float | None = None
    waited: float = 0.0  # seconds of its time that passed before its permission requests were answered

    @property
    def done(self) -> bool:
        """True if no more updates are expected."""
        return self.status in DONE_STATUSES

    @property
    def permission_title(self) -> str:
        """The title to show in a permission question."""
        return self.question_title or self.title

    @property
    def paths(self) -> list[str]:
        """Its locations, or the files named in its raw input if it has none."""
        return list(dict.fromkeys(place.path for place in self.locations)) or self.input_paths

    @property
    def began(self) -> float:
        """Start time for its duration: moved by the time spent waiting for answers."""
        return self.at + self.waited


@dataclass(slots=True)
class PlanItem:
    """One step of a plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


@dataclass(kw_only=True, slots=True)
class Plan(Entry):
    """A plan as it was at one point; the current one is also `Session.plan`."""

    plan_id: str | None = None
    items: list[PlanItem] = field(default_factory=list)
    markdown: str | None = None  # the unstable plan variants
    uri: str | None = None
    removed: bool = False


@dataclass(slots=True)
class PermissionOption:
    """One answer that the agent offers."""

    id: str
    name: str
    kind: str  # allow_once | allow_always | reject_once | reject_always | what the agent said


@dataclass(kw_only=True, slots=True)
class Permission(Entry):
    """A permission request and its outcome."""

    request_id: RequestId
    call_id: str  # its tool call is `Session.tool_calls[call_id]`; made up when the agent named none
    options: list[PermissionOption] = field(default_factory=list)
    answerable: bool = True  # False: the request had no id
    outcome: Literal["selected", "cancelled", "error"] | None = None  # None: pending
    option: PermissionOption | None = None
    by: str | None = None  # who answered: "you", "rule", "policy", "turn" …
    why: str | None = None  # one sentence naming the rule or policy


@dataclass(kw_only=True, slots=True)
class Elicitation(Entry):
    """Questions of the agent to the user. Answers are never kept."""

    request_id: RequestId
    mode: str  # form | url | what the agent said
    message: str = ""
    url: str | None = None  # as sent
    elicitation_id: str | None = None
    schema: dict[str, Any] | None = None  # as sent
    outcome: Literal["accept", "decline", "cancel", "error"] | None = None
    completed: bool = False  # the agent said that the page was finished


@dataclass(kw_only=True, slots=True)
class Terminal(Entry):
    """A command with its output."""

    terminal_id: str
    owner: TerminalOwner = "client"
    command: str | None = None
    cwd: str | None = None
    output: TerminalText = field(default_factory=TerminalText)  # raw: only for a line model
    exit_code: int | None = None
    signal: str | None = None
    ended_at: float | None = None
    released: bool = False


@dataclass(kw_only=True, slots=True)
class Notice(Entry):
    """One line of ours or of the agent about something that happened."""

    level: Level = "info"
    text: str = ""
    detail: str | None = None  # the rest, on a key
    source: str = "client"  # "client" | "agent" | "rule" | "policy" | "protocol"


@dataclass(kw_only=True, slots=True)
class TurnEnd(Entry):
    """The end of a turn, in the agent's word or as an error."""

    stop_reason: str | None = None  # None: it failed
    error: RpcError | None = None
    empty: bool = False  # nothing came back at all


@dataclass(kw_only=True, slots=True)
class Compaction(Entry):
    """A compaction of the agent's context."""

    compaction_id: str
    status: str = "in_progress"
    summary: GrowingText = field(default_factory=GrowingText)
    error: str | None = None


@dataclass(kw_only=True, slots=True)
class Unrecognised(Entry):
    """A message of an unknown kind, shown as raw JSON."""

    what: str  # e.g. "session update 'foo'"
    raw: Any = None  # as sent


# --------------------------------------------------------------------------- facts


@dataclass(slots=True)
class RpcError:
    """A JSON-RPC error: its most readable text, and the whole of it."""

    code: int
    message: str
    detail: str | None = None  # what `data` and odd shapes said beyond the message
    raw: Any = None  # as sent
    auth_required: bool = False
    auth_methods: list[AuthMethod] = field(default_factory=list)  # when the error itself named them


@dataclass(slots=True)
class AuthMethod:
    """One way to sign in."""

    id: str
    name: str
    description: str | None = None
    kind: str = "agent"  # agent | terminal | env_var (removed; shown, never sent) | what the agent said
    args: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    command: str | None = None  # only from `_meta["terminal-auth"]`
    label: str | None = None
    vars: list[str] = field(default_factory=list)  # env_var: the names it wants


@dataclass(slots=True)
class Agent:
    """The agent's name and capabilities, from `initialize`."""

    name: str | None = None
    title: str | None = None
    version: str | None = None
    protocol_version: int | str | None = None
    capabilities: dict[str, Any] = field(default_factory=dict)  # as sent; ask through `can`
    auth_methods: list[AuthMethod] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def can(self, *path: str) -> bool:
        """Is this capability advertised? `can("sessionCapabilities", "fork")`, `can("loadSession")`.

        An object counts as yes, also when it is empty; `false` and null as no.
        """
        found: Any = self.capabilities
        for name in path:
            if not isinstance(found, dict):
                return False
            found = found.get(name)
        return found is not None and found is not False

    @property
    def can_resume(self) -> bool:
        """True if its sessions can be resumed later."""
        return self.can("sessionCapabilities", "resume") or self.can("loadSession")


@dataclass(slots=True)
class Mode:
    """One of the agent's modes."""

    id: str
    name: str
    description: str | None = None


@dataclass(slots=True)
class Choice:
    """One value of a config option, or one model."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


@dataclass(slots=True)
class ConfigOption:
    """One setting the agent offers. Unknown types are kept, and cannot be set."""

    id: str
    name: str
    kind: str  # select | boolean | what the agent said
    current: str | bool | None = None
    description: str | None = None
    category: str | None = None
    choices: list[Choice] = field(default_factory=list)


@dataclass(slots=True)
class Setting:
    """The value of a mode, model or config option, with the names to show for it."""

    name: str
    value: str | bool
    value_name: str


@dataclass(slots=True)
class SlashCommand:
    """One slash command of the agent."""

    name: str
    description: str = ""
    hint: str | None = None


@dataclass(slots=True)
class Cost:
    """Money spent on the session so far."""

    amount: float
    currency: str


@dataclass(slots=True)
class Usage:
    """The context window, the cost, and the tokens of the last turn that reported them."""

    used: int | None = None
    size: int | None = None
    cost: Cost | None = None
    tokens: dict[str, int] = field(default_factory=dict)  # of the last prompt answer, the protocol's names


@dataclass(slots=True)
class QueuedPrompt:
    """A prompt that waits for the agent."""

    id: str
    text: str
    blocks: list[dict[str, Any]] = field(default_factory=list)  # what will be sent, when it is more than text


@dataclass(slots=True)
class Process:
    """The agent's process."""

    command: list[str] = field(default_factory=list)
    cwd: str = ""
    pid: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    stderr_tail: list[str] = field(default_factory=list)


# --------------------------------------------------------------------------- the reducer's own state


@dataclass(slots=True)
class FileBefore:
    """What a file held right before the agent wrote to it."""

    old: str | None  # None: there was no file
    known: bool  # False: not text, or too long to be kept
    line_ends: list[str]  # of old and new, if they differ


@dataclass(slots=True)
class Replay:
    """A history that the agent replays or may still replay (see `reduce.history`)."""

    into: Session | None  # collects the replay; None: it goes into our session, which was empty
    other: bool  # it is the history of another session than ours
    expected: bool  # `session/load` is not answered yet: all messages are history
    held: list[str]  # the prompts our session held when the replay was requested
    began: bool = False
    unchecked: bool = False  # a prompt was replayed since the last comparison with ours
    last_at: float = 0.0  # when the last piece came


@dataclass(slots=True)
class ReducerState:
    """What `reduce` remembers from one event to the next. Only the reducer writes it."""

    message: Message | None = None  # the one that grows: nothing of another kind came since
    by_message_id: dict[tuple[type[Message], str], Message] = field(default_factory=dict)  # of this turn
    turn_began: int = 0  # index of the turn's first entry
    prompts: int = 0  # sent and not answered; more than one only in logs of other clients
    open_calls: dict[str, ToolCall] = field(default_factory=dict)
    echo: str = ""  # the prompt's text, which the agent may repeat
    echo_at: int | None = None  # how much of it has been repeated; None: no echo is expected
    opening: str | None = None  # `new`, `load` … until it is answered
    phase_before: Phase = "connecting"  # … and the phase to return to if it fails
    restoring: bool = False  # the session was reopened: `settings` still holds the earlier values
    replay: Replay | None = None  # until the first prompt after a load or resume
    waiting: Notice | None = None  # the line that says what is being waited for
    before_write: dict[RequestId, FileBefore] = field(default_factory=dict)
    written: set[tuple[int, str]] = field(default_factory=set)  # (call, path) whose write the call shows
    repeated: dict[str, tuple[Notice, int]] = field(default_factory=dict)  # of this turn, with their counts
    foreign: set[str] = field(default_factory=set)  # other sessions that were already reported
    rejected: set[RequestId] = field(default_factory=set)  # requests whose rejection is already shown
    elicitations: dict[str, Elicitation] = field(default_factory=dict)  # by the agent's id
    compactions: dict[str, Compaction] = field(default_factory=dict)
    plans: dict[str | None, Plan] = field(default_factory=dict)  # the latest of each id


# --------------------------------------------------------------------------- the session


@dataclass(slots=True)
class Session:
    """One conversation."""

    # what is shown, in order
    entries: list[Entry] = field(default_factory=list)

    # who and where
    session_id: str | None = None
    cwd: str | None = None
    directories: list[str] = field(default_factory=list)
    agent: Agent | None = None
    process: Process | None = None
    dialect: Literal["v1", "0.1.0"] = "v1"
    title: str | None = None
    updated_at: str | None = None

    # what is going on
    phase: Phase = "connecting"
    cancelling: bool = False
    turn: int = 0
    replayed: int = 0  # turns of a history that was loaded: what happened in them is known in part only
    replaying: bool = False  # what came last belongs to a history that the agent replays
    history_complete: bool = True  # False: more of it may follow the answer to `session/load`
    turn_started: float | None = None
    heard_at: float | None = None  # the last word of the agent
    heard: str | None = None  # … and what it was
    auth_required: bool = False
    stop_reason: str | None = None  # of the last turn; None when it failed
    last_error: RpcError | None = None

    # what the agent offers and says
    modes: list[Mode] = field(default_factory=list)
    mode: str | None = None
    config_options: list[ConfigOption] = field(default_factory=list)
    models: list[Choice] = field(default_factory=list)  # only where `session/set_model` is offered
    model: str | None = None
    settings: dict[str, Setting] = field(default_factory=dict)  # confirmed values; survive a restart
    commands: list[SlashCommand] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    plan: Plan | None = None  # the current one; an empty update clears it
    queue: list[QueuedPrompt] = field(default_factory=list)
    queue_paused: bool = False

    # the same entries by the agent's names
    tool_calls: dict[str, ToolCall] = field(default_factory=dict)
    terminals: dict[str, Terminal] = field(default_factory=dict)
    terminal_calls: dict[str, ToolCall] = field(default_factory=dict)  # by terminal: the call that shows it
    permissions: dict[RequestId, Permission] = field(default_factory=dict)  # pending ones only
    elicitations: dict[RequestId, Elicitation] = field(default_factory=dict)  # pending ones only

    reducer_state: ReducerState = field(default_factory=ReducerState, repr=False, compare=False)

    @property
    def working(self) -> bool:
        """True while a prompt is being answered."""
        return self.phase == "prompting"

    @property
    def mode_option(self) -> ConfigOption | None:
        """The config option that holds the mode. When there is one, `modes` and `mode` mirror it, and the
        mode is set through it."""
        return next(
            (
                option
                for option in self.config_options
                if option.category == "mode" and option.kind == "select"
            ),
            None,
        )

    @property
    def active_locations(self) -> list[Location]:
        """The locations of unfinished tool calls."""
        return [location for call in self.reducer_state.open_calls.values() for location in call.locations]
