"""Exports are complete and contain no active content."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from acp_tui.cli.recordings import transcript_lines
from acp_tui.entry_kinds.tool_call import starts_folded
from acp_tui.entry_labels import call_title
from acp_tui.errors import UserError
from acp_tui.export import FORMATS, export
from acp_tui.export.document import SessionMetadata
from acp_tui.export.safe_markdown import code_block, code_span, contain, escape_markdown
from acp_tui.session.events import TerminalCreated, TerminalExited, TerminalOutput
from tests.support.mutations import nested
from tests.support.recordings import WIRELOGS, records
from tests.support.talk import Talk, properties

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = '<img src=x onerror=alert(1)></details><script>alert("1")</script><!-- & \' "><b>'
VOID = {"meta", "img", "br", "hr"}
HARMLESS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "details"),
    *(
        "summary",
        "div",
        "span",
        "p",
        "h1",
        "h2",
        "h3",
        "dl",
        "dt",
        "dd",
        "pre",
        "code",
        "a",
        "ul",
        "ol",
        "li",
    ),
    *("em", "strong", "s", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "hr", "br", "img"),
}


class Page(HTMLParser):
    """The tags and the text of a page. Fails if tags are not nested properly."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def found(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


def everything(word: str = HOSTILE) -> Talk:
    """Return a conversation that contains the word wherever an agent can send text."""
    talk = Talk().opened(agentInfo={"name": word, "version": word})
    prompt = talk.prompt(word)
    talk.thinks(word)
    talk.says(f"# {word}\n\n[{word}](javascript:alert(1)) ![{word}](http://x/y.png) `{word}`\n\n- {word}\n")
    talk.says(f"\n| {word} | `a |\n|---|---|\n| b` | {word} |\n\n```{word}\n{word}\n")
    talk.tool(word, title=word, kind="edit", status="pending", locations=[{"path": word, "line": 3}])
    diff = {"type": "diff", "path": f"/w/{word}", "oldText": f"{word}\nsame\n", "newText": "new\nsame\n"}
    text = {"type": "content", "content": {"type": "text", "text": f"```\n{word}\n```"}}
    link = {"type": "resource_link", "uri": f"javascript:{word}", "name": word}
    talk.tool_update(word, content=[diff, text, {"type": "content", "content": link}], status="completed")
    talk.tool("raw", title="raw", kind="other", rawInput={word: word}, rawOutput=word, status=word)
    talk.client(TerminalCreated("t1", command=word, cwd="/w"))
    talk.client(TerminalOutput("t1", f"\x1b[31;1m{word}\x1b[0m\r\nplain \x1b[38;2;1;2;3mrgb\x1b[m\n"))
    talk.client(TerminalExited("t1", 3, None))
    talk.update("plan", entries=[{"content": word, "status": "in_progress", "priority": "high"}])
    talk.asks_permission("p1", toolCall={"toolCallId": word})
    talk.reply("p1", {"outcome": {"outcome": "selected", "optionId": "yes"}})
    talk.update(word, value=word)
    talk.says(word)
    talk.fail(prompt, {"code": -32000, "message": word, "data": word})
    return talk


@pytest.mark.parametrize("path", WIRELOGS, ids=lambda path: path.stem)
def test_every_recording_can_be_exported_in_every_format(path: Path) -> None:
    for form in FORMATS:
        text = export(records(path), form, SessionMetadata(id=path.stem))
        assert text.endswith("\n")
        if form == "html":
            Page(text)


# --------------------------------------------------------------------------- HTML


def test_text_from_an_agent_is_never_html() -> None:
    page = Page(export(everything().records, "html"))
    assert {tag for tag, _ in page.tags} <= HARMLESS
    assert page.text.count("<script>alert") > 12, "it is all there, as text"
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "https://").startswith(("http://", "https://", "mailto:"))
        assert "src" not in attributes


def test_a_page_loads_no_resources_and_runs_no_scripts() -> None:
    text = export(everything("plain").records, "html")
    page = Page(text)
    policy = next(one["content"] for one in page.found("meta") if "http-equiv" in one)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert not page.found("script")
    assert not page.found("link")
    assert "url(" not in text
    assert "@import" not in text


def test_only_links_with_safe_schemes_are_kept() -> None:
    talk = Talk().opened()
    number = talk.prompt()
    talk.says("[a](https://a.b/?x=1&y=2) [b](file:///etc/passwd) [c](javascript:x) [d](src/d.py)")
    talk.end(number)
    page = Page(export(talk.records, "html"))
    assert [one["href"] for one in page.found("a")] == ["https://a.b/?x=1&y=2"]
    assert {"file:///etc/passwd", "javascript:x", "src/d.py"} <= {
        one.get("title") for one in page.found("span")
    }


def test_entries_folded_on_the_screen_are_closed_in_html() -> None:
    talk = everything("word")
    text = export(talk.records, "html")
    for call in talk.session.tool_calls.values():
        title = re.escape(call_title(call, talk.session.cwd or ""))
        opened = re.search(
            rf'<details class="entry call"( open)?><summary>.*?>{title}</span></summary>', text
        )
        assert opened is not None
        assert bool(opened[1]) is not starts_folded(call)
    assert re.search(r'<details class="entry"><summary><span class="thought">thought for', text)


def test_code_diffs_and_terminals_have_the_colours_of_the_theme() -> None:
    talk = everything("word")
    talk.says("\n\n```python\nimport os\n```\n")
    text = export(talk.records, "html", theme="light")
    assert '<span class="s-keyword">import</span>' in text
    assert '<span class="diff-removed">-word</span><span class="diff-added">+new</span>' in text
    assert '<span class="f1" style="font-weight:bold">word</span>' in text
    assert '<span style="color:#010203">rgb</span>' in text
    assert "color-scheme:light" in text
    assert ".f1{color:#" in text
    assert export(talk.records, "html", theme="dark") != text


def test_the_last_line_of_code_is_coloured() -> None:
    talk = Talk().opened()
    talk.says("```diff\n- old\n+ new\n```")
    assert '<span class="s-inserted">+ new</span>' in export(talk.records, "html")


def test_task_lists_have_checkboxes() -> None:
    talk = Talk().opened()
    talk.says("- [ ] this\n- [x] *that*\n- [x]\n- [y] no box\n\n[ ] nor here")
    text = Page(export(talk.records, "html")).text
    assert "☐ this" in text
    assert "☑ that" in text
    assert "[y] no box" in text
    assert "[ ] nor here" in text


def test_new_files_deleted_files_and_user_commands_are_labelled() -> None:
    talk = Talk().opened()
    files = [("new.py", {"newText": "a\n"}), ("old.py", {"oldText": "a\n", "newText": ""})]
    content = [{"type": "diff", "path": path, **texts} for path, texts in files]
    talk.tool("edit", kind="edit", status="completed", content=content)
    talk.client(TerminalCreated("u1", command="ls", cwd="/w", owner="user"))
    for form, words in (("html", "Your command"), ("md", "**Your command**")):
        text = export(talk.records, form)
        assert "new.py (new)" in text
        assert words in text


def test_a_refusal_is_not_dimmed() -> None:
    talk = Talk().opened()
    talk.end(talk.prompt("a bad idea"), "refusal")
    sections = re.findall(r'<(?:section|p) class="(entry[^"]*)"', export(talk.records, "html"))
    assert sections == ["entry withdrawn user", "entry aside"]


@pytest.mark.parametrize(("theme", "light"), [("dark", 1), ("light", 0)])
def test_a_dark_page_is_printed_in_light_colours(theme: str, light: int) -> None:
    _, *printed = export(everything("word").records, "html", theme=theme).split("@media print{\n:root")
    assert len(printed) == light
    assert all("{color-scheme:light}" in rules for rules in printed)


def test_a_users_theme_colours_the_page_but_cannot_inject_css(home: Path) -> None:
    folder = home / "config" / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(
        'base = "light"\n[colors]\nink = "#123456"\nblue = "red;}</style><script>"\n'
        '[styles]\ntool = "bold ink on #654321"\n"x{}</style>" = "ink"\n'
    )
    text = export(everything("word").records, "html", theme="mine")
    assert ".tool{font-weight:bold;color:#123456;background:#654321}" in text
    assert not Page(text).found("script")
    assert text.count("</style>") == 1


@pytest.mark.parametrize(
    ("name", "theme", "base"),
    [
        ("mine", '[colors]\npage = "white"\n[styles]\ntool = "none"\n[syntax]\nkeyword = 1', "dark"),
        ("mine", 'base = "nord"\n[terminal]\ncolors = 5', "nord"),
        ("mine", 'base = "light"\n[terminal]\ncolors = ["red"]', "light"),
        ("mine", 'base = "../dark"\ndark = false', "light"),
        ("nord", "", "nord"),
        ("nord", "dark = true", "dark"),
        ("light", 'dark = "no"', "light"),
    ],
)
def test_missing_and_invalid_values_of_a_users_theme_are_those_of_its_base(
    home: Path, name: str, theme: str, base: str
) -> None:
    records = everything("word").records
    expected = export(records, "html", theme=base)
    folder = home / "config" / "themes"
    folder.mkdir(parents=True)
    (folder / f"{name}.toml").write_text(theme)
    assert export(records, "html", theme=name) == expected


def test_an_ansi_theme_uses_the_colours_of_its_base() -> None:
    talk = everything("word")
    assert export(talk.records, "html", theme="ansi") == export(talk.records, "html", theme="dark")


@pytest.mark.parametrize("theme", ["missing", "../dark", ""])
def test_an_unknown_theme_is_reported_in_a_sentence(theme: str) -> None:
    with pytest.raises(UserError, match="theme"):
        export([], "html", theme=theme)


def test_images_are_embedded_in_the_page() -> None:
    talk = Talk().opened()
    number = talk.prompt()
    talk.update(
        "agent_message_chunk", content={"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
    )
    talk.update(
        "agent_message_chunk", content={"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zz4="}
    )
    talk.update("agent_message_chunk", content={"type": "image", "mimeType": "image/png", "data": '"><b>'})
    talk.end(number)
    page = Page(export(talk.records, "html"))
    assert [one["src"] for one in page.found("img")] == ["data:image/png;base64,iVBORw0KGgo="]
    assert not page.found("b")


# --------------------------------------------------------------------------- Markdown

HTML = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ANY_LINK = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ANY_LINK.validateLink = lambda url: True  # type: ignore[method-assign]


def tags_in(text: str) -> list[str]:
    """Return the HTML that a Markdown renderer finds in a document."""
    found: list[str] = []
    for token in HTML.parse(text):
        for one in (token, *(token.children or ())):
            if one.type in ("html_block", "html_inline"):
                found += re.findall("<[^>]*>?", one.content)
    return found


def test_text_from_an_agent_is_never_html_in_markdown() -> None:
    tags = tags_in(export(everything().records, "md"))
    assert tags.count("<details>") == tags.count("</details>") > 2
    assert set(tags) == {"<details>", "<summary>", "</summary>", "</details>"}


PIECES = [
    *(
        "`",
        "``",
        "```",
        "~~~",
        "<b>",
        "</details>",
        "<",
        ">",
        "|",
        "|---|\n",
        "\\",
        "-",
        "*",
        "#",
        "!",
        "[a](b)",
    ),
    *("\n", "\n\n", "\n> ", "\n- ", "    ", "\t", " ", "a", "1.", "&lt;", "&", "<!--", "[a]: <b>\n", "==="),
]
nasty = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)


@properties
@given(nasty)
def test_any_embedded_markdown_leaves_the_document_intact(text: str) -> None:
    together = f"{contain(text)}\n\n## after\n"
    assert tags_in(together) == []
    tokens = HTML.parse(together)
    assert [token.type for token in tokens[-3:]] == ["heading_open", "inline", "heading_close"]
    assert tokens[-2].content == "after"


SCRIPT_LINKS = [
    *("[a](javascript:b)", "![a](JavaScript:b)", "[a](java&#115;cript:b)", "[a](java&Tab;script:b)"),
    *("[a]", "\n\n[a]: javascript:b\n\n", "[a][b]", "\n\n[b]: vbscript:b\n\n", "a | b\n--|--\n", "x | "),
]


@properties
@given(st.lists(st.sampled_from([*PIECES, *SCRIPT_LINKS]), max_size=16).map("".join))
def test_embedded_markdown_has_no_links_to_scripts(text: str) -> None:
    together = f"{contain(text)}\n\n[a] [b]\n"
    links = [str(link) for link in re.findall('(?:href|src)="([^"]*)"', ANY_LINK.render(together))]
    assert not [link for link in links if "script" in link.lower()]


def test_the_other_formatting_of_a_text_with_a_link_to_a_script_is_kept() -> None:
    shown = HTML.render(contain("**a** `b]` [c](javascript:d)"))
    assert shown == "<p><strong>a</strong> <code>b]</code> [c](javascript:d)</p>\n"


@properties
@given(nasty)
def test_embedded_markdown_keeps_its_formatting(text: str) -> None:
    # Where a definition leads may be written differently; and a tag that begins a line within a code span.
    assume("]:" not in text and not re.search(r"\n[ \t>]*<", text))
    meant = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    looks, wanted = HTML.render(contain(text)), meant.render(text.strip("\n"))
    assert "".join(looks.split()) == "".join(wanted.split())


@properties
@given(nasty)
def test_any_text_can_be_a_code_block_a_code_span_or_a_line(text: str) -> None:
    (block,) = HTML.parse(code_block(text))
    assert block.content.rstrip("\n") == text.rstrip("\n")
    line = " ".join(text.split())
    if line:
        paragraph = HTML.parse(f"x {code_span(text)}")[1].children or []
        assert paragraph[-1].content == line
        tokens = HTML.parse(escape_markdown(text))
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
        assert "".join(one.content for one in tokens[1].children or []) == line


def test_a_markdown_export_reads_in_order() -> None:
    talk = Talk().opened(agentInfo={"name": "Agent", "version": "1"})
    number = talk.prompt("fix it\nplease")
    talk.thinks("hm")
    talk.says("Looking.")
    talk.tool("c", title="pytest -q", kind="execute", content=[{"type": "terminal", "terminalId": "t"}])
    talk.client(TerminalCreated("t", command="pytest -q", cwd="/w"))
    talk.client(TerminalOutput("t", "1 passed\r\n"))
    talk.client(TerminalExited("t", 0, None))
    talk.tool_update("c", status="completed")
    talk.says("Done.")
    talk.end(number)
    text = export(talk.records, "md", SessionMetadata(id="s-1", title="Login"))
    told = ["# Login", "/w", "## You", "> fix it", "> please", "## Agent", "thought for", "hm", "Looking.",
            "`pytest -q`", "$ pytest -q", "1 passed", "[exit code 0]", "Done."]  # fmt: skip
    places = [text.index(words) for words in told]
    assert places == sorted(places)
    named = export(talk.records, "md", SessionMetadata(id="s-1", title="Login", name="My name"))
    assert named.startswith("# My name")


# --------------------------------------------------------------------------- JSON


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ([], "still running"),
        ([TerminalExited("t")], "ended"),
        ([TerminalExited("t", 3)], "exit code 3"),
        ([TerminalExited("t", None, "SIGKILL")], "ended by SIGKILL"),
    ],
)
def test_the_end_of_a_command_is_described(ends: list[TerminalExited], words: str) -> None:
    talk = Talk().opened()
    talk.client(TerminalCreated("t", "user", "make", "/w"))
    for event in ends:
        talk.client(event)
    assert f"[{words}]" in export(talk.records, "md")


def test_json_contains_all_entries_and_fields() -> None:
    talk = everything("word")
    plain = json.loads(export(talk.records, "json", SessionMetadata(id="s-1")))
    assert plain["format"] == 1
    assert plain["about"]["id"] == "s-1"
    assert plain["session"]["cwd"] == "/w"
    assert [entry["type"] for entry in plain["entries"]] == talk.kinds()
    (terminal,) = (entry for entry in plain["entries"] if entry["type"] == "Terminal")
    assert terminal["output"] == "word\nplain rgb\n"
    assert terminal["exit_code"] == 3
    call = next(entry for entry in plain["entries"] if entry["type"] == "ToolCall")
    assert call["content"][0]["new"] == "new\nsame\n"


def test_json_contains_no_control_characters() -> None:
    talk = Talk().opened()
    talk.tool("c", rawInput={"x": "\x1b]0;title\x07\x9b31m\u202e\ud800"})
    text = export(talk.records, "json")
    assert text.isascii()
    assert all(letter == "\n" or " " <= letter <= "~" for letter in text)
    assert json.loads(text)["entries"][0]["raw_input"] == {"x": "\x1b]0;title\x07\x9b31m\u202e\ud800"}


def test_json_cuts_values_that_are_nested_too_deeply() -> None:
    talk = Talk().opened()
    talk.update("agent_message_chunk", content={"type": "hologram", "depths": nested(400)})
    entries = json.loads(export(talk.records, "json"))["entries"]
    message = next(entry for entry in entries if entry["type"] == "AgentMessage")
    assert message["parts"][0]["raw"]["depths"]["a"]
    assert "…" in str(message)


# --------------------------------------------------------------------------- secrets


@pytest.mark.parametrize("form", FORMATS)
def test_secrets_split_between_chunks_are_redacted(form: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    talk = Talk().opened()
    number = talk.prompt()
    talk.says(f"the token is {secret[:9]}")
    talk.says(f"{secret[9:]} and that")
    talk.tool(
        "c", kind="read", rawInput={"path": "/w/.env"}, locations=[{"path": "/w/.env"}], rawOutput="hunter2"
    )
    talk.client(TerminalCreated("t", command="env", cwd="/w"))
    talk.client(TerminalOutput("t", f"TOKEN={secret[:7]}"))
    talk.client(TerminalOutput("t", f"{secret[7:]}\n"))
    talk.end(number)
    text = export(talk.records, form)
    assert secret[10:30] not in text
    assert "hunter2" not in text
    assert "and that" in text


def test_secrets_split_between_annotated_chunks_are_redacted() -> None:
    talk = Talk().opened()
    prompt = talk.prompt()
    secret = "ghp_" + "k3J9" * 9
    for chunk in (secret[:10], secret[10:]):
        content = {"type": "text", "text": chunk, "annotations": {"priority": 1}}
        talk.update("agent_message_chunk", content=content)
    talk.end(prompt)
    assert secret not in export(talk.records, "md")


def test_a_terminal_that_a_call_no_longer_shows_is_exported() -> None:
    talk = Talk().opened()
    talk.client(TerminalCreated("t1", command="make all", cwd="/w"))
    talk.tool("c1", content=[{"type": "terminal", "terminalId": "t1"}])
    talk.tool_update("c1", content=[])
    assert "$ make all" in export(talk.records, "md")
    assert "$ make all  (in /w)" in list(transcript_lines(talk.session))


def test_a_call_lists_only_files_that_its_title_does_not_name() -> None:
    talk = Talk().opened()
    places = [{"path": "/w"}, {"path": "/w/src/a.py"}, {"path": "/w/b.py", "line": 3}]
    talk.tool("c1", title="Read a.py", kind="read", locations=places)
    text = export(talk.records, "md")
    assert "- b.py:3" in text
    assert "src/a.py" not in text


def test_raw_input_that_an_agent_repeats_as_text_is_exported_once() -> None:
    talk = Talk().opened()
    text = {"type": "content", "content": {"type": "text", "text": '{"query": "needle"}'}}
    talk.tool("c1", title="Ask", kind="other", rawInput={"query": "needle"}, content=[text])
    assert export(talk.records, "md").count("needle") == 1
