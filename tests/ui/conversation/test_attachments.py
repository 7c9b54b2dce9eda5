"""Files attached to prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Content, UserMessage
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from tests.support.conversation_ui import offers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.conversation_ui import ConversationUi, Open

EMBEDS = offers(capabilities={"promptCapabilities": {"embeddedContext": True}})


def sent(ui: ConversationUi) -> list[Content]:
    """Return the attachments of all sent prompts."""
    messages = [entry for entry in ui.session.entries if isinstance(entry, UserMessage)]
    return [part for message in messages for part in message.parts if isinstance(part, Content)]


async def test_the_text_of_a_chosen_file_is_sent_with_the_prompt(open_ui: Open, tmp_path: Path) -> None:
    (tmp_path / "project" / "login.py").write_text("def login(): ...\n", encoding="utf-8")
    async with open_ui("script", EMBEDS) as ui:
        await ui.press(*"fix", "space", "@", *"log")
        await ui.sees("❯ login.py")
        await ui.press("enter", "enter")
        await ui.until(ui.said)
        assert [part.text for part in sent(ui)] == ["def login(): ...\n"]
        await ui.sees("┃ fix @login.py", "▤ login.py", "def login(): ...")


async def test_editing_a_sent_prompt_shows_mentions_instead_of_attached_text(
    open_ui: Open, tmp_path: Path
) -> None:
    (tmp_path / "project" / "login.py").write_text("def login(): ...\n", encoding="utf-8")
    async with open_ui("script", EMBEDS) as ui:
        await ui.send("fix @login.py")
        await ui.until(ui.said)
        await ui.press("alt+up", "left_square_bracket", "e")
        await ui.until(lambda: ui.prompt.text == "fix @login.py")


async def test_a_prompt_whose_attachment_fails_is_put_back(open_ui: Open, tmp_path: Path) -> None:
    (tmp_path / "project" / "login.py").write_text("one line\n", encoding="utf-8")
    async with open_ui("script", EMBEDS) as ui:
        await ui.send("fix @login.py:7")
        await ui.until(lambda: any("no line 7" in toast for toast in ui.toasts()))
        assert ui.prompt.text == "fix @login.py:7"
        assert ui.prompts() == []


async def test_attaching_a_file_outside_the_workspace_asks_first(open_ui: Open, tmp_path: Path) -> None:
    (tmp_path / "far.txt").write_text("far\n", encoding="utf-8")
    async with open_ui("script", EMBEDS) as ui:
        await ui.send("read @../far.txt")
        await ui.until(lambda: isinstance(ui.app.screen, ConfirmScreen))
        await ui.sees("outside the", "❯ No, do not send the prompt")
        await ui.press("enter")
        await ui.until(lambda: ui.prompt.text == "read @../far.txt")
        assert ui.prompts() == []
        await ui.press("enter")
        await ui.until(lambda: isinstance(ui.app.screen, ConfirmScreen))
        await ui.press("down", "enter")
        await ui.until(ui.said)
        assert [part.text for part in sent(ui)] == ["far\n"]


async def test_attachments_of_early_prompts_fit_the_capabilities_of_the_agent(
    open_ui: Open, tmp_path: Path
) -> None:
    (tmp_path / "project" / "login.py").write_text("text\n", encoding="utf-8")
    async with open_ui(options=("fix @login.py",), wait=False) as ui:
        await ui.until(ui.said)
        assert [(part.kind, part.name) for part in sent(ui)] == [("resource_link", "login.py")]


async def test_queued_prompts_keep_their_attachments(open_ui: Open, tmp_path: Path) -> None:
    file = tmp_path / "project" / "login.py"
    file.write_text("as it was\n", encoding="utf-8")
    async with open_ui("script", EMBEDS) as ui:
        await ui.send(["say", "working"], ["wait_for_cancel"], ["stop", "end_turn"])
        await ui.until(ui.said)
        await ui.send("fix @login.py")
        await ui.send("and then")
        await ui.until(lambda: ui.queue == ["fix @login.py", "and then"])
        file.write_text("as it is\n", encoding="utf-8")
        await ui.press("escape")
        await ui.until(lambda: len(ui.prompts()) == 3)
        assert [part.text for part in sent(ui)] == ["as it was\n"]


async def test_a_queued_prompt_keeps_its_attachments_after_a_restart(
    open_ui: Open,
) -> None:
    able = offers(capabilities={"loadSession": True, "promptCapabilities": {"embeddedContext": True}})
    async with open_ui("script", able) as ui:
        await ui.send(["wait_for_cancel"])
        await ui.until(lambda: ui.session.working)
        ui.prompt.load("why ")
        ui.prompt.attach_output("make", "$ make\nbroken\n")
        await ui.press("enter")
        await ui.until(lambda: ui.queue == ["why [output of make] "])
        name = ui.made[0].conversation.folder.id or ""
    async with open_ui("script", able, options=("--resume", name)) as ui:
        await ui.until(lambda: ui.queue == ["why [output of make] "])
        await ui.press("up")
        await ui.until(lambda: ui.prompt.text == "why [output of make] ")
        assert ui.queue == []
        await ui.press("enter")
        await ui.until(ui.said)
        assert [part.text for part in sent(ui)] == ["$ make\nbroken\n"]


async def test_a_queued_prompt_with_redacted_secrets_is_not_sent_after_a_restart(
    open_ui: Open, tmp_path: Path
) -> None:
    able = offers(capabilities={"loadSession": True, "promptCapabilities": {"embeddedContext": True}})
    (tmp_path / "project" / ".env").write_text("COLOUR=blue\n", encoding="utf-8")
    async with open_ui("script", able) as ui:
        await ui.send(["wait_for_cancel"])
        await ui.until(lambda: ui.session.working)
        await ui.send("see @.env")
        await ui.until(lambda: isinstance(ui.app.screen, ConfirmScreen))
        await ui.press("down", "enter")
        await ui.until(lambda: ui.queue == ["see @.env"])
        name = ui.made[0].conversation.folder.id or ""
    async with open_ui("script", able, options=("--resume", name)) as ui:
        await ui.until(lambda: ui.queue == ["see @.env"])
        await ui.press("enter")
        await ui.until(lambda: any("secret" in toast for toast in ui.toasts()))
        assert ui.prompt.text == "see @.env"
        assert ui.queue == ui.said() == []
