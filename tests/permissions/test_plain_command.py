from __future__ import annotations

import re
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.permissions.commands.command_reader import NotPlainError, is_plain_argv, plain_words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git status", ("git", "status")),
        ("  git \t status\n", ("git", "status")),
        ("git commit -m 'a; b && c | $(d)'", ("git", "commit", "-m", "a; b && c | $(d)")),
        ('echo "it\'s" fine', ("echo", "it's", "fine")),
        ("a'b'\"c\"d ''", ("abcd", "")),
        ("FOO/bar.py --x=1 @a %b +c ,d", ("FOO/bar.py", "--x=1", "@a", "%b", "+c", ",d")),
        ("cat größe.txt", ("cat", "größe.txt")),
    ],
)
def test_plain_commands_are_split_into_words(line: str, words: tuple[str, ...]) -> None:
    assert plain_words(line) == words


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("git status; rm -rf ~", "joins commands with `;`"),
        ("git status&&x", "joins commands with `&`"),
        ("git status || x", "joins commands with `|`"),
        ("git status & x", "joins commands with `&`"),
        ("git status\nrm x", "several lines"),
        ("git status\r\nrm x", "several lines"),
        ("git status$(x)", "expansion"),
        ("git `x`", "command substitution"),
        ("git status > x", "redirects"),
        ("git status <(x)", "redirects"),
        ("git$IFS-x", "expansion"),
        ("git \\\n; x", "backslash"),
        ("git\\ status", "backslash"),
        ('git "a`b`"', "contains an expansion"),
        ('git "$x"', "contains an expansion"),
        ('git "a\\"; b"', "contains an expansion"),
        ('git "!!"', "contains an expansion"),
        ("git !!", "`!`"),
        ("git 'open", "not closed"),
        ("git 'two\nlines'", "several lines"),
        ("git 'a\x1bb'", "invisible character"),
        ("git 'a\u202eb'", "invisible character"),
        ("ls *.py", "`*`"),
        ("ls a?", "`?`"),
        ("ls [ab]", "`[`"),
        ("{rm,-rf,x}", "`{`"),
        ("ls ~/x", "`~`"),
        ("git status # x", "comment"),
        ("A=1 git status", "variable"),
        ("=git status", "zsh"),
        ("git\u00a0status", "different ways"),
        ("git\u2003status", "different ways"),
        ("git status\u2028x", "different ways"),
        ("(git status)", "subshell"),
        ("git ^x^y", "`^`"),
        ("", "empty"),
        ("git \x00", "different ways"),
        ("git \ud800", "different ways"),
    ],
)
def test_a_command_with_shell_syntax_is_not_plain(line: str, why: str) -> None:
    with pytest.raises(NotPlainError, match=re.escape(why)):
        plain_words(line)


@given(st.text(alphabet="ab =;&|<>$`'\"\\\n\t(){}[]*?~#!/-é\u00a0", max_size=20))
def test_the_words_of_a_plain_command_equal_those_of_shlex(line: str) -> None:
    try:
        words = plain_words(line)
    except NotPlainError:
        return
    assert list(words) == shlex.split(line)


def test_the_words_of_a_plain_command_equal_those_of_a_shell() -> None:
    lines = ["printf '%s|' a 'b; c' \"d 'e'\" x=y --f=g '$(h)' @i,j:k", "printf '%s|' '' a\"b\"'c'"]
    for line in lines:
        output = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout
        assert output == "".join(f"{word}|" for word in plain_words(line)[2:])


@pytest.mark.parametrize(
    ("argv", "plain"),
    [
        (("git", "status"), True),
        (("git", "commit", "-m", "a; b"), False),
        (("git", "a b"), False),
        (("git", ""), False),
        ((), False),
    ],
)
def test_an_argument_list_is_plain_if_it_needs_no_quotes(argv: tuple[str, ...], plain: bool) -> None:
    assert is_plain_argv(argv) is plain
