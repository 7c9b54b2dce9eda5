"""The menu of files, and what is attached in the prompt."""

from __future__ import annotations

import os
from base64 import b64encode
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from textual.events import Paste

from acp_tui.session.attachment import CommandOutput, FileMention, Picture
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.widgets.key_bar import KeyBar
from acp_tui.workspace.files.file_listing import ListedFiles
from tests.ui.prompt.host import Host, write, write_at_once

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

FILES = ["src/app.py", "src/ui/prompt.py", "docs/my notes.md", "logo.png", "README.md"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name in FILES:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(name, encoding="utf-8")
    return project


class Desk(Host):
    """A prompt in a project."""

    def __init__(self, project: Path, found: ListedFiles | None = None) -> None:
        super().__init__()
        self.project = project
        self.found = found or listed(*FILES)

    def on_mount(self) -> None:
        super().on_mount()
        self.prompt.set_files(str(self.project), lambda: self.found)

    def shown(self) -> list[str]:
        """The lines of the menu."""
        menu = self.prompt._files
        if not menu.display:
            return []
        return [menu.choices.render_line(y).text.strip() for y in range(menu.choices.rows)]

    def sent(self) -> Prompt.Submitted:
        (sent,) = self.heard(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        return sent


def listed(*names: str, complete: bool = True) -> ListedFiles:
    found = ListedFiles()
    found.add(names)
    found.complete = complete
    return found


async def sees(pilot: Pilot[None], app: Desk, *lines: str) -> None:
    for _ in range(500):
        if app.shown()[: len(lines)] == list(lines) and bool(lines) == bool(app.shown()):
            return
        await pilot.pause(0.01)
    raise AssertionError(f"the menu shows {app.shown()}")


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("it never came true")


async def test_at_opens_the_files_and_typing_narrows_them(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "look at @")
        await sees(pilot, app, "❯ src/", "docs/", "logo.png", "README.md")
        await write(pilot, "prom")
        await sees(pilot, app, "❯ src/ui/prompt.py")
        await pilot.press("enter")
        assert app.editor.text == "look at @src/ui/prompt.py "
        await sees(pilot, app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().text == "look at @src/ui/prompt.py "
        assert app.sent().attachments == [FileMention("@src/ui/prompt.py", "src/ui/prompt.py")]


async def test_tab_goes_on_in_a_folder_and_enter_takes_it(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "@sr")
        await sees(pilot, app, "❯ src/")
        await pilot.press("tab")
        assert app.editor.text == "@src/"
        await sees(pilot, app, "❯ src/", "src/ui/", "src/app.py")
        await pilot.press("down", "enter")
        assert app.editor.text == "@src/ui/ "


async def test_with_no_menu_there_are_none_of_its_keys(project: Path) -> None:
    app = Desk(project)
    async with app.run_test(size=(100, 24)) as pilot:
        footer = app.query_one(KeyBar)
        await write(pilot, "@")
        await until(pilot, lambda: "Tab complete" in footer.render_line(0).text)
        await write(pilot, "zzz")
        await until(pilot, lambda: "Tab complete" not in footer.render_line(0).text)
        app.prompt.load("")
        app.found = listed()
        await write(pilot, "@")
        await until(pilot, lambda: "Tab complete" not in footer.render_line(0).text)


@pytest.mark.parametrize("before", ["", "@"], ids=["closed", "open"])
async def test_keys_mean_the_same_however_quickly_they_come(project: Path, before: str) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, before)
        await write_at_once(pilot, "@prom"[len(before) :], "enter")
        assert app.editor.text == "@src/ui/prompt.py "
        await pilot.press("ctrl+u")
        await write(pilot, before)
        await write_at_once(pilot, "@README.md"[len(before) :], "enter")
        assert app.sent().text == "@README.md"


async def test_a_name_that_is_written_in_full_is_sent_though_others_were_changed(project: Path) -> None:
    (project / "app.py").write_text("another one", encoding="utf-8")
    found = listed(*FILES, "app.py")
    found.changed = {"src/app.py"}
    app = Desk(project, found)
    async with app.run_test() as pilot:
        await write(pilot, "@app.py")
        await sees(pilot, app, "❯ src/app.py", "app.py")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().attachments == [FileMention("@app.py", "app.py")]


async def test_names_with_spaces_are_quoted(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "@notes")
        await sees(pilot, app, "❯ docs/my notes.md")
        await pilot.press("tab", "enter")
        await pilot.pause()
        assert app.sent().text == '@"docs/my notes.md" '
        (mention,) = app.sent().attachments
        assert isinstance(mention, FileMention)
        assert mention.path == "docs/my notes.md"


async def test_names_that_cannot_be_written_as_they_are_are_shown_and_taken(project: Path) -> None:
    names = ['say "hi".txt', "two\nlines.txt", "odd\udcff.txt"]
    app = Desk(project, listed(*names))
    async with app.run_test() as pilot:
        for wanted, shown, token in (
            ("say", 'say "hi".txt', r'@"say \"hi\".txt"'),
            ("two", "two lines.txt", r'@"two\nlines.txt"'),
            ("odd", "odd�.txt", r'@"odd\xff.txt"'),
        ):
            await write(pilot, f"@{wanted}")
            await sees(pilot, app, f"❯ {shown}")
            await pilot.press("tab")
            assert app.editor.text.endswith(f"{token} ")
        await pilot.press("enter")
        await pilot.pause()
        assert [one.path for one in app.sent().attachments if isinstance(one, FileMention)] == names


async def test_a_chosen_file_that_is_gone_meanwhile_is_not_forgotten(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "@app")
        await sees(pilot, app, "❯ src/app.py")
        await pilot.press("tab")
        (project / "src" / "app.py").unlink()
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().attachments == [FileMention("@src/app.py", "src/app.py")]


async def test_lines_can_be_named_before_or_after_the_file_is_chosen(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "@app:10-20")
        await sees(pilot, app, "❯ src/app.py")
        await pilot.press("tab")
        assert app.editor.text == "@src/app.py:10-20 "
        await write(pilot, "@read")
        await sees(pilot, app, "❯ README.md")
        await pilot.press("tab", "backspace")
        await write(pilot, ":3")
        await pilot.press("escape", "enter")
        await pilot.pause()
        assert app.sent().attachments == [
            FileMention("@src/app.py:10-20", "src/app.py", 10, 20),
            FileMention("@README.md:3", "README.md", 3, 3),
        ]


async def test_escape_closes_it_until_another_mention_is_begun(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "@read")
        await sees(pilot, app, "❯ README.md")
        await pilot.press("escape")
        await sees(pilot, app)
        await write(pilot, "m")
        await sees(pilot, app)
        await write(pilot, " @app")
        await sees(pilot, app, "❯ src/app.py")


async def test_a_name_that_is_written_in_full_is_sent_with_enter(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "@README.md")
        await sees(pilot, app, "❯ README.md")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().attachments == [FileMention("@README.md", "README.md")]


async def test_a_key_that_is_quicker_than_the_search_takes_what_it_finds(project: Path) -> None:
    names = [f"some/folder/file_{number}.py" for number in range(50_000)]
    app = Desk(project, listed(*names, "src/app.py"))
    async with app.run_test() as pilot:
        await write(pilot, "@")
        await sees(pilot, app, "❯ src/")
        app.editor.insert("srcapp")
        await pilot.pause()
        app.editor.action_menu_complete()
        assert app.editor.text == "@src/app.py "


async def test_what_is_still_being_listed_appears_when_it_is_there(project: Path) -> None:
    found = listed("src/app.py", complete=False)
    app = Desk(project, found)
    async with app.run_test() as pilot:
        await write(pilot, "@re")
        await sees(pilot, app)
        found.add(["README.md"])
        found.complete = True
        await sees(pilot, app, "❯ README.md")


async def test_images_that_the_agent_does_not_take_are_shown_and_cannot_be_taken(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        app.prompt.refuse_images("Demo takes no images")
        await write(pilot, "@logo")
        for _ in range(500):
            if app.shown():
                break
            await pilot.pause(0.01)
        assert app.shown()[0].startswith("❯ logo.png")
        assert app.shown()[0].endswith("Demo takes no images")
        await pilot.press("tab", "enter")
        assert app.editor.text == "@logo"


async def test_nothing_opens_in_a_word_or_for_the_shell(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "me@read")
        await pilot.pause()
        assert not app.prompt.has_open_menu
        app.prompt.load("")
        await write(pilot, "!cat @read")
        await pilot.pause()
        assert not app.prompt.has_open_menu


# --------------------------------------------------------------------------- tokens


async def test_a_chosen_file_moves_and_goes_as_one(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "a @prom")
        await sees(pilot, app, "❯ src/ui/prompt.py")
        await pilot.press("tab", "left", "left")
        assert app.editor.cursor_location == (0, 2)
        await pilot.press("right", "backspace")
        assert app.editor.text == "a  "
        await pilot.press("ctrl+underscore")
        assert app.editor.text == "a @src/ui/prompt.py "


async def test_what_will_be_attached_can_be_seen(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        app.prompt.load("see @README.md and @nobody")
        await pilot.pause()
        line = app.editor.get_line(0)
        assert [line.plain[span.start : span.end] for span in line.spans] == ["@README.md"]


async def test_the_path_of_an_image_becomes_a_mention_when_it_is_pasted(project: Path) -> None:
    (project / "my logo.png").write_bytes(b"x")
    app = Desk(project)
    async with app.run_test() as pilot:
        for text in (f"{project}/logo.png", f"'{project}/my logo.png'", f"file://{project}/my%20logo.png"):
            app.post_message(Paste(text))
            await pilot.pause()
        assert app.editor.text == '@logo.png @"my logo.png" @"my logo.png" '
        app.prompt.load("")
        for text in (f"{project}/gone.png", f"{project}/README.md"):
            app.post_message(Paste(text))
            await pilot.pause()
        assert app.editor.text == f"{project}/gone.png{project}/README.md"


async def test_what_a_folded_paste_mentions_is_not_attached(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        app.post_message(Paste("@README.md\n" * 20))
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().attachments == []


async def test_the_output_on_offer_is_attached_by_its_key_and_survives_a_recall(project: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        await write(pilot, "why?")
        app.prompt.offer_output("ls -la", lambda: "$ ls -la\na\n")
        await pilot.press("ctrl+l")
        assert app.editor.text == "why? [output of ls -la] "
        await pilot.press("ctrl+l")  # it was on offer once
        assert app.editor.text == "why? [output of ls -la] "
        await pilot.press("enter")
        await pilot.pause()
        output = CommandOutput("[output of ls -la]", "ls -la", "$ ls -la\na\n")
        assert app.sent().attachments == [output]
        app.prompt.load(app.sent().text)
        await pilot.press("enter")
        await pilot.pause()
        (_, again) = app.heard(Prompt.Submitted)
        assert isinstance(again, Prompt.Submitted)
        assert again.attachments == [output]


async def test_a_prompt_of_another_time_comes_back_with_what_it_had(project: Path) -> None:
    def terminal(command: str, text: str) -> dict[str, Any]:
        return {"type": "resource", "resource": {"uri": f"terminal:{quote(command)}", "text": text}}

    def image(data: bytes) -> dict[str, Any]:
        return {"type": "image", "mimeType": "image/png", "data": b64encode(data).decode()}

    app = Desk(project)
    async with app.run_test():
        prompt = app.prompt
        prompt.attach_output("[ -f x ]", "here")
        attachments = prompt._attachments
        assert attachments.add_image(b"here", "image/png") == "[image 1]"
        text = prompt.restore_attachments(
            "[image 4] and [image 1] and [image 4], [output of [ -f x ]] [output of [ -f x ] #2]",
            [
                {"type": "text", "text": "words"},
                image(b"four"),
                image(b"one"),
                terminal("[ -f x ]", "there"),
                terminal("[ -f x ]", "far"),
            ],
        )
        again = "[output of [ -f x ] #2] [output of [ -f x ] #3]"
        assert text == f"[image 4] and [image 2] and [image 4], {again}"
        found = {one.token: one for one in prompt.attachments_in(text)}
        assert {
            token: getattr(one, "data", None) or getattr(one, "text", None) for token, one in found.items()
        } == {
            "[image 4]": b"four",
            "[image 2]": b"one",
            "[output of [ -f x ] #2]": "there",
            "[output of [ -f x ] #3]": "far",
        }
        assert attachments.add_image(b"new", "image/png") == "[image 3]"
        assert attachments.add_image(b"new", "image/png") == "[image 5]"
        assert prompt.restore_attachments("[image 9]", [{"type": "image", "data": "é"}]) == "[image 9]"
        assert prompt.attachments_in("[image 9]") == []


async def test_outputs_of_the_same_command_are_told_apart(project: Path) -> None:
    app = Desk(project)
    async with app.run_test():
        for text in ("one", "two", "one"):
            app.prompt.attach_output("date", text)
        assert app.editor.text == "[output of date] [output of date #2] [output of date] "


# --------------------------------------------------------------------------- the clipboard


@pytest.fixture
def clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clipboard of Wayland; its content stands in a file."""
    folder = tmp_path / "bin"
    folder.mkdir()
    content = tmp_path / "clipboard.png"
    program = folder / "wl-paste"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = --list-types ]; then\n  echo text/plain\n'
        f'  test -f {content} && echo image/png\n  exit 0\nfi\n[ "$2" = image/png ] && cat {content}\n'
        f'[ "$*" = "--no-newline --type text" ] && cat {content}.txt\ntrue\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    for name in ("SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return content


async def until_text(pilot: Pilot[None], app: Desk, text: str) -> None:
    for _ in range(500):
        if app.editor.text == text:
            return
        await pilot.pause(0.01)
    raise AssertionError(app.editor.text)


async def test_a_picture_in_the_clipboard_is_attached(project: Path, clipboard: Path) -> None:
    clipboard.write_bytes(b"\x89PNG\r\n\x1a\nxyz")
    app = Desk(project)
    async with app.run_test() as pilot:
        await pilot.press("ctrl+v")
        await until_text(pilot, app, "[image 1] ")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().attachments == [Picture("[image 1]", b"\x89PNG\r\n\x1a\nxyz", "image/png")]


async def test_an_agent_that_takes_no_images_gets_none(project: Path, clipboard: Path) -> None:
    clipboard.write_bytes(b"\x89PNG\r\n\x1a\nxyz")
    app = Desk(project)
    async with app.run_test(notifications=True) as pilot:
        app.prompt.refuse_images("Demo takes no images")
        await pilot.press("ctrl+v")
        for _ in range(500):
            if app._notifications:
                break
            await pilot.pause(0.01)
        assert [toast.message for toast in app._notifications] == ["Demo takes no images"]
        assert app.editor.text == ""


async def test_without_a_picture_text_is_pasted(project: Path, clipboard: Path) -> None:
    app = Desk(project)
    async with app.run_test() as pilot:
        app.copy_to_clipboard("words")
        await pilot.press("ctrl+v")
        await until_text(pilot, app, "words")


async def test_text_in_the_clipboard_comes_before_what_was_copied_here(
    project: Path, clipboard: Path
) -> None:
    clipboard.with_suffix(".png.txt").write_text("from elsewhere", encoding="utf-8")
    app = Desk(project)
    async with app.run_test() as pilot:
        app.copy_to_clipboard("words")
        await pilot.press("ctrl+v")
        await until_text(pilot, app, "from elsewhere")


async def test_when_there_is_nothing_to_paste_that_is_said(project: Path, clipboard: Path) -> None:
    app = Desk(project)
    async with app.run_test(notifications=True) as pilot:
        await pilot.press("ctrl+v")
        for _ in range(500):
            if app._notifications:
                break
            await pilot.pause(0.01)
        (toast,) = app._notifications
        assert toast.message.startswith("Nothing to paste.")


async def test_over_ssh_the_clipboard_of_the_machine_is_left_alone(
    project: Path, clipboard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    clipboard.write_bytes(b"\x89PNG\r\n\x1a\nxyz")
    app = Desk(project)
    async with app.run_test() as pilot:
        app.copy_to_clipboard("words")
        await pilot.press("ctrl+v")
        await until_text(pilot, app, "words")
