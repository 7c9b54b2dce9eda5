"""Starts two subagents that outlive the turn: `python -m tests.fake_agents.has_subagents`.

Only the first one, which asks for permission and reads a file, can be cancelled. It ends when that happens.
"""

from __future__ import annotations

from typing import Any

from tests.fake_agents.asks_at_once import OPTIONS
from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent

FIRST, SECOND = "child-1", "child-2"


def update(agent: ScriptedAgent, session: str, kind: str, /, **more: Any) -> None:
    """Send a session update."""
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **more}}
    agent.send({"jsonrpc": "2.0", "method": "session/update", "params": params})


def announce(agent: ScriptedAgent, child: str, title: str, capabilities: dict[str, Any]) -> None:
    """Announce a subagent that works."""
    update(
        agent,
        SESSION,
        "subagent_update",
        sessionId=child,
        title=title,
        capabilities=capabilities,
        state={"state": "running"},
    )


def main() -> None:
    """Run the agent."""
    agent = ScriptedAgent()

    def prompted(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        announce(agent, FIRST, "Look around", {"cancel": {}})
        announce(agent, SECOND, "Write tests", {})
        agent.say("I am looking.", FIRST)
        call = {"toolCallId": "t1", "title": "make", "kind": "execute", "rawInput": {"command": "make"}}
        update(agent, FIRST, "tool_call", **call)
        params = {"sessionId": FIRST, "toolCall": {"toolCallId": "t1"}, "options": OPTIONS}
        agent.say_json(agent.ask("session/request_permission", params)["result"])
        agent.say_json(
            agent.ask("fs/read_text_file", {"sessionId": FIRST, "path": "/nowhere"})["error"]["code"]
        )
        agent.end_turn(request)
        agent.say("Still looking.", FIRST)
        agent.say("A word after the turn.")

    def cancelled(agent: ScriptedAgent, frame: dict[str, Any]) -> None:
        assert frame["params"] == {"sessionId": FIRST}
        update(agent, FIRST, "state_update", state="idle", stopReason="cancelled")

    agent.handlers["session/prompt"] = prompted
    agent.handlers["session/cancel"] = cancelled
    agent.run()


if __name__ == "__main__":
    main()
