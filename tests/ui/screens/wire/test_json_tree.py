"""Folding of JSON values, and marks at fields that break the schema."""

from __future__ import annotations

from typing import Any

from rich.segment import Segment

from acp_tui.ui.screens.wire.json_view import MAX_CHILDREN, JsonTree, LineDrawer


def drawn(tree: JsonTree, width: int = 80) -> list[str]:
    drawer = LineDrawer(tree, width)
    rows = [row for line in tree.lines() for row in drawer.rows(line)]
    assert all(Segment.get_line_length(row) <= width for row in rows)
    return ["".join(span.text for span in row).rstrip() for row in rows]


def node_at(tree: JsonTree, *path: str | int) -> Any:
    return next(line.node for line in tree.lines() if line.node is not None and line.node.path == path)


def test_a_small_value_is_shown_unfolded() -> None:
    assert drawn(JsonTree({"a": [1, None, "x"], "b": {}})) == [
        "▾ {",
        '  ▾ "a": [',
        "      1,",
        "      null,",
        '      "x"',
        "    ],",
        '    "b": {}',
        "  }",
    ]


def test_a_large_value_is_unfolded_as_far_as_it_is_short() -> None:
    value = {"few": {"x": 1}, "many": [{"number": number} for number in range(400)]}
    tree = JsonTree(value)
    assert '    "many": [ 400 items ]' in [line.replace("▸", " ") for line in drawn(tree)]
    assert any('"x": 1' in line for line in drawn(tree))


def test_of_very_many_items_the_first_are_shown() -> None:
    tree = JsonTree(list(range(MAX_CHILDREN * 3)))
    assert drawn(tree)[-2].strip() == f"… {MAX_CHILDREN * 2:,} more"


def test_a_deviation_is_below_its_field_which_is_unfolded() -> None:
    value = {"many": [{"number": number} for number in range(1000)]}
    lines = drawn(JsonTree(value, [(("many", 700, "number"), "number must be a string")]))
    at = next(index for index, line in enumerate(lines) if "✗ number must be a string" in line)
    assert '"number": 700' in lines[at - 1]


def test_a_missing_field_is_reported_at_its_object() -> None:
    lines = drawn(JsonTree({"params": {"a": 1}}, [(("params", "sessionId"), "params.sessionId is missing")]))
    assert lines[1:3] == ['  ▾ "params": {', "  ✗ params.sessionId is missing"]


def test_a_folded_object_shows_that_there_is_a_deviation_inside() -> None:
    tree = JsonTree({"params": {"a": 1}}, [(("params", "a"), "wrong")])
    tree.set_folded(node_at(tree, "params"), folded=True)
    assert drawn(tree)[1] == '  ▸ "params": { 1 field } ✗'


def test_a_long_string_is_folded_and_has_a_line_per_line_when_unfolded() -> None:
    tree = JsonTree({"text": "first line\n" * 50})
    assert drawn(tree)[1].endswith("… 550 characters")
    tree.set_folded(node_at(tree, "text"), folded=False)
    assert len(drawn(tree)) == 50 + 3


def test_characters_that_a_terminal_would_obey_are_escaped() -> None:
    text = "".join(drawn(JsonTree({"\x1b[2J": "\x9b31m\u202e\x07 [red]"})))
    assert "\\u001b[2J" in text
    assert "[red]" in text
    assert not any(sign in text for sign in "\x1b\x9b\u202e\x07")


def test_deep_values_do_not_exhaust_the_stack() -> None:
    value: Any = 1
    for _ in range(5000):
        value = [value]
    assert len(drawn(JsonTree(value))) > 100
