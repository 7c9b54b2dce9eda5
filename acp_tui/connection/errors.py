"""Errors of the connection to an agent. Each message is a sentence for the user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from acp_tui.session.state import AuthMethod, RpcError


class ConnectionFault(UserError):  # noqa: N818  # also faults of the agent
    """Base class of the errors that a call to an agent can raise."""

    def __init__(self, sentence: str, stderr_tail: list[str] | None = None) -> None:
        self.stderr_tail = stderr_tail or []
        """The last lines of the agent's stderr, safe to display."""
        if self.stderr_tail:
            stop = "" if sentence.endswith((".", "!", "?", "…")) else "."
            sentence += f"{stop} Last line on stderr: {self.stderr_tail[-1]}"
        super().__init__(sentence)


class CannotStart(ConnectionFault):
    """The agent's program or folder is missing or cannot be used, or a remote agent cannot be reached."""

    may_pass = False
    """Whether the same attempt may succeed later, without the user: for example, no server is running."""


class AgentGone(ConnectionFault):
    """The agent's process exited, or was ended because it closed a stream."""

    def __init__(self, sentence: str, exit_status: AgentExit) -> None:
        self.exit = exit_status
        super().__init__(sentence, exit_status.stderr_tail)


class AgentTimeout(ConnectionFault):
    """The agent did not answer in time."""


class VersionMismatch(ConnectionFault):
    """The agent and acp-tui have no protocol version in common."""


class NotSupported(ConnectionFault):
    """The call is not possible now or with this agent, so nothing was sent."""


class RequestFailed(ConnectionFault):
    """The agent answered with an error."""

    def __init__(
        self, title: str, method: str, error: RpcError, stderr_tail: list[str] | None = None
    ) -> None:
        self.method = method
        self.error = error
        self._sentence = f"{title} answered {method} with an error: {error.message}"
        super().__init__(self._sentence, stderr_tail)

    def explain(self, sentence: str) -> None:
        """Add a sentence to the message, before the end of stderr."""
        super().__init__(f"{self._sentence.rstrip('.')}. {sentence}", self.stderr_tail)


class SignInNeeded(RequestFailed):
    """The agent requires a sign-in. The message lists the agent's sign-in methods."""

    def __init__(self, title: str, method: str, error: RpcError, methods: list[AuthMethod]) -> None:
        # `RequestFailed.__init__` would name the protocol's method in the message, not the ways to sign in.
        ConnectionFault.__init__(self, _sign_in_sentence(title, error.message, methods))
        self.method = method
        self.error = error
        self.methods = methods


def _sign_in_sentence(title: str, said: str, methods: list[AuthMethod]) -> str:
    ways = "; ".join(f"{escape_line(method.id)} ({method.name})" for method in methods)
    offered = f"Sign-in methods: {ways}." if ways else "It offers no sign-in method."
    return f"{title} requires sign-in first ({escape_line(said)}). {offered}"


@dataclass(frozen=True, slots=True)
class AgentExit:
    """The exit of an agent's process: code or signal, and the end of its stderr."""

    code: int | None = None
    signal: str | None = None  # e.g. "SIGTERM"
    stderr_tail: list[str] = field(default_factory=list)  # safe to display
    expected: bool = False  # we ended it
    outlived_input: bool = False  # it did not exit when we closed its stdin
    reason: str | None = None  # a clause such as "closed its stdout …": replaces code and signal

    def describe(self, title: str) -> str:
        """Return a sentence about the exit, without a full stop. `title` is the title of the agent."""
        if self.reason:
            return f"{title} {self.reason}"
        if self.signal:
            return f"{title} was killed by {self.signal}"
        return f"{title} exited with code {self.code}"
