"""Uses the 0.1.0 draft: `python -m tests.fake_agents.draft answers|refuses|'refuses everything'`.

A request for version 1 is answered with 0.1.0 or refused.
"""

from __future__ import annotations

import sys
from typing import Any

from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent

VERSION = "0.1.0"


def initialize(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Accept or refuse the requested version."""
    wanted = request["params"]["protocolVersion"]
    if sys.argv[1] == "refuses everything" or (wanted != VERSION and sys.argv[1] == "refuses"):
        agent.fail(request, {"code": -32602, "message": f"Unsupported protocol version: {wanted}"})
        return
    agent.answer(
        request,
        {
            "protocolVersion": VERSION,
            "serverInfo": {"name": "draft-agent", "version": "0.0.3"},
            "capabilities": {"loadSession": False},
        },
    )


def prompt(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Run a turn: the answer begins it, a notification ends it."""
    text = request["params"]["prompt"]
    assert isinstance(text, str)
    if text == "die":
        agent.answer(request, {"success": True})
        sys.exit(9)
    if text == "no":
        agent.answer(request, {"success": False, "error": "not now"})
        return
    if text == "at once":  # all in one write
        agent.send(
            {"jsonrpc": "2.0", "id": request["id"], "result": {"success": True}}, end_turn("cancelled")
        )
        return
    agent.answer(request, {"success": True})
    agent.say(f"you said {text}")
    agent.send(end_turn("end_turn"))


def end_turn(reason: str) -> dict[str, Any]:
    """Return the notification that ends a turn."""
    update = {"sessionUpdate": "end_turn", "stopReason": reason}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": SESSION, "update": update}}


def main() -> None:
    """Run the agent."""
    agent = ScriptedAgent()
    agent.handlers.update({"initialize": initialize, "session/prompt": prompt})
    agent.run()


if __name__ == "__main__":
    main()
