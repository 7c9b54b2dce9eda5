"""Supports every method, and sends the parameters of each request back in a message."""

from __future__ import annotations

from typing import Any

from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent

ECHOED = (
    "authenticate",
    "session/load",
    "session/resume",
    "session/set_mode",
    "session/set_config_option",
    "session/set_model",
    "extension/anything",
)


def echo(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Send the parameters back and answer with null."""
    agent.say_json(request.get("params"))
    if "id" in request:
        agent.answer(request, None)


def session(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Open a session with modes, config options and models."""
    agent.say_json(request["params"])
    agent.answer(
        request,
        {
            "sessionId": SESSION,
            "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]},
            "configOptions": [
                {
                    "id": "effort",
                    "name": "Effort",
                    "type": "select",
                    "currentValue": "low",
                    "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
                },
                {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False},
                {"id": "odd", "name": "Odd", "type": "colour", "currentValue": "red"},
            ],
            "models": {"currentModelId": "one", "availableModels": [{"modelId": "one", "name": "One"}]},
        },
    )


def prompt(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Send the prompt back."""
    agent.say_json(request["params"])
    agent.end_turn(request, "max_tokens")


def main() -> None:
    """Run the agent with all capabilities."""
    agent = ScriptedAgent()
    agent.capabilities = {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": True},
        "sessionCapabilities": {"resume": {}, "additionalDirectories": {}},
    }
    agent.auth_methods = [{"id": "login", "name": "Log in"}]
    agent.handlers.update(dict.fromkeys(ECHOED, echo))
    agent.handlers.update(
        {
            "session/new": session,
            "session/prompt": prompt,
            "session/cancel": echo,
        }
    )
    agent.run()


if __name__ == "__main__":
    main()
