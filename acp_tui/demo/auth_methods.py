"""The ways to sign in to the demo agent, which requires a sign-in only if told to."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from acp.schema import AuthMethodAgent, EnvVarAuthMethod, TerminalAuthMethod

if TYPE_CHECKING:
    from acp.schema import ClientCapabilities

AuthMethod: TypeAlias = EnvVarAuthMethod | TerminalAuthMethod | AuthMethodAgent

AGENT_METHOD_ID = "demo"
TERMINAL_METHOD_ID = "demo-terminal"


def auth_methods(client: ClientCapabilities) -> list[AuthMethod]:
    """Return the sign-in methods for a client with these capabilities."""
    methods: list[AuthMethod] = [
        AuthMethodAgent(
            id=AGENT_METHOD_ID, name="Sign in", description="Always succeeds: the demo has no accounts"
        )
    ]
    # Only for clients that can run a sign-in program in a terminal.
    if client.auth and client.auth.terminal:
        methods.append(
            TerminalAuthMethod(
                type="terminal",
                id=TERMINAL_METHOD_ID,
                name="Sign in on a terminal",
                description="Asks one question on a real terminal",
                args=["--sign-in"],
            )
        )
    return methods
