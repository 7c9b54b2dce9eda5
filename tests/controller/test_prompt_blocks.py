"""Prompt blocks for attachments, depending on the capabilities of the agent."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_tui.controller.prompt_blocks import IMAGE_LIMIT, TEXT_LIMIT, PromptBlockBuilder
from acp_tui.errors import UserError
from acp_tui.session.attachment import (
    CommandOutput,
    FileMention,
    Picture,
    ServerResource,
    find_mentions,
    format_mention,
)
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Agent, Content, Session, UserMessage
from acp_tui.workspace.files.file_access import FileAccess
from acp_tui.workspace.files.open_folder import Roots

if TYPE_CHECKING:
    from acp_tui.controller.mcp.server_access import OneShotServerClient
    from acp_tui.session.attachment import Attachment
    from tests.controller.conftest import Converse

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
ALL = Agent(capabilities={"promptCapabilities": {"embeddedContext": True, "image": True}})
NOTHING = Agent(capabilities={"promptCapabilities": {"image": False}})


class PromptHelper:
    """Builds the blocks of a prompt for an agent, and answers the questions about attachments."""

    def __init__(self, folder: Path, agent: Agent | None = ALL, *, confirms: bool = True) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.confirms = confirms
        servers = cast("OneShotServerClient", self)
        self.builder = PromptBlockBuilder(FileAccess(Roots(folder)), Session(agent=agent), servers)

    async def read_resource(self, server: str, uri: str) -> list[dict[str, Any]]:
        if server != "docs":
            raise UserError("It is not running.")
        picture = {"uri": uri, "mimeType": "image/png", "blob": "iVBORw0KGgo="}
        text = {"uri": uri, "mimeType": "text/plain", "text": "Hello"}
        return [{"type": "resource", "resource": picture if uri.endswith("png") else text}]

    async def confirm(self, question: str) -> bool:
        self.asked.append(question)
        return self.confirms

    async def blocks(self, text: str, *more: Attachment) -> list[dict[str, Any]]:
        """Return the blocks after the text block."""
        found: list[Attachment] = [
            mention.file for mention in find_mentions(text, lambda path: (self.folder / path).exists())
        ]
        first, *others = await self.builder.blocks(text, [*found, *more], self.confirm)
        assert first == {"type": "text", "text": text}
        return others


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "app.py").write_text("".join(f"line {n}\n" for n in range(1, 31)), encoding="utf-8")
    (project / "my notes.md").write_text("# Notes\n", encoding="utf-8")
    (project / "logo.png").write_bytes(PNG)
    (project / "data.bin").write_bytes(b"\0\1\2")
    (project / "latin.txt").write_bytes("caf\xe9".encode("latin-1"))
    (project / ".env").write_text("PASSWORD=hunter2hunter2\n", encoding="utf-8")
    return project


async def test_a_text_file_is_embedded(project: Path) -> None:
    (block,) = await PromptHelper(project).blocks('read @"my notes.md", please')
    assert block == {
        "type": "resource",
        "resource": {
            "uri": f"{project.as_uri()}/my%20notes.md",
            "mimeType": "text/markdown",
            "text": "# Notes\n",
        },
    }


async def test_only_the_named_lines_are_attached(project: Path) -> None:
    ten, one = await PromptHelper(project).blocks("@src/app.py:10-12 and (@src/app.py:30)")
    assert ten["resource"]["text"] == "line 10\nline 11\nline 12\n"
    assert ten["resource"]["uri"].endswith("/src/app.py#L10-L12")
    assert one["resource"]["text"] == "line 30\n"
    (rest,) = await PromptHelper(project).blocks("@src/app.py:29-900")
    assert rest["resource"]["uri"].endswith("/src/app.py#L29-L30")


NOT_UTF8 = pytest.mark.skipif(sys.platform == "darwin", reason="all names are UTF-8 there")


@pytest.mark.parametrize(
    "name",
    ['say "hi".txt', "two\nlines.txt", "~nobody", "-rf", pytest.param("\udcff\u202e.txt", marks=NOT_UTF8)],
)
async def test_a_file_with_any_name_can_be_attached(project: Path, name: str) -> None:
    (project / name).write_text("text", encoding="utf-8")
    (block,) = await PromptHelper(project).blocks("", FileMention(format_mention(name), f"./{name}"))
    assert block["resource"]["text"] == "text"
    assert block["resource"]["uri"] == "file://" + quote(os.fsencode(project / name))
    (project / name).unlink()
    with pytest.raises(UserError, match="not found") as error:
        await PromptHelper(project).blocks("", FileMention(format_mention(name), f"./{name}"))
    assert escape_line(str(error.value)) == str(error.value)


async def test_files_are_links_for_agents_without_embedded_context(project: Path) -> None:
    whole, part = await PromptHelper(project, NOTHING).blocks("@src/app.py @src/app.py:2-3")
    assert whole["type"] == part["type"] == "resource_link"
    assert whole["uri"] == f"{project.as_uri()}/src/app.py"
    assert (whole["name"], whole["size"]) == ("app.py", (project / "src/app.py").stat().st_size)
    assert (part["name"], part["uri"]) == ("app.py:2-3", f"{project.as_uri()}/src/app.py#L2-L3")


async def test_images_are_links_for_agents_without_image_support(project: Path) -> None:
    (image,) = await PromptHelper(project).blocks("@logo.png")
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(image["data"]) == PNG
    (link,) = await PromptHelper(project, NOTHING).blocks("@logo.png")
    assert (link["type"], link["name"], link["mimeType"]) == ("resource_link", "logo.png", "image/png")


@pytest.mark.parametrize("name", ["data.bin", "latin.txt"])
async def test_a_file_that_is_not_utf8_text_is_a_link(project: Path, name: str) -> None:
    (block,) = await PromptHelper(project).blocks(f"@{name}")
    assert (block["type"], block["name"]) == ("resource_link", name)


async def test_a_text_file_with_an_image_extension_is_text(project: Path) -> None:
    (project / "fake.png").write_text("no picture", encoding="utf-8")
    (block,) = await PromptHelper(project).blocks("@fake.png")
    assert (block["type"], block["resource"]["mimeType"]) == ("resource", "text/plain")


async def test_a_folder_is_a_link(project: Path) -> None:
    (block,) = await PromptHelper(project).blocks("@src/")
    assert block == {"type": "resource_link", "uri": f"{project.as_uri()}/src/", "name": "src/"}


async def test_the_same_file_is_attached_once(project: Path) -> None:
    assert len(await PromptHelper(project).blocks("@src/app.py is not @src/app.py")) == 1


async def test_outside_or_sensitive_files_are_attached_if_the_user_confirms(project: Path) -> None:
    outside = project.parent / "outside.txt"
    outside.write_text("far", encoding="utf-8")
    (project / "harmless.txt").symlink_to(project / ".env")
    helper = PromptHelper(project)
    far, env, link, folder = await helper.blocks(f"@{outside} @.env @harmless.txt @..")
    assert far["resource"]["text"] == "far"
    assert env["resource"]["text"] == link["resource"]["text"] == "PASSWORD=hunter2hunter2\n"
    assert folder["type"] == "resource_link"
    assert [question.partition("? It ")[0] for question in helper.asked] == [
        f"Attach {path}" for path in (outside, project / ".env", project / ".env", project.parent)
    ]
    assert "outside the workspace" in helper.asked[0]
    assert "may contain passwords and keys" in helper.asked[1]


@pytest.mark.parametrize("name", [".env", "../outside.txt"])
async def test_nothing_is_sent_if_the_user_does_not_confirm(project: Path, name: str) -> None:
    (project.parent / "outside.txt").write_text("far", encoding="utf-8")
    with pytest.raises(UserError, match="Nothing was sent"):
        await PromptHelper(project, confirms=False).blocks(f"@{name}")


async def test_a_file_that_is_too_large_is_an_error(project: Path) -> None:
    (project / "big.log").write_text("x" * 99 + "\n" + "y" * (TEXT_LIMIT + 1), encoding="utf-8")
    (project / "big.png").write_bytes(PNG + bytes(IMAGE_LIMIT))
    with pytest.raises(UserError, match=r"@big.log cannot be attached: it is 1.0 MB, .*@big.log:1-200"):
        await PromptHelper(project).blocks("@big.log")
    with pytest.raises(UserError, match=r"@big.log:2 cannot be attached"):
        await PromptHelper(project).blocks("@big.log:2")
    with pytest.raises(UserError, match=r"@big.png cannot be attached: it is 10.0 MB, "):
        await PromptHelper(project).blocks("@big.png")
    (line,) = await PromptHelper(project).blocks("@big.log:1")
    assert line["resource"]["text"] == "x" * 99 + "\n"
    (link,) = await PromptHelper(project, NOTHING).blocks("@big.log")
    assert link["type"] == "resource_link"


@pytest.mark.parametrize(
    ("mention", "why"),
    [
        (FileMention("@gone.py", "gone.py"), "not found"),
        (FileMention("@src/app.py:99", "src/app.py", 99, 99), "no line 99"),
        (FileMention("@src/:1", "src/", 1, 1), "a folder has no lines"),
        (FileMention("@data.bin:1", "data.bin", 1, 1), "binary"),
    ],
)
async def test_a_file_that_cannot_be_attached_is_an_error(
    project: Path, mention: FileMention, why: str
) -> None:
    with pytest.raises(UserError, match=f"{mention.token} cannot be attached: .*{why}"):
        await PromptHelper(project).blocks("", mention)


async def test_command_output_is_embedded_or_sent_as_text(project: Path) -> None:
    output = CommandOutput("[output of ls -la]", "ls -la", "$ ls -la\na\nb\n")
    (embedded,) = await PromptHelper(project).blocks("look", output)
    assert embedded["resource"]["text"] == output.text
    assert embedded["resource"]["uri"] == "terminal:ls%20-la"
    (text,) = await PromptHelper(project, NOTHING).blocks("look", output)
    assert (text["type"], text["text"].strip()) == ("text", output.text.strip())


async def test_a_pasted_picture_is_an_image_block(project: Path) -> None:
    (image,) = await PromptHelper(project).blocks("look", Picture("[image 1]", PNG, "image/png"))
    assert image == {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"}


# --------------------------------------------------------------------------- mentions


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("@a.py", ["@a.py"]),
        ("see @a.py, (@b.py) and “@c.py”.", ["@a.py", "@b.py"]),
        ("mail me@a.py @nobody @property", []),
        ('@"two words.py":3-4!', ['@"two words.py":3-4']),
        ("@a.py:7-3?", ["@a.py:7-3"]),
        ("@a.py:x", []),
        ("@a.py\n@b.py", ["@a.py", "@b.py"]),
        ("@", []),
        (
            r'@"say \"hi\".txt":2 and @"a\b.txt" @"a\\b.txt"',
            [r'@"say \"hi\".txt":2', r'@"a\b.txt"', r'@"a\\b.txt"'],
        ),
    ],
)
def test_only_existing_files_are_mentions(text: str, tokens: list[str]) -> None:
    existing = {"a.py", "b.py", "c.py", "two words.py", 'say "hi".txt', r"a\b.txt"}
    found = list(find_mentions(text, lambda path: path in existing))
    assert [mention.file.token for mention in found] == tokens
    assert all(text[mention.start : mention.end] == mention.file.token for mention in found)


@given(
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1),
    st.binary(max_size=3),
)
@example("\u202e", b"\xff\xfe")
@example('a"b\\n\nc', b"")
def test_any_file_name_can_be_mentioned(name: str, odd: bytes) -> None:
    path = name + odd.replace(b"/", b"").replace(b"\0", b"").decode(errors="surrogateescape")
    for token in (format_mention(path), format_mention(path, ":3")):
        assert escape_line(token) == token
        (mention,) = find_mentions(f"see {token} there", lambda one: one == path)
        assert (mention.file.token, mention.file.path) == (token, path)


# --------------------------------------------------------------------------- in a conversation


async def test_blocks_made_before_the_start_are_adapted_to_the_agent(
    converse: Converse, project: Path
) -> None:
    chat = converse()
    (chat.conversation.cwd / "a.py").write_text("secret text", encoding="utf-8")

    async def confirm(_: str) -> bool:
        return True

    blocks = await chat.conversation.blocks_for("@a.py", [FileMention("@a.py", "a.py")], confirm)
    assert blocks[1]["type"] == "resource"
    await chat.open()
    await chat.conversation.prompt(blocks)
    (message,) = [entry for entry in chat.session.entries if isinstance(entry, UserMessage)]
    (link,) = [part for part in message.parts if isinstance(part, Content)]
    assert (link.kind, link.name) == ("resource_link", "a.py")


async def test_attached_sensitive_files_are_not_logged(converse: Converse) -> None:
    capabilities = {"promptCapabilities": {"embeddedContext": True}}
    chat = converse("script", json.dumps({"capabilities": capabilities}))
    await chat.open()
    (chat.conversation.cwd / ".env").write_text("COLOUR=particularly-blue\n", encoding="utf-8")

    async def confirm(_: str) -> bool:
        return True

    mention = FileMention("@.env:1", ".env", 1, 1)
    await chat.conversation.prompt(await chat.conversation.blocks_for("@.env:1", [mention], confirm))
    (message,) = [entry for entry in chat.session.entries if isinstance(entry, UserMessage)]
    assert "particularly-blue" in message.text
    assert chat.conversation.log_path is not None
    log = Path(chat.conversation.log_path).read_text(encoding="utf-8")
    assert "particularly-blue" not in log
    assert ".env#L1-L1" in log


async def test_a_resource_is_embedded_or_sent_as_text(project: Path) -> None:
    attached = ServerResource("@docs:test://a", "docs", "test://a")
    (block,) = await PromptHelper(project).blocks("read @docs:test://a", attached)
    assert block["resource"] == {"uri": "test://a", "mimeType": "text/plain", "text": "Hello"}
    (block,) = await PromptHelper(project, NOTHING).blocks("read @docs:test://a", attached)
    assert block == {"type": "text", "text": "\nHello"}


async def test_a_picture_among_the_resources_needs_an_agent_that_accepts_it(project: Path) -> None:
    attached = ServerResource("@docs:a.png", "docs", "a.png")
    (block,) = await PromptHelper(project).blocks("see @docs:a.png", attached)
    assert block == {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    with pytest.raises(UserError, match="does not accept binary files"):
        await PromptHelper(project, NOTHING).blocks("see @docs:a.png", attached)


async def test_a_resource_that_cannot_be_read_is_an_error(project: Path) -> None:
    attached = ServerResource("@gone:a", "gone", "a")
    with pytest.raises(UserError, match="@gone:a cannot be attached: It is not running"):
        await PromptHelper(project).blocks("read @gone:a", attached)
