"""Images, files, links and other content."""

from __future__ import annotations

import pytest

from acp_tui.session.safe_text import escape_controls
from acp_tui.session.state import Annotations, Content
from acp_tui.ui.entries.content import body
from tests.support.bodies import CWD, context, lines


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (Content("image", data="A" * 40_000, mime="image/png"), "  ▣ image  image/png  30 kB"),
        (Content("image", data="AA==", mime="image/png"), "  ▣ image  image/png  1 B"),
        (Content("audio", data="A" * 4, mime="audio/wav"), "  ♪ audio  audio/wav  3 B"),
        (
            Content("resource_link", uri=f"file://{CWD}/a%20b.py", size=2_345_678),
            "  ↗ a b.py  link  2.35 MB",
        ),
        (Content("resource_link", uri="https://a.b/c", name="c", title="See"), "  ↗ See  link"),
        (Content("resource", uri="file:///x/y.bin", data="AAAA"), "  ▤ /x/y.bin  file  3 B"),
    ],
)
def test_each_kind_of_content_is_described_in_a_line(content: Content, line: str) -> None:
    assert lines(body(content, context())) == [line]


def test_content_of_an_unknown_kind_shows_its_raw_json() -> None:
    drawn = lines(body(Content("hologram", raw={"depth": 3}), context()))
    assert drawn == ['  ? unknown content "hologram"', '   {"depth": 3}']


def test_an_embedded_text_shows_its_first_lines_with_syntax_colours() -> None:
    content = Content("resource", uri="file:///a.py", text="import os\n" * 8)
    drawn = body(content, context())
    assert [line.strip() for line in lines(drawn)[1:]] == ["import os"] * 5 + ["▸ 3 more lines"]
    keyword, name = drawn.line(1)._segments[2:4]
    assert keyword.style != name.style


def test_an_embedded_text_is_one_line_when_folded_and_complete_in_the_full_view() -> None:
    content = Content("resource", uri="file:///a.py", text="import os\n" * 8)
    assert len(lines(body(content, context(folded=True)))) == 1
    assert len(lines(body(content, context(full=True)))) == 9


def test_only_safe_links_are_clickable() -> None:
    def links(uri: str) -> set[str]:
        strip = body(Content("resource_link", uri=uri, name="x"), context()).line(0)
        return {segment.style.link for segment in strip if segment.style and segment.style.link}

    assert links("https://a.b/c") == {"https://a.b/c"}
    assert links("javascript:alert(1)") == set()
    assert links("https://a.b/\x1b]8;;\x07") == set()


@pytest.mark.parametrize("width", [20, 40, 80])
def test_any_content_fits_the_width_and_is_safe(width: int) -> None:
    nasty = "n\x1b[2J\u202e名" * 30
    for kind in ("image", "resource_link", "resource", nasty):
        content = Content(
            kind,
            text=escape_controls("long " * 50 + nasty),
            name=nasty,
            uri=f"file:///{nasty}",
            mime=nasty,
            raw={nasty: 1},
        )
        for other in (None, Annotations(audience=("assistant",))):
            content.annotations = other
            drawn = body(content, context(width=width))
            for number in range(drawn.height):
                strip = drawn.line(number)
                assert strip.cell_length <= width
                assert escape_controls(strip.text) == strip.text
