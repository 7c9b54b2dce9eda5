"""An agent that wants a sign-in: `python -m tests.fake_agents.signs_in METHODS [FILE [--login]]`.

METHODS is what it offers, as JSON. With `--login` it asks on the terminal, and makes FILE when the answer is
yes; while FILE is there, nobody need sign in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_agents.kit import SESSION, ScriptedAgent

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Serve, or sign in."""
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
