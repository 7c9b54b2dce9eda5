"""Files on their way from the prompt to the agent, on the whole screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Content, UserMessage
from acp_tui.ui.screens.dialogs.confirm import ConfirmScreen
from tests.support.desk import offers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.desk import Desk, Open

EMBEDS = offers(capabilities={"promptCapabilities": {"embeddedContext": True}})


def sent(desk: Desk) -> list[Content]:
    """What went along with prompts."""
    messages = [entry for entry in desk.session.entries if isinstance(entry, UserMessage)]
    return [part for message in messages for part in message.parts if isinstance(part, Content)]


async def test_a_file_is_chosen_and_its_text_goes_along(open_desk: Open, tmp_path: Path) -> None:
    (tmp_path / "project" / "login.py").write_text("def login(): ...\n", encoding="utf-8")
    async with open_desk("script", EMBEDS) as desk:
        await desk.press(*"fix", "space", "@", *"log")
        await desk.sees("❯ login.py")
        await desk.press("enter", "enter")
        await desk.until(desk.said)
        assert [part.text for part in sent(desk)] == ["def login(): ...\n"]
        await desk.sees("┃ fix @login.py", "▤ login.py", "def login(): ...")


async def test_a_prompt_is_edited_again_without_the_text_of_what_went_along(
    open_desk: Open, tmp_path: Path
) -> None:
    (tmp_path / "project" / "login.py").write_text("def login(): ...\n", encoding="utf-8")
    async with open_desk("script", EMBEDS) as desk:
        await desk.send("fix @login.py")
        await desk.until(desk.said)
        await desk.press("alt+up", "left_square_bracket", "e")
        await desk.until(lambda: desk.prompt.text == "fix @login.py")


async def test_a_prompt_that_cannot_be_sent_comes_back(open_desk: Open, tmp_path: Path) -> None:
    (tmp_path / "project" / "login.py").write_text("one line\n", encoding="utf-8")
    async with open_desk("script", EMBEDS) as desk:
        await desk.send("fix @login.py:7")
        await desk.until(lambda: any("no line 7" in toast for toast in desk.toasts()))
        assert desk.prompt.text == "fix @login.py:7"
        assert desk.prompts() == []


async def test_a_file_outside_asks_first(open_desk: Open, tmp_path: Path) -> None:
    (tmp_path / "far.txt").write_text("far\n", encoding="utf-8")
    async with open_desk("script", EMBEDS) as desk:
        await desk.send("read @../far.txt")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen))
        await desk.sees("outside the working", "❯ No, do not send it")
        await desk.press("enter")
        await desk.until(lambda: desk.prompt.text == "read @../far.txt")
        assert desk.prompts() == []
        await desk.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen))
        await desk.press("down", "enter")
        await desk.until(desk.said)
        assert [part.text for part in sent(desk)] == ["far\n"]


async def test_what_is_typed_before_the_agent_is_known_is_made_to_fit_it(
    open_desk: Open, tmp_path: Path
) -> None:
    (tmp_path / "project" / "login.py").write_text("text\n", encoding="utf-8")
    async with open_desk(options=("fix @login.py",), wait=False) as desk:
        await desk.until(desk.said)
        assert [(part.kind, part.name) for part in sent(desk)] == [("resource_link", "login.py")]


async def test_queued_prompts_keep_what_was_attached(open_desk: Open, tmp_path: Path) -> None:
    file = tmp_path / "project" / "login.py"
    file.write_text("as it was\n", encoding="utf-8")
    async with open_desk("script", EMBEDS) as desk:
        await desk.send(["say", "working"], ["wait"], ["stop", "end_turn"])
        await desk.until(desk.said)
        await desk.send("fix @login.py")
        await desk.send("and then")
        await desk.until(lambda: desk.queue == ["fix @login.py", "and then"])
        file.write_text("as it is\n", encoding="utf-8")
        await desk.press("escape")
        await desk.until(lambda: len(desk.prompts()) == 3)
        assert [part.text for part in sent(desk)] == ["as it was\n"]


async def test_a_queued_prompt_comes_back_with_what_was_attached_also_after_a_restart(
    open_desk: Open,
) -> None:
    able = offers(capabilities={"loadSession": True, "promptCapabilities": {"embeddedContext": True}})
    async with open_desk("script", able) as desk:
        await desk.send(["wait"])
        await desk.until(lambda: desk.session.working)
        desk.prompt.load("why ")
        desk.prompt.attach_output("make", "$ make\nbroken\n")
        await desk.press("enter")
        await desk.until(lambda: desk.queue == ["why [output of make] "])
        name = desk.made[0].conversation.folder.id or ""
    async with open_desk("script", able, options=("--resume", name)) as desk:
        await desk.until(lambda: desk.queue == ["why [output of make] "])
        await desk.press("up")
        await desk.until(lambda: desk.prompt.text == "why [output of make] ")
        assert desk.queue == []
        await desk.press("enter")
        await desk.until(desk.said)
        assert [part.text for part in sent(desk)] == ["$ make\nbroken\n"]


async def test_a_queued_prompt_whose_secrets_the_log_did_not_keep_is_not_sent(
    open_desk: Open, tmp_path: Path
) -> None:
    able = offers(capabilities={"loadSession": True, "promptCapabilities": {"embeddedContext": True}})
    (tmp_path / "project" / ".env").write_text("COLOUR=blue\n", encoding="utf-8")
    async with open_desk("script", able) as desk:
        await desk.send(["wait"])
        await desk.until(lambda: desk.session.working)
        await desk.send("see @.env")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen))
        await desk.press("down", "enter")
        await desk.until(lambda: desk.queue == ["see @.env"])
        name = desk.made[0].conversation.folder.id or ""
    async with open_desk("script", able, options=("--resume", name)) as desk:
        await desk.until(lambda: desk.queue == ["see @.env"])
        await desk.press("enter")
        await desk.until(lambda: any("secret" in toast for toast in desk.toasts()))
        assert desk.prompt.text == "see @.env"
        assert desk.queue == desk.said() == []
