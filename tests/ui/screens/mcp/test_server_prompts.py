"""What the prompts of MCP servers become in the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.mcp.calls import PromptMessage, PromptResult
from acp_tui.ui.conversation import mcp_servers
from acp_tui.ui.conversation.mcp_servers import OfferedPrompt, ServerPrompts

if TYPE_CHECKING:
    import pytest

    from tests.support.conversation_ui import ConversationUi, Open

PIXEL = "iVBORw0KGgo="


class Access:
    """Returns this prompt instead of asking a server."""

    def __init__(self, *messages: tuple[str, dict[str, Any]]) -> None:
        self._messages = messages

    async def get_prompt(self, *_: object) -> PromptResult:
        return PromptResult("", [PromptMessage(role, content) for role, content in self._messages])  # type: ignore[arg-type]


async def use(ui: ConversationUi, *messages: tuple[str, dict[str, Any]]) -> str:
    """Use a prompt without arguments whose result consists of these messages, and return the input."""
    prompts = ServerPrompts(ui.screen, ui.prompt)
    prompts._offered = {"docs:ask": OfferedPrompt("docs", "ask", "", [])}
    conversation = ui.screen.runner.conversation
    assert conversation is not None
    conversation.mcp_access = Access(*messages)  # type: ignore[assignment]
    await prompts.use("docs:ask")
    await ui.pilot.pause()
    return ui.prompt.text


async def test_a_prompt_becomes_text_with_attachments(open_ui: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = {"uri": "test://notes", "mimeType": "text/plain", "text": "Remember."}
    async with open_ui() as ui:
        await ui.until(lambda: not ui.prompt.takes_images)  # known one frame after the agent is ready
        text = await use(
            ui,
            ("user", {"type": "text", "text": "Look\x1b[31m at"}),
            ("user", {"type": "resource", "resource": embedded}),
            ("user", {"type": "image", "data": PIXEL, "mimeType": "image/png"}),
            ("user", {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"}),
        )
        assert text == "Look at\n\n[resource test://notes]\n\n(left out: image)\n\n(left out: audio)"
        (attached,) = ui.prompt.attachments_in(text)
        assert attached[1:] == ("test://notes", "Remember.", "text/plain")

        text = await use(
            ui,
            ("user", {"type": "text", "text": "Is it\u200b so?"}),
            ("assistant", {"type": "text", "text": "Yes."}),
        )
        assert text == "User: Is it\u200b so?\n\nAssistant: Yes."
        assert any("ZERO WIDTH SPACE" in toast for toast in ui.toasts())

        monkeypatch.setattr(mcp_servers, "MAX_CHARACTERS", 10)
        assert await use(ui, ("user", {"type": "text", "text": "x" * 11})) == text
        assert any("the prompt exceeds 10 characters" in toast for toast in ui.toasts())
