"""Line numbers of the keys in TOML documents."""

from __future__ import annotations

import tomllib
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.config.toml_document import key_lines


def test_lines_of_tables_dotted_keys_and_quoted_keys() -> None:
    text = """# a comment with = and [brackets]
top = 1
a.b."c.d" = 2

[table] # another
key = 3
'quoted key' = 4
[table.below . "it"]
key = 5
"""
    assert key_lines(text) == {
        ("top",): 2,
        ("a",): 3,
        ("a", "b"): 3,
        ("a", "b", "c.d"): 3,
        ("table",): 5,
        ("table", "key"): 6,
        ("table", "quoted key"): 7,
        ("table", "below"): 8,
        ("table", "below", "it"): 8,
        ("table", "below", "it", "key"): 9,
    }


def test_lines_of_arrays_of_tables() -> None:
    text = "[[t]]\nx = 1\n[t.sub]\ny = 2\n\n[[t]]\nx = 3\n[[t.deep]]\nz = 4\n[[t.deep]]\nz = 5\n"
    lines = key_lines(text)
    assert lines["t", 0, "x"] == 2
    assert lines["t", 0, "sub", "y"] == 4
    assert lines["t", 1] == 6
    assert lines["t", 1, "deep", 0, "z"] == 9
    assert lines["t", 1, "deep", 1, "z"] == 11


@pytest.mark.parametrize(
    "value",
    [
        '"""\n[not]\na = 1\n"""',
        "'''\n[not]\na = 1 '' '''",
        '"""ends in quotes\n"""""',
        '"a # b [ \\" ="',
        "'a # b [ \\'",
        '[1, # ]\n "]", [2,\n 3], ]',
        '{ a = "}", b = [1, 2], c = { d = 1 } }',
        "{}",
        "[]",
        "1979-05-27T07:32:00Z # ,",
        '""',
    ],
)
def test_the_key_after_any_value_has_the_right_line(value: str) -> None:
    text = f"first = {value}\nlast = 1\n"
    tomllib.loads(text)
    lines = key_lines(text)
    assert lines["first",] == 1
    assert lines["last",] == text.count("\n")
    assert ("not",) not in lines


def test_lines_of_items_in_arrays_and_inline_tables() -> None:
    lines = key_lines('list = [\n  "a",\n  # no\n  { x = 1,\ty = [\n1] },\n]\n')
    assert lines["list", 0] == 2
    assert lines["list", 1, "x"] == 4
    assert lines["list", 1, "y", 0] == 5


KEYS = st.text(st.sampled_from("ab.-_ #=[]\"'\\é"), min_size=1, max_size=4)
TREES = st.recursive(
    st.just(None),
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(KEYS, below, max_size=3)),
    max_leaves=12,
)


@given(tree=st.dictionaries(KEYS, TREES, max_size=4), style=st.randoms(use_true_random=False))
def test_every_number_in_a_random_document_has_the_right_line(tree: dict[str, Any], style: Any) -> None:
    numbers = count(1000)
    written: dict[tuple[str | int, ...], int] = {}

    def quoted(key: str) -> str:
        escaped = "".join(f"\\u{ord(char):04x}" if char in '"\\' else char for char in key)
        return f'"{escaped}"'

    def inline(value: Any, path: tuple[str | int, ...]) -> str:
        if value is None:
            written[path] = next(numbers)
            return str(written[path])
        if isinstance(value, list):
            gap = style.choice([" ", "\n", " # [,\n"])
            return (
                f"[{gap}" + "".join(f"{inline(item, (*path, i))},{gap}" for i, item in enumerate(value)) + "]"
            )
        pairs = (f"{quoted(key)} = {inline(item, (*path, key))}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"

    def table(items: dict[str, Any], path: tuple[str | int, ...], names: str) -> str:
        plain, tables = [], []
        for key, value in items.items():
            below = (*path, key)
            name = f"{names}{quoted(key)}"
            if isinstance(value, dict) and value and style.random() < 0.6:
                tables.append(f"[{name}]\n" + table(value, below, f"{name} . "))
            elif value and isinstance(value, list) and all(isinstance(v, dict) for v in value):
                tables += [
                    f"[[{name}]]\n" + table(item, (*below, i), f"{name}.") for i, item in enumerate(value)
                ]
            else:
                plain.append(
                    f"{quoted(key)} = {inline(value, below)}\n" + style.choice(["", "\n", "# x = [\n"])
                )
        return "".join(plain + tables)

    text = table(tree, (), "")
    tomllib.loads(text)
    lines = key_lines(text)
    for path, number in written.items():
        assert str(number) in text.split("\n")[lines[path] - 1]
