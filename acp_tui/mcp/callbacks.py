"""Callbacks for the requests and notifications of a connected server. Does not import the SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from acp_tui.schema_form.values import FormAnswer


ListKind = Literal["tools", "prompts", "resources"]


@dataclass(frozen=True, slots=True)
class ElicitationRequest:
    """A question of a server to the user. Its texts are raw: sanitize them before display."""

    server: str  # the name of the server
    message: str
    mode: Literal["form", "url"] = "form"
    schema: dict[str, Any] = field(default_factory=dict)  # of the answer, in mode "form"
    url: str = ""  # the page on which the user answers, in mode "url"


@dataclass(frozen=True, slots=True)
class ServerLogMessage:
    """A log message that a server sends as a notification."""

    level: str  # debug, info, notice, warning, error, critical, alert or emergency
    logger: str
    data: Any  # any JSON value


@dataclass(frozen=True, slots=True)
class ServerHandlers:
    """Callbacks for the requests and notifications of a server. All are optional."""

    on_elicitation: Callable[[ElicitationRequest], Awaitable[FormAnswer]] | None = None
    """Asks the user a server's question. If None, acp-tui does not declare the elicitation capability."""
    on_log: Callable[[ServerLogMessage], None] | None = None
    on_list_changed: Callable[[ListKind], None] | None = None
    """Called when the server reports that one of its lists has changed, such as its list of tools."""
    on_notification: Callable[[str, dict[str, Any] | None], None] | None = None
    """Called with the method and the parameters of each notification, as JSON values."""
    on_stderr: Callable[[str], None] | None = None
    """Called with each line of stderr, made safe to display."""
    on_noise: Callable[[str], None] | None = None
    """Called with each line on stdout that is not an MCP message. The line has been made safe to display."""
    on_repair: Callable[[str], None] | None = None
    """Called with a sentence about each invalid part of an answer that is left out. Safe to display."""
    on_waiting: Callable[[str], None] | None = None
    """Called with a sentence for the user if connecting or a request takes longer than three seconds."""

    @property
    def follows_lists(self) -> bool:
        """Whether to subscribe to changes of the server's lists."""
        return self.on_list_changed is not None or self.on_notification is not None

    @property
    def follows_logs(self) -> bool:
        """Whether to ask the server for log messages."""
        return self.on_log is not None or self.on_notification is not None
