"""`/subagents`: two subagents that work at the same time, each in a session of its own."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING, Any

from acp import text_block, tool_content
from acp.schema import AllowedOutcome, ToolCallUpdate

from acp_tui.demo.commands.slash_command import slash_command
from acp_tui.demo.tools.permission import standard_options

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn

FILES = ("README.md", "colours.py", "tests/test_colours.py")
CHECKS = ("formatting", "types", "unit tests", "packaging")
COMMAND = "make check"


@slash_command("subagents", "Two subagents at once: one asks for permission and can be stopped")
async def subagents(turn: Turn) -> None:
    """Start two subagents and wait for the first one. The second one can continue after the turn has ended.

    Starts none if the client does not support subagents.
    """
    if turn.wire.initialize_params.get("clientCapabilities", {}).get("subagents") is None:
        await turn.say("Your client does not advertise `subagents`, so I cannot show any subagents.")
        return
    await turn.say("I start two subagents: one reads the project, the other one runs the checks.")
    reader = Subagent(turn, "Read the project", "explorer", can_cancel=False)
    tester = Subagent(turn, "Run the checks", "tester", can_cancel=True)
    await reader.start("Read the project and tell me what it is about.")
    await tester.start("Run all checks and report what fails.")
    turn.session.run_subagent(tester.session_id, run_checks(tester))
    await turn.session.run_subagent(reader.session_id, read_project(reader))
    await turn.say("The first subagent is done. The second one continues in the background.")


class Subagent:
    """Sends the updates of one subagent, and stores them, so that a replay shows them."""

    def __init__(self, turn: Turn, title: str, description: str, *, can_cancel: bool) -> None:
        self.turn = turn
        self.session_id = f"{turn.session_id}-{uuid.uuid4().hex[:8]}"
        self._title = title
        self._description = description
        self._capabilities: dict[str, Any] = {"cancel": {}} if can_cancel else {}

    async def start(self, task: str) -> None:
        """Announce the subagent to the client, and send the subagent its task."""
        await self._send(
            self.turn.session_id,
            "subagent_update",
            sessionId=self.session_id,
            title=self._title,
            description=self._description,
            capabilities=self._capabilities,
            state={"state": "running"},
        )
        await self._send_message(task, self.turn.session_id, self.session_id)

    async def set_state(self, state: str, **more: Any) -> None:
        """Send the state of the subagent."""
        state_update = {"state": state, **more}
        await self._send(
            self.turn.session_id, "subagent_update", sessionId=self.session_id, state=state_update
        )

    async def finish(self, answer: str) -> None:
        """Send the subagent's answer to the main agent, and set the subagent's state to idle."""
        await self.send("agent_message_chunk", content={"type": "text", "text": answer})
        await self._send_message(answer, self.session_id, self.turn.session_id)
        await self.set_state("idle", stopReason="end_turn")

    async def send(self, kind: str, /, **update: Any) -> None:
        """Send an update of the subagent's own session."""
        await self._send(self.session_id, kind, **update)

    async def _send_message(self, text: str, sender: str, recipient: str) -> None:
        message = {"messageId": uuid.uuid4().hex, "content": [{"type": "text", "text": text}]}
        for session_id in (self.turn.session_id, self.session_id):
            await self._send(
                session_id,
                "session_message",
                senderSessionId=sender,
                recipientSessionId=recipient,
                **message,
            )

    async def _send(self, session_id: str, kind: str, /, **update: Any) -> None:
        params = {"sessionId": session_id, "update": {"sessionUpdate": kind, **update}}
        self.turn.stored.history.add_raw(params)
        await self.turn.send_notification("session/update", params)


async def read_project(reader: Subagent) -> None:
    """Pretend to read the files in `FILES` one by one, without asking for permission."""
    for name in FILES:
        call = {"toolCallId": f"read {name}", "title": f"Read {name}", "kind": "read"}
        await reader.send("tool_call", status="in_progress", **call)
        await reader.turn.pause(25)
        await reader.send("tool_call_update", toolCallId=call["toolCallId"], status="completed")
    await reader.finish("It is a small *Python* project about colours, with a test.")


async def run_checks(tester: Subagent) -> None:
    """Pretend to run `COMMAND` if the user allows it. The client can cancel the subagent meanwhile."""
    call = {"toolCallId": "checks", "title": COMMAND, "kind": "execute", "rawInput": {"command": COMMAND}}
    await tester.send("tool_call", status="pending", **call)
    try:
        if not await _is_allowed(tester, call):
            await tester.send("tool_call_update", toolCallId="checks", status="failed")
            await tester.finish("I was not allowed to run the checks.")
            return
        lines: list[str] = []
        for check in CHECKS:
            lines.append(f"{check} … ok")
            content = [{"type": "content", "content": {"type": "text", "text": "\n".join(lines)}}]
            await tester.send("tool_call_update", toolCallId="checks", status="in_progress", content=content)
            await tester.turn.pause(60)
        await tester.send("tool_call_update", toolCallId="checks", status="completed")
        await tester.finish(f"All {len(CHECKS)} checks passed.")
    except asyncio.CancelledError:
        await tester.send("tool_call_update", toolCallId="checks", status="failed")
        await tester.set_state("idle", stopReason="cancelled")
    else:
        await tester.turn.say("The second subagent is done, too: the checks passed.")


async def _is_allowed(tester: Subagent, call: dict[str, Any]) -> bool:
    await tester.set_state("requires_action")
    asked = ToolCallUpdate(
        tool_call_id=call["toolCallId"],
        title=call["title"],
        kind="execute",
        status="pending",
        content=[tool_content(text_block("Checks formatting, types and tests."))],
        raw_input=call["rawInput"],
    )
    answer = await tester.turn.client.request_permission(
        tester.session_id, asked, standard_options("execute")
    )
    await tester.set_state("running")
    outcome = answer.outcome
    return isinstance(outcome, AllowedOutcome) and outcome.option_id.startswith("allow")
