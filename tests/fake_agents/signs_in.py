"""Requires a sign-in: `python -m tests.fake_agents.signs_in METHODS [FILE [--login]]`.

METHODS are the sign-in methods as JSON. With `--login` it asks on the terminal, and creates FILE if the
answer is yes. As long as FILE exists, no sign-in is required.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Run the agent or the sign-in."""
    methods, *rest = sys.argv[1:]
    file = Path(rest[0]) if rest else None
    if "--login" in rest:
        assert file is not None
        if input("Sign in? ") != "yes":
            sys.exit(1)
        file.touch()
        return
    agent = ScriptedAgent()
    agent.auth_methods = json.loads(methods)
    agent.handlers["session/new"] = _opening(file)
    agent.run()


def _opening(file: Path | None) -> Callable[[ScriptedAgent, dict[str, Any]], None]:
    def opened(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        if file is not None and file.exists():
            agent.answer(request, {"sessionId": SESSION})
        else:
            agent.fail(request, {"code": -32000, "message": "Authentication required"})

    return opened


if __name__ == "__main__":
    main()
