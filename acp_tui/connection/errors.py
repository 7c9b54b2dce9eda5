"""What can go wrong between us and the agent, each as one sentence for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from acp_tui.connection.agent_exit import AgentExit
    from acp_tui.session.state import RpcError


class ConnectionFault(UserError):  # noqa: N818  # also what went wrong in the agent
    """Anything that keeps a call to the agent from its result."""

    def __init__(self, sentence: str, stderr_tail: list[str] | None = None) -> None:
        self.stderr_tail = stderr_tail or []
        """The last lines of the agent's stderr, safe to display."""
        if self.stderr_tail:
            stop = "" if sentence.endswith((".", "!", "?", "…")) else "."
            sentence += f"{stop} Its last line on stderr: {self.stderr_tail[-1]}"
        super().__init__(sentence)


class CannotStart(ConnectionFault):
    """The agent's program is not there, or does not run."""


class AgentGone(ConnectionFault):
    """The agent's process ended, or could not be talked to any more and was ended."""

    def __init__(self, sentence: str, exit_status: AgentExit) -> None:
        self.exit = exit_status
        super().__init__(sentence, exit_status.stderr_tail)


class AgentTimeout(ConnectionFault):
    """The agent did not answer in time."""


class VersionMismatch(ConnectionFault):
    """The agent speaks no version of the protocol that we do."""


class NotOffered(ConnectionFault):
    """The agent did not advertise this, so it is not asked for."""


class RequestFailed(ConnectionFault):
    """The agent answered with an error."""

    def __init__(
        self, title: str, method: str, error: RpcError, stderr_tail: list[str] | None = None
    ) -> None:
        self.method = method
        self.error = error
        super().__init__(f"{title} answered {method} with an error: {error.message}", stderr_tail)
