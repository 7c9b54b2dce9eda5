"""`python -m acp_tui.demo`: the demo agent on standard input and output."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

from acp_tui.config.paths import paths
from acp_tui.demo.signin import SignIn, ask_in_terminal


def main() -> int:
    """Serve a client until it closes our standard input."""
    args = _arguments()
    sign_in = SignIn(args.store, wanted=args.auth)
    if args.sign_in:
        return ask_in_terminal(sign_in)
    if sys.stdin.isatty():
        print("This is an ACP agent: it waits for a client on its standard input.", file=sys.stderr)
        print("To see it at work: acp-tui exec demo tour", file=sys.stderr)
    asyncio.run(_serve(args.store, sign_in, args.speed))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m acp_tui.demo",
        description="A scripted ACP agent that shows what the protocol can do: no model, no network.",
    )
    parser.add_argument(
        "--speed",
        choices=("relaxed", "quick", "instant"),
        default=os.environ.get("ACP_TUI_DEMO_SPEED", "relaxed"),
        help="the pace that sessions begin with (or $ACP_TUI_DEMO_SPEED)",
    )
    parser.add_argument(
        "--store",
        type=Path,
        default=os.environ.get("ACP_TUI_DEMO_STORE") or paths().state / "demo",
        metavar="DIR",
        help="where sessions are kept (or $ACP_TUI_DEMO_STORE)",
    )
    parser.add_argument(
        "--auth",
        action="store_true",
        default=os.environ.get("ACP_TUI_DEMO_AUTH", "") not in ("", "0"),
        help="want a sign-in first (or $ACP_TUI_DEMO_AUTH=1)",
    )
    parser.add_argument("--sign-in", action="store_true", help="sign in here, in a terminal, and end")
    return parser.parse_args()


async def _serve(folder: Path, sign_in: SignIn, speed: str) -> None:
    # The SDK takes half a second to load: not for --help or --sign-in.
    from acp.agent.connection import AgentSideConnection

    from acp_tui.demo.agent import DemoAgent
    from acp_tui.demo.settings import Settings
    from acp_tui.demo.store import Store
    from acp_tui.demo.wire import Wire

    wire = await Wire.on_stdio()
    agent = DemoAgent(wire, Store(folder / "sessions"), sign_in, Settings(pace=speed))
    connection = AgentSideConnection(agent, wire, listening=False, use_unstable_protocol=True)
    try:
        await connection.listen()
    finally:
        await connection.close()


if __name__ == "__main__":
    sys.exit(main())
