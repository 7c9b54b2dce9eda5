"""Sends several permission requests at once: `python -m tests.fake_agents.asks_at_once COUNT [withdraw]`.

Then it sends the answers as messages. With `withdraw`, it cancels its requests immediately.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent, cancel_frame, request_frame

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def main() -> None:
    """Run the agent."""
    count, withdraw = int(sys.argv[1]), "withdraw" in sys.argv
    agent = ScriptedAgent()
    agent.handlers["session/cancel"] = lambda *_: None

    def prompted(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        names = [f"ask-{number}" for number in range(1, count + 1)]
        for name in names:
            call = {"toolCallId": name, "title": name, "kind": "execute", "rawInput": {"command": name}}
            params = {"sessionId": SESSION, "toolCall": call, "options": OPTIONS}
            agent.send(request_frame("session/request_permission", params, name))
        if withdraw:
            agent.send(*map(cancel_frame, names))
        for name in names:
            outcome = agent.answer_to(name).get("result", {}).get("outcome", {})
            agent.say(json.dumps({name: outcome.get("optionId", outcome.get("outcome"))}))
        agent.end_turn(request)

    agent.handlers["session/prompt"] = prompted
    agent.run()


if __name__ == "__main__":
    main()
