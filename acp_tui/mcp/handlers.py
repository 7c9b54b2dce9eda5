"""What a connected server may ask of its client or report to it. Does not import the SDK."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_tui.schema_form.answer import FormAnswer

ListKind = Literal["tools", "prompts", "resources"]


@dataclass(frozen=True, slots=True)
class ElicitationRequest:
    """A question that a server asks its user. All texts are unchanged from the server: make them visible."""

    server: str  # the name of the server
    message: str
    mode: Literal["form", "url"] = "form"
    schema: dict[str, Any] = field(default_factory=dict)  # of the answer, for a form
    url: str = ""  # the page to open; the answer is given there


@dataclass(frozen=True, slots=True)
class ServerLogMessage:
    """A log message that a server sends as a notification."""

    level: str  # debug, info, notice, warning, error, critical, alert or emergency
    logger: str
    data: Any  # any JSON value


@dataclass(frozen=True, slots=True)
class ServerHandlers:
    """Callables for what a server asks and reports. Each may be left out."""

    on_elicitation: Callable[[ElicitationRequest], Awaitable[FormAnswer]] | None = None
    """Asks the user. Without it the server is told that acp-tui cannot ask."""
    on_log: Callable[[ServerLogMessage], None] | None = None
    on_list_changed: Callable[[ListKind], None] | None = None
    """Called when a list has changed. Without it, some servers are not asked to report it."""
    on_notification: Callable[[str, dict[str, Any] | None], None] | None = None
    """Called with the method and the parameters of each notification, as on the wire."""
    on_stderr: Callable[[str], None] | None = None
    """Called with each line of stderr, safe to display."""
    on_noise: Callable[[str], None] | None = None
    """Called with each line on stdout that is not a message, safe to display."""
    on_waiting: Callable[[str], None] | None = None
    """Called once with a sentence if connecting takes longer than three seconds."""

    @property
    def follows_lists(self) -> bool:
        """Whether the server should report changed lists."""
        return self.on_list_changed is not None or self.on_notification is not None

    @property
    def follows_logs(self) -> bool:
        """Whether the server should send log messages."""
        return self.on_log is not None or self.on_notification is not None
