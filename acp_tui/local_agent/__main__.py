"""`python -m acp_tui.local_agent`: run the built-in agent on standard input and output."""

from __future__ import annotations

import asyncio
import signal
import sys

from acp_tui.local_agent.settings import Settings, parse_settings


def main() -> int:
    """Serve a client until the client closes standard input or a signal arrives. Return the exit code."""
    settings = parse_settings(sys.argv[1:])
    if sys.stdin.isatty():
        print("This is an ACP agent. It is waiting for a client on standard input.", file=sys.stderr)
    try:
        asyncio.run(_serve(settings))
    except ConnectionError:
        return 1  # the client is gone
    return 0


async def _serve(settings: Settings) -> None:
    # Imported here because the SDK takes half a second to load, which --help need not wait for.
    from acp.agent.connection import AgentSideConnection

    from acp_tui.local_agent.agent import LocalAgent
    from acp_tui.local_agent.wire import Wire

    try:
        wire = await Wire.on_stdio()
    except (ValueError, OSError):
        raise SystemExit("acp_tui.local_agent: standard input and output must be pipes") from None
    agent = LocalAgent(wire, settings)
    connection = AgentSideConnection(agent, wire, listening=False, use_unstable_protocol=True)
    # Shut down properly on signals: a running command must not outlive the agent. They cancel nothing, so
    # that another one does not interrupt the shutdown, which needs answers of the client.
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    tasks = [asyncio.create_task(connection.listen()), asyncio.create_task(stop.wait())]
    ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await agent.close()
    await connection.close()
    for task in ended:
        task.result()


if __name__ == "__main__":
    sys.exit(main())
