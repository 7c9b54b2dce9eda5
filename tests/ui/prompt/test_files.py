"""The menu of files, and attachments."""

from __future__ import annotations

import os
from base64 import b64encode
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from textual.events import Paste

from acp_tui.session.attachment import CommandOutput, FileMention, Picture
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.widgets.bar import KeyBar
from acp_tui.workspace.files.file_listing import ListedFiles
from tests.support.waiting import until
from tests.ui.prompt.prompt_app import PromptApp, type_text, type_without_pauses

if TYPE_CHECKING:
    from pathlib import Path


FILES = ["src/app.py", "src/ui/prompt.py", "docs/my notes.md", "logo.png", "README.md"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name in FILES:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(name, encoding="utf-8")
    return project


class FilesApp(PromptApp):
    """A prompt app with a project's files."""

    def __init__(self, project: Path, found: ListedFiles | None = None) -> None:
        super().__init__()
        self.project = project
        self.found = found or listed_files(*FILES)

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
        (sent,) = self.messages_of(Prompt.Submitted)
        assert isinstance(sent, Prompt.Submitted)
        return sent


def listed_files(*names: str, complete: bool = True) -> ListedFiles:
    found = ListedFiles()
    found.add(names)
    found.complete = complete
    return found


async def sees(app: FilesApp, *lines: str) -> None:
    """Wait until the menu starts with these lines; without any, until it is closed."""
    await until(lambda: app.shown()[: len(lines)] == list(lines) and bool(lines) == bool(app.shown()))


async def test_an_at_sign_opens_the_menu_and_typing_narrows_it(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, "look at @")
        await sees(app, "❯ src/", "docs/", "logo.png", "README.md")
        await type_text(pilot, "prom")
        await sees(app, "❯ src/ui/prompt.py")
        await pilot.press("enter")
        assert app.editor.text == "look at @src/ui/prompt.py "
        await sees(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().text == "look at @src/ui/prompt.py "
        assert app.sent().attachments == [FileMention("@src/ui/prompt.py", "src/ui/prompt.py")]


async def test_tab_descends_into_a_folder_and_enter_accepts_it(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, "@sr")
        await sees(app, "❯ src/")
        await pilot.press("tab")
        assert app.editor.text == "@src/"
        await sees(app, "❯ src/", "src/ui/", "src/app.py")
        await pilot.press("down", "enter")
        assert app.editor.text == "@src/ui/ "


async def test_the_footer_shows_menu_keys_only_while_files_match(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test(size=(100, 24)) as pilot:
        footer = app.query_one(KeyBar)
        await type_text(pilot, "@")
        await until(lambda: "Tab complete" in footer.render_line(0).text)
        await type_text(pilot, "zzz")
        await until(lambda: "Tab complete" not in footer.render_line(0).text)
        app.prompt.load("")
        app.found = listed_files()
        await type_text(pilot, "@")
        await until(lambda: "Tab complete" not in footer.render_line(0).text)


@pytest.mark.parametrize("before", ["", "@"], ids=["closed", "open"])
async def test_keys_act_the_same_when_typed_without_pauses(project: Path, before: str) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, before)
        await type_without_pauses(pilot, "@prom"[len(before) :], "enter")
        assert app.editor.text == "@src/ui/prompt.py "
        await pilot.press("ctrl+u")
        await type_text(pilot, before)
        await type_without_pauses(pilot, "@README.md"[len(before) :], "enter")
        assert app.sent().text == "@README.md"


async def test_a_fully_typed_name_is_sent_although_a_changed_file_ranks_above_it(project: Path) -> None:
    (project / "app.py").write_text("another one", encoding="utf-8")
    found = listed_files(*FILES, "app.py")
    found.changed = {"src/app.py"}
    app = FilesApp(project, found)
    async with app.run_test() as pilot:
        await type_text(pilot, "@app.py")
        await sees(app, "❯ src/app.py", "app.py")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().attachments == [FileMention("@app.py", "app.py")]


async def test_names_with_spaces_are_quoted(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, "@notes")
        await sees(app, "❯ docs/my notes.md")
        await pilot.press("tab", "enter")
        await pilot.pause()
        assert app.sent().text == '@"docs/my notes.md" '
        (mention,) = app.sent().attachments
        assert isinstance(mention, FileMention)
        assert mention.path == "docs/my notes.md"


async def test_unusual_file_names_are_escaped(project: Path) -> None:
    names = ['say "hi".txt', "two\nlines.txt", "odd\udcff.txt"]
    app = FilesApp(project, listed_files(*names))
    async with app.run_test() as pilot:
        for wanted, shown, token in (
            ("say", 'say "hi".txt', r'@"say \"hi\".txt"'),
            ("two", "two lines.txt", r'@"two\nlines.txt"'),
            ("odd", "odd�.txt", r'@"odd\xff.txt"'),
        ):
            await type_text(pilot, f"@{wanted}")
            await sees(app, f"❯ {shown}")
            await pilot.press("tab")
            assert app.editor.text.endswith(f"{token} ")
        await pilot.press("enter")
        await pilot.pause()
        assert [one.path for one in app.sent().attachments if isinstance(one, FileMention)] == names


async def test_a_chosen_file_stays_attached_after_it_was_deleted(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, "@app")
        await sees(app, "❯ src/app.py")
        await pilot.press("tab")
        (project / "src" / "app.py").unlink()
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().attachments == [FileMention("@src/app.py", "src/app.py")]


async def test_lines_can_be_typed_before_or_after_choosing_the_file(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, "@app:10-20")
        await sees(app, "❯ src/app.py")
        await pilot.press("tab")
        assert app.editor.text == "@src/app.py:10-20 "
        await type_text(pilot, "@read")
        await sees(app, "❯ README.md")
        await pilot.press("tab", "backspace")
        await type_text(pilot, ":3")
        await pilot.press("escape", "enter")
        await pilot.pause()
        assert app.sent().attachments == [
            FileMention("@src/app.py:10-20", "src/app.py", 10, 20),
            FileMention("@README.md:3", "README.md", 3, 3),
        ]


async def test_escape_closes_the_menu_until_another_mention_is_typed(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, "@read")
        await sees(app, "❯ README.md")
        await pilot.press("escape")
        await sees(app)
        await type_text(pilot, "m")
        await sees(app)
        await type_text(pilot, " @app")
        await sees(app, "❯ src/app.py")


async def test_a_key_during_the_search_completes_its_first_match(project: Path) -> None:
    names = [f"some/folder/file_{number}.py" for number in range(50_000)]
    app = FilesApp(project, listed_files(*names, "src/app.py"))
    async with app.run_test() as pilot:
        await type_text(pilot, "@")
        await sees(app, "❯ src/")
        app.editor.insert("srcapp")
        await pilot.pause()
        app.editor.action_menu_complete()
        assert app.editor.text == "@src/app.py "


async def test_files_that_are_listed_late_appear_in_the_menu(project: Path) -> None:
    found = listed_files("src/app.py", complete=False)
    app = FilesApp(project, found)
    async with app.run_test() as pilot:
        await type_text(pilot, "@re")
        await sees(app)
        found.add(["README.md"])
        found.complete = True
        await sees(app, "❯ README.md")


async def test_refused_images_are_shown_but_cannot_be_chosen(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        app.prompt.refuse_images("Demo does not accept images")
        await type_text(pilot, "@logo")
        await until(lambda: app.shown())
        assert app.shown()[0].startswith("❯ logo.png")
        assert app.shown()[0].endswith("Demo does not accept images")
        await pilot.press("tab", "enter")
        assert app.editor.text == "@logo"


async def test_the_menu_does_not_open_inside_words_or_shell_commands(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, "me@read")
        await pilot.pause()
        assert not app.prompt.has_open_menu
        app.prompt.load("")
        await type_text(pilot, "!cat @read")
        await pilot.pause()
        assert not app.prompt.has_open_menu


# --------------------------------------------------------------------------- tokens


async def test_the_mention_of_a_chosen_file_acts_as_one_character(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, "a @prom")
        await sees(app, "❯ src/ui/prompt.py")
        await pilot.press("tab", "left", "left")
        assert app.editor.cursor_location == (0, 2)
        await pilot.press("right", "backspace")
        assert app.editor.text == "a  "
        await pilot.press("ctrl+underscore")
        assert app.editor.text == "a @src/ui/prompt.py "


async def test_mentions_of_existing_files_are_highlighted(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        app.prompt.load("see @README.md and @nobody")
        await pilot.pause()
        line = app.editor.get_line(0)
        assert [line.plain[span.start : span.end] for span in line.spans] == ["@README.md"]


async def test_a_pasted_image_path_becomes_a_mention(project: Path) -> None:
    (project / "my logo.png").write_bytes(b"x")
    app = FilesApp(project)
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


async def test_mentions_inside_a_folded_paste_are_not_attached(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        app.post_message(Paste("@README.md\n" * 20))
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().attachments == []


async def test_offered_output_is_attached_once_and_kept_for_a_recall(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await type_text(pilot, "why?")
        app.prompt.offer_output("ls -la", lambda: "$ ls -la\na\n")
        await pilot.press("ctrl+l")
        assert app.editor.text == "why? [output of ls -la] "
        await pilot.press("ctrl+l")  # the offer was used
        assert app.editor.text == "why? [output of ls -la] "
        await pilot.press("enter")
        await pilot.pause()
        output = CommandOutput("[output of ls -la]", "ls -la", "$ ls -la\na\n")
        assert app.sent().attachments == [output]
        app.prompt.load(app.sent().text)
        await pilot.press("enter")
        await pilot.pause()
        (_, second) = app.messages_of(Prompt.Submitted)
        assert isinstance(second, Prompt.Submitted)
        assert second.attachments == [output]


async def test_attachments_of_an_earlier_prompt_are_restored(project: Path) -> None:
    def terminal(command: str, text: str) -> dict[str, Any]:
        return {"type": "resource", "resource": {"uri": f"terminal:{quote(command)}", "text": text}}

    def image(data: bytes) -> dict[str, Any]:
        return {"type": "image", "mimeType": "image/png", "data": b64encode(data).decode()}

    app = FilesApp(project)
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
        outputs = "[output of [ -f x ] #2] [output of [ -f x ] #3]"
        assert text == f"[image 4] and [image 2] and [image 4], {outputs}"
        contents = {
            attachment.token: getattr(attachment, "data", None) or getattr(attachment, "text", None)
            for attachment in prompt.attachments_in(text)
        }
        assert contents == {
            "[image 4]": b"four",
            "[image 2]": b"one",
            "[output of [ -f x ] #2]": "there",
            "[output of [ -f x ] #3]": "far",
        }
        assert attachments.add_image(b"new", "image/png") == "[image 3]"
        assert attachments.add_image(b"new", "image/png") == "[image 5]"
        assert prompt.restore_attachments("[image 9]", [{"type": "image", "data": "é"}]) == "[image 9]"
        assert prompt.attachments_in("[image 9]") == []


async def test_different_outputs_of_a_command_get_different_tokens(project: Path) -> None:
    app = FilesApp(project)
    async with app.run_test():
        for text in ("one", "two", "one"):
            app.prompt.attach_output("date", text)
        assert app.editor.text == "[output of date] [output of date #2] [output of date] "


# --------------------------------------------------------------------------- clipboard


@pytest.fixture
def clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake Wayland clipboard; its content is in the returned file."""
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


async def test_an_image_in_the_clipboard_is_attached(project: Path, clipboard: Path) -> None:
    clipboard.write_bytes(b"\x89PNG\r\n\x1a\nxyz")
    app = FilesApp(project)
    async with app.run_test() as pilot:
        await pilot.press("ctrl+v")
        await until(lambda: app.editor.text == "[image 1] ")
        await pilot.press("enter")
        await pilot.pause()
        assert app.sent().attachments == [Picture("[image 1]", b"\x89PNG\r\n\x1a\nxyz", "image/png")]


async def test_refused_images_are_not_pasted(project: Path, clipboard: Path) -> None:
    clipboard.write_bytes(b"\x89PNG\r\n\x1a\nxyz")
    app = FilesApp(project)
    async with app.run_test(notifications=True) as pilot:
        app.prompt.refuse_images("Demo does not accept images")
        await pilot.press("ctrl+v")
        await until(lambda: app._notifications)
        assert [toast.message for toast in app._notifications] == ["Demo does not accept images"]
        assert app.editor.text == ""


async def test_without_an_image_text_is_pasted(project: Path, clipboard: Path) -> None:
    app = FilesApp(project)
    async with app.run_test() as pilot:
        app.copy_to_clipboard("words")
        await pilot.press("ctrl+v")
        await until(lambda: app.editor.text == "words")


async def test_clipboard_text_comes_before_text_copied_in_the_app(project: Path, clipboard: Path) -> None:
    clipboard.with_suffix(".png.txt").write_text("from elsewhere", encoding="utf-8")
    app = FilesApp(project)
    async with app.run_test() as pilot:
        app.copy_to_clipboard("words")
        await pilot.press("ctrl+v")
        await until(lambda: app.editor.text == "from elsewhere")


async def test_an_empty_clipboard_is_reported(project: Path, clipboard: Path) -> None:
    app = FilesApp(project)
    async with app.run_test(notifications=True) as pilot:
        await pilot.press("ctrl+v")
        await until(lambda: app._notifications)
        (toast,) = app._notifications
        assert toast.message.startswith("Nothing to paste.")


async def test_over_ssh_the_system_clipboard_is_not_read(
    project: Path, clipboard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    clipboard.write_bytes(b"\x89PNG\r\n\x1a\nxyz")
    app = FilesApp(project)
    async with app.run_test() as pilot:
        app.copy_to_clipboard("words")
        await pilot.press("ctrl+v")
        await until(lambda: app.editor.text == "words")
