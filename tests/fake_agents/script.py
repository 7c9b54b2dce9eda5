"""An agent that does what the prompt spells out: `python -m tests.fake_agents.script [OFFERS]`.

The prompt is a JSON list of steps, each a list of a word and its arguments (see `STEPS`); any other prompt is
sent back. OFFERS is a JSON object:
- `capabilities`, `auth_methods`
- `session`: what the answers that open a session hold as well
- `history`: updates before the answer to `session/load`; `late_history`: updates after it
- `turns`: the steps for prompts that say it in words
- `refuses`: methods that are answered with an error; `refuses_once`: the first time only
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_agents.faulty import leave_behind
from tests.fake_agents.kit import SESSION, ScriptedAgent, request_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fake_agents.kit import Handler

OPENING = ("session/new", "session/load", "session/resume")


class Script:
    """What one prompt wants."""

    def __init__(self, agent: ScriptedAgent, heard: dict[str, Any]) -> None:
        self.agent = agent
        self.heard = heard
        self.stop_reason = "end_turn"
        self.kept: dict[str, Any] = {}

    def do_say(self, *texts: str) -> None:
        """Pieces of the message."""
        for text in texts:
            self.agent.say(text)

    def do_repeat(self, times: int, text: str) -> None:
        """The same piece many times."""
        for _ in range(times):
            self.agent.say(text)

    def do_update(self, update: dict[str, Any], session: str = SESSION) -> None:
        """Any update."""
        params = {"sessionId": session, "update": update}
        self.agent.send({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def do_ask(self, method: str, params: dict[str, Any]) -> None:
        """A request to the client; its answer is said. `"$name"` stands for what was kept."""
        filled = {
            key: self.kept.get(value, value) if isinstance(value, str) else value
            for key, value in params.items()
        }
        answer = self.agent.ask(method, {"sessionId": SESSION, **filled})
        if isinstance(terminal := (answer.get("result") or {}).get("terminalId"), str):
            self.kept["$terminal"] = terminal
        self.agent.say_json(answer.get("result", answer.get("error")))

    def do_request(self, method: str, params: dict[str, Any], request_id: str) -> None:
        """A request to the client whose answer nobody waits for."""
        self.agent.send(request_frame(method, {"sessionId": SESSION, **params}, request_id))

    def do_await_file(self, path: str) -> None:
        """Until somebody has made it."""
        while not Path(path).exists():
            time.sleep(0.02)

    def do_permission(self, call: dict[str, Any]) -> None:
        """Ask for permission with the usual options."""
        options = [
            {"optionId": kind, "name": kind, "kind": kind}
            for kind in ("allow_once", "allow_always", "reject_once", "reject_always")
        ]
        self.do_ask(
            "session/request_permission", {"toolCall": {"toolCallId": "call", **call}, "options": options}
        )

    def do_disk(self, path: str, text: str) -> None:
        """Write a file without asking anybody."""
        Path(path).write_text(text, encoding="utf-8")

    def do_complain(self, *lines: str) -> None:
        """Write to stderr."""
        self.agent.complain(*lines)

    def do_tell(self, method: str) -> None:
        """Say what came with a request of the client."""
        self.agent.say_json(self.heard.get(method))

    def do_environment(self, name: str) -> None:
        """Say what an environment variable holds."""
        self.agent.say(os.environ.get(name, ""))

    def do_wait(self) -> None:
        """Go on when the client cancels, and confirm that."""
        while "session/cancel" not in self.heard:
            frame = self.agent.receive()
            if frame is None:
                sys.exit(0)
            self.agent.handle(frame)
        self.stop_reason = "cancelled"

    def do_leave(self) -> None:
        """Leave processes behind."""
        leave_behind()

    def do_wait_for_output(self) -> None:
        """Until the terminal has some."""
        params = {"sessionId": SESSION, "terminalId": self.kept["$terminal"]}
        while not self.agent.ask("terminal/output", params)["result"]["output"]:
            pass

    def do_ignore(self) -> None:
        """Listen to nothing any more, but to the end of the input."""
        while self.agent.receive() is not None:
            pass
        sys.exit(0)

    def do_stop(self, reason: str) -> None:
        """End the turn with this reason."""
        self.stop_reason = reason

    def do_exit(self, code: int) -> None:
        """Die."""
        sys.exit(code)


def main() -> None:
    """Run it."""
    offers = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    agent = ScriptedAgent()
    agent.capabilities = offers.get("capabilities", {})
    agent.auth_methods = offers.get("auth_methods", [])
    heard: dict[str, Any] = {}

    def hearing(handler: Callable[[ScriptedAgent, dict[str, Any]], None]) -> Any:
        def hear(agent: ScriptedAgent, frame: dict[str, Any]) -> None:
            heard[frame["method"]] = frame.get("params")
            handler(agent, frame)

        return hear

    def opened(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        for update in offers.get("history", []) if request["method"] == "session/load" else []:
            Script(agent, heard).do_update(update)
        agent.answer(request, {"sessionId": SESSION, **offers.get("session", {})})
        for update in offers.get("late_history", []) if request["method"] == "session/load" else []:
            time.sleep(0.02)  # so that a prompt sent at once would get in between
            Script(agent, heard).do_update(update)

    def prompted(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        text = "".join(block.get("text", "") for block in request["params"]["prompt"])
        script = Script(agent, heard)
        steps = offers.get("turns", {}).get(text, [["say", text]])
        for word, *arguments in json.loads(text) if text.startswith("[[") else steps:
            getattr(script, f"do_{word}")(*arguments)
        agent.end_turn(request, script.stop_reason)

    agent.handlers["initialize"] = hearing(ScriptedAgent.initialized)
    agent.handlers["session/prompt"] = prompted
    agent.handlers.update(dict.fromkeys(OPENING, hearing(opened)))
    answered = hearing(lambda agent, request: agent.answer(request, {}))
    agent.handlers |= dict.fromkeys(
        ("authenticate", "session/set_mode", "session/set_config_option", "session/set_model"), answered
    )
    refused = {"code": -32603, "message": "Not in this mood"}
    agent.handlers |= dict.fromkeys(
        offers.get("refuses", []), hearing(lambda agent, request: agent.fail(request, refused))
    )

    def refused_once(accepts: Handler) -> Handler:
        refusals = iter([True])
        return lambda agent, request: (
            agent.fail(request, refused) if next(refusals, False) else accepts(agent, request)
        )

    for method in offers.get("refuses_once", []):
        agent.handlers[method] = refused_once(agent.handlers[method])
    agent.handlers["session/cancel"] = hearing(lambda *_: None)
    agent.run()


if __name__ == "__main__":
    main()
