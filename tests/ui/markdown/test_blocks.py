"""Drawing of Markdown blocks and inline markup."""

from __future__ import annotations

import pytest

from tests.support.markdown import document, lines, strips, style_of


def test_a_paragraph_is_wrapped_with_spaces_for_line_breaks() -> None:
    assert lines("one two\nthree four five", width=20) == ["one two three four", "five"]


def test_only_prose_has_a_maximum_width() -> None:
    words = " ".join(["word"] * 40)
    for text in (words, f"- {words}", f"> {words}"):
        assert 100 < max(map(len, lines(text, width=200))) <= 120
    for text in (f"```\n{words[:180]}\n```", f"| {words[:90]} | {words[:90]} |\n| --- | --- |"):
        assert max(map(len, lines(text, width=200))) > 170


def test_hard_breaks_and_br_start_a_new_line() -> None:
    assert lines("one  \ntwo\\\nthree<br>four <br/> five") == ["one", "two", "three", "four", "five"]


def test_blocks_have_one_blank_line_between_them() -> None:
    assert lines("# Title\ntext\n\n\n\nmore\n***\nend") == [
        "Title", "", "text", "", "more", "", "─" * 60, "", "end",
    ]  # fmt: skip


def test_headings_of_each_level_have_their_style() -> None:
    assert style_of("# one", "one").color == style_of("one\n===", "one").color
    colours = {style_of(f"{'#' * level} one", "one").color for level in (1, 2, 3)}
    assert len(colours) == 3


@pytest.mark.parametrize(
    ("markup", "attribute"), [("**x**", "bold"), ("*x*", "italic"), ("~~x~~", "strike"), ("***x***", "bold")]
)
def test_emphasis_is_a_style_without_its_marks(markup: str, attribute: str) -> None:
    assert lines(f"a {markup} b") == ["a x b"]
    assert getattr(style_of(f"a {markup} b", "x"), attribute)


def test_html_and_escaped_marks_are_text() -> None:
    assert lines("<div>a</div> \\*b\\* &amp; `<i>`") == ["<div>a</div> *b* & <i>"]


def test_lists_keep_their_numbers_and_nest() -> None:
    assert lines("3. three\n4. four\n   - a\n     - b\n\n   more of four\n5. five") == [
        "3. three",
        "4. four",
        "   • a",
        "     • b",
        "",
        "   more of four",
        "5. five",
    ]


def test_items_with_the_same_number_are_counted() -> None:
    assert lines("1. a\n1. b\n1. c") == ["1. a", "2. b", "3. c"]


def test_blank_lines_between_items_are_kept() -> None:
    assert lines("Intro:\n- a\n- b\n\n- c") == ["Intro:", "• a", "• b", "", "• c"]


def test_a_wrapped_item_hangs_below_its_text() -> None:
    assert lines("- one two three four five", width=20) == ["• one two three four", "  five"]


def test_another_list_starts_its_own_numbers() -> None:
    assert lines("1. a\n2. b\n\ntext\n\n1. c")[-1] == "1. c"
    assert lines("1. a\n\n1) b")[-1] == "1. b"


def test_tasks_have_check_boxes() -> None:
    assert lines("- [ ] open\n- [x] done\n- [y] none") == ["☐ open", "☑ done", "• [y] none"]


def test_a_year_at_the_start_of_a_line_is_not_a_list_item() -> None:
    assert lines("It was\n1984. All was well.") == ["It was 1984. All was well."]


def test_code_in_an_item_is_indented() -> None:
    assert lines("1. a\n\n   ```sh\n   ls\n\n     -l\n   ```\n\n2. b") == [
        "1. a", "", "    sh", "    ls", "", "      -l", "", "2. b",
    ]  # fmt: skip


def test_an_item_may_be_a_code_block() -> None:
    assert lines("- ```\n  x\n  ```\n- b") == ["•", "   x", "", "• b"]


def test_the_end_of_an_item_closes_its_fence() -> None:
    assert lines("- a\n  ```\n  x\nout") == ["• a", "", "   x", "", "out"]


def test_quotes_have_a_bar_and_nest() -> None:
    assert lines("> one\ntwo\n>\n> > deep\n> - item") == [
        "▎ one two", "▎", "▎ ▎ deep", "▎", "▎ • item",
    ]  # fmt: skip


def test_code_has_a_language_label_and_a_full_background() -> None:
    made = document("```python\nx = 1\n```", width=30)
    label, code = strips(made)
    assert (label.text.strip(), code.text.strip()) == ("python", "x = 1")
    for strip in (label, code):
        assert strip.cell_length == 30
        assert all(segment.style is not None and segment.style.bgcolor for segment in strip)


def test_code_is_highlighted_by_language() -> None:
    assert (
        style_of("```python\ndef f(): pass\n```", "def").color != style_of("```\ndef f()\n```", "def").color
    )
    assert lines("```no-such-language\ndef f()\n```") == [" no-such-language", " def f()"]


def test_long_lines_of_code_are_hard_wrapped() -> None:
    code = "x" * 130
    assert "".join(line.strip() for line in lines(f"```\n{code}\n```", width=40)) == code


def test_tabs_in_code_become_spaces() -> None:
    assert lines("```\na\tb\n\tc\n```") == [" a   b", "     c"]


def test_indented_code_keeps_its_blank_lines() -> None:
    assert lines("text\n\n    a\n\n      b\n\nafter") == ["text", "", " a", "", "   b", "", "after"]


@pytest.mark.parametrize("fence", ["```", "````", "~~~"])
def test_a_fence_is_closed_only_by_one_of_its_kind(fence: str) -> None:
    other = "~~~" if fence[0] == "`" else "```"
    assert lines(f"{fence}\n{other}\n# no\n\n{fence[:-1]}\n{fence}\nafter") == [
        f" {other}", " # no", "", f" {fence[:-1]}", "", "after",
    ]  # fmt: skip


def test_a_closing_fence_without_a_newline_is_not_code() -> None:
    assert lines("```\nx\n```") == lines("```\nx\n```\n") == [" x"]


def test_bare_links_exclude_trailing_punctuation() -> None:
    text = "See (https://a.b/c_(d)), or https://e.f."
    assert lines(text) == [text]
    assert style_of(text, "https://a").link == "https://a.b/c_(d)"
    assert style_of(text, "https://e").link == "https://e.f"


@pytest.mark.parametrize("url", ["https://a.b/c?d=e", "mailto:a@b.c", "file:///a/b"])
def test_a_safe_link_shows_its_text_only(url: str) -> None:
    style = style_of(f"[text]({url})", "text")
    assert style.link == url
    assert style.meta == {"link": url}
    assert lines(f"[text]({url})") == ["text"]


def test_a_relative_link_shows_its_path() -> None:
    assert lines("[the code](src/a%20b.py#L3)") == ["the code (src/a b.py#L3)"]
    assert lines("[src/a.py](src/a.py)") == ["src/a.py"]
    assert style_of("[the code](src/a.py)", "the").link is None


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "vscode://x"])
def test_unsafe_links_show_their_target(url: str) -> None:
    assert lines(f"[text]({url})") == [f"text ({url})"]
    assert style_of(f"[text]({url})", "text").link is None


def test_a_link_with_another_address_as_text_shows_its_target() -> None:
    assert lines("[https://good.org](https://evil.org)") == ["https://good.org (https://evil.org)"]
    assert lines("<https://good.org>") == ["https://good.org"]


def test_links_cannot_end_their_escape_sequence() -> None:
    style = style_of("[x](<https://a.b/\\x1b&#27;&#7;&#x9c;é>)", "x")
    assert style.link is not None
    assert style.link.isascii()
    assert style.link.isprintable()


def test_images_are_named() -> None:
    assert lines("![a picture](https://a.b/c.png) ![](d.png)") == ["[image: a picture] [image: d.png]"]


@pytest.mark.parametrize("where", ["before", "after"])
def test_link_definitions_may_come_before_or_after(where: str) -> None:
    definition = "[1]: https://a.b"
    text = f"See [this][1].\n\n{definition}" if where == "after" else f"{definition}\n\nSee [this][1]."
    assert style_of(text, "this").link == "https://a.b"
    assert definition in lines(text)


def test_entities_cannot_produce_control_characters() -> None:
    assert lines("a&#x202e;b&#12;c&#10;d&#9;e") == ["a‹202e›b␌c d e"]


def test_deeply_nested_text_is_not_lost() -> None:
    text = "".join(f"{'>' * 90} word{number}\n" for number in range(3))
    drawn = " ".join(lines(text, 40))
    assert all(f"word{number}" in drawn for number in range(3))
    nested = "".join(f"{'  ' * depth}- item{depth}\n" for depth in range(40))
    assert all(f"item{depth}" in " ".join(lines(nested, 20)) for depth in range(40))


def test_a_long_paragraph_gets_no_line_breaks_of_its_own() -> None:
    words = " ".join(f"word{number}" for number in range(1_500))
    assert all(len(line) > 50 for line in lines(words)[:-1])
