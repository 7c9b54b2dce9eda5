"""Requires a sign-in: `python -m tests.fake_agents.signs_in METHODS [FILE [--login]] [--open]`.

METHODS are the sign-in methods as JSON. With `--login` it asks on the terminal, and creates FILE if the
answer is yes. As long as FILE exists, no sign-in is required. With `--open`, sessions can be opened without a
sign-in, but no other request is answered.

`authenticate` does what the method's id says: see `_authenticate`.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent, request_frame

if TYPE_CHECKING:
    from collections.abc import Callable

ADDRESS = "https://login.example.com/device?code=AB12"
MODES = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}


def main() -> None:
    """Run the agent or the sign-in."""
    methods, *rest = sys.argv[1:]
    file = Path(rest[0]) if rest and not rest[0].startswith("--") else None
    if "--login" in rest:
        assert file is not None
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python may miss it before it reads
        if input("Sign in? ") != "yes":
            sys.exit(1)
        file.touch()
        return
    _Agent(json.loads(methods), file, opens="--open" in rest).run()


class _Agent(ScriptedAgent):
    def __init__(self, methods: list[dict[str, Any]], file: Path | None, *, opens: bool) -> None:
        super().__init__()
        self.auth_methods = methods
        self.capabilities = {"auth": {"logout": {}}}
        self._file = file
        self._signed_in = False
        self._late: dict[str, Any] | None = None  # answered when it is cancelled
        opened = self._opened
        self.handlers |= {
            "session/new": (lambda _, request: opened(request)) if opens else self._guarded(opened),
            "session/prompt": self._guarded(self._prompted),
            "session/set_mode": self._guarded(lambda request: self.answer(request, {})),
            "authenticate": lambda _, request: self._authenticate(request),
            "logout": lambda _, request: self._logout(request),
            "$/cancel_request": lambda _, request: self._cancelled(),
        }

    def _guarded(self, serve: Callable[[dict[str, Any]], None]) -> Callable[..., None]:
        def handler(_: ScriptedAgent, request: dict[str, Any]) -> None:
            if self._signed_in or (self._file is not None and self._file.exists()):
                serve(request)
            else:
                self.fail(request, {"code": -32000, "message": "Authentication required"})

        return handler

    def _opened(self, request: dict[str, Any]) -> None:
        self.answer(request, {"sessionId": SESSION, "modes": MODES})

    def _prompted(self, request: dict[str, Any]) -> None:
        self.say(f"Answer to {request['params']['prompt'][0]['text']}")
        self.end_turn(request)

    def _logout(self, request: dict[str, Any]) -> None:
        self._signed_in = False
        self.answer(request, {})

    def _authenticate(self, request: dict[str, Any]) -> None:
        """Sign in ("login"), answer without effect ("empty"), fail, or wait for a cancellation ("late").

        "asks" asks with a form of its own first. Any other method is never answered.
        """
        self.write_stderr("Contacting the account server")
        method = request["params"]["methodId"]
        if method == "fails":
            self.fail(
                request, {"code": -32603, "message": "Internal error", "data": {"details": "No network"}}
            )
        elif method == "empty":
            self.answer(request, {})
        elif method == "late":
            self._late = request
            self.write_stderr(f"Open {ADDRESS} and sign in.")
        elif method == "asks":
            form = {"type": "object", "properties": {"code": {"type": "string", "title": "Code"}}}
            params = {"mode": "form", "message": "Enter the code", "requestedSchema": form}
            self.send(request_frame("elicitation/create", params | {"requestId": request["id"]}, "form"))
            self._signed_in = self.answer_to("form")["result"]["content"] == {"code": "7"}
            self.answer(request, {})
        elif method == "login":
            self._signed_in = True
            self.answer(request, {})

    def _cancelled(self) -> None:
        if self._late is not None:
            self._signed_in = True
            self.answer(self._late, {})


if __name__ == "__main__":
    main()
