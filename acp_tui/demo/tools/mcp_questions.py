"""Forwards the questions of MCP servers to the client.

Importing the MCP SDK takes a second, so this module is imported inside functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp.schema import (
    AcceptElicitationResponse,
    ElicitationFormSessionMode,
    ElicitationSchema,
    ElicitationUrlSessionMode,
)
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn


async def ask_client(turn: Turn, server: str, question: ElicitRequestParams) -> ElicitResult:
    """Pass a server's question to the user. Decline if the client does not support this kind of question."""
    offered = turn.capabilities.elicitation
    is_form = isinstance(question, ElicitRequestFormParams)
    if offered is None or (offered.form if is_form else offered.url) is None:
        return ElicitResult(action="decline")
    message = f"The MCP server {server} asks: {question.message}"
    answer = await turn.client.create_elicitation(message, _mode(turn, question))
    content = answer.content if isinstance(answer, AcceptElicitationResponse) else None
    return ElicitResult.model_validate({"action": answer.action, "content": content})


def _mode(
    turn: Turn, question: ElicitRequestParams
) -> ElicitationFormSessionMode | ElicitationUrlSessionMode:
    if isinstance(question, ElicitRequestFormParams):
        schema = ElicitationSchema.model_validate(question.requested_schema)
        return ElicitationFormSessionMode(session_id=turn.session_id, requested_schema=schema)
    page = {
        "sessionId": turn.session_id,
        "elicitationId": question.elicitation_id or "mcp",
        "url": question.url,
    }
    return ElicitationUrlSessionMode.model_validate(page)
