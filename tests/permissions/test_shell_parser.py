from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.permissions.commands.shell_parser import parse_argv, parse_command_line


def parts(line: str) -> list[str]:
    return [
        " ".join(word.text for word in part.words) for part in parse_command_line(line).parts if part.words
    ]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("a; b && c || d | e & f\ng", ["a", "b", "c", "d", "e", "f", "g"]),
        ("a |& b; (c; d); { e; f; }", ["a", "b", "c", "d", "e", "f"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("for i in 1 2; do b $i; done", ["b $i"]),
        ("! a; X=1 Y=$(b) c", ["a", "b", "c"]),
        ("a > x 2>&1 < y 2> /dev/null >> z &> w b", ["a b"]),
        ("a \"$(b 'c d')\" `e` ${f:-$(g)}", ["b c d", "e", "g"]),
        ("a <(b) >(c)", ["b", "c", "a <(…) <(…)"]),
        ("a # b; c\nd", ["a", "d"]),
        ("a\\\nb c\\ d", ["ab c d"]),
        ("'a b' \"c d\" e'f'\"g\"", ["a b c d efg"]),
        ("cat <<'EOF'\nx; y $(z)\nEOF\nb", ["cat", "b"]),
        ("cat <<-A <<B\nx\n\tA\ny\nB\nb", ["cat", "b"]),
        ("a <<< 'x; y'; b", ["a", "b"]),
        ("echo $((1 + 2))", ["1 + 2", "echo $((1 + 2))"]),
    ],
)
def test_every_command_of_a_line_is_found(line: str, wanted: list[str]) -> None:
    assert [part for part in parts(line) if part in wanted] == wanted
    assert parse_command_line(line).problem is None


@pytest.mark.parametrize(
    "line",
    [
        "sudo -u root git push",
        "sudo -nu root A=1 git push",
        "env -i -u X A=1 git push",
        "nohup nice -n 5 git push",
        "timeout -k 5 10 git push",
        "time -p git push",
        "stdbuf -oL git push",
        "xargs -n 1 git push",
        "xargs -i git push",
        "sudo --user root --preserve-env -- git push",
        "timeout --signal=9 5 git push",
        "command git push",
        "exec -a x git push",
        "sh -c 'git push'",
        "bash -euo pipefail -c 'cd x && git push'",
        "/bin/zsh -lc \"sh -c 'git push'\"",
        "eval git push",
        "eval 'git push'",
        "find . -name x -exec git push \\;",
        "true | (sudo env sh -c 'git push')",
        "$(git push)",
        "busybox git push",
        "setarch x86_64 git push",
        "setarch $(uname -m) --addr-no-randomize git push",
        "setarch -R git push",
        "systemd-run -t git push",
        "systemd-run -H host git push",
        "nsenter -t 1 -W /x git push",
        "chrt -d -T 1 -P 2 -D 3 0 git push",
        "strace -b execve -X raw git push",
        "[ -f x ] && git push",
        "[[ -f x ]] && git push",
        'echo "a$\'"; git push; echo "\'"',
        'echo "`echo \\"it\'s\\"; git push; echo \\"it\'s\\"`"',
        "echo 'a\\'; git push; echo 'b'",
        'echo "a\\\\"; git push; echo "b"',
        "echo a\\\\; git push",
        "find . -exec ls {} + -exec git push \\;",
    ],
)
def test_commands_are_found_behind_wrapper_programs_and_shells(line: str) -> None:
    assert any(part.startswith("git push") for part in parts(line))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("$X push", "name of a command"),
        ("g{it,x} push", "name of a command"),
        ("/usr/bin/g?t push", "name of a command"),
        ("sudo $X push", "not known in advance"),
        ('sh -c "$X"', "not known in advance"),
        ("eval $X", "not known in advance"),
        ("env -S 'git push'", "is not known"),
        ("env -vS 'git push'", "is not known"),
        ("env --split-string='git push'", "is not known"),
        ("flock x -c 'git push'", "is not known"),
        ("sudo --close-from 3 git push", "is not known"),
        ("ssh host git push", "is not known"),
        ("case a in b) git push;; esac", "case"),
        ("f() { git push; }; f", "defines"),
        ("a=(git push)", "defines"),
        ("cat <<EOF\n$(git push)\nEOF", "here-document"),
        ("cat <<EOF\nx", "here-document"),
        ("a 'b", "not closed"),
        ('a "b', "not closed"),
        ("a `b", "not closed"),
        ("(a", "not closed"),
        ("a)", "do not match"),
        ("a >", "no target"),
        ("echo git push | sh", "reads is not known"),
        ("bash <<'EOF'\ngit push\nEOF", "reads is not known"),
        ("bash -s <<< 'git push'", "reads is not known"),
        ("sh <(echo git push)", "reads is not known"),
        ("echo \"${a:-it's}\"; git push; echo 'x'", "in two ways"),
    ],
)
def test_syntax_that_may_hide_a_command_is_reported(line: str, why: str) -> None:
    assert why in (parse_command_line(line).problem or "")


@pytest.mark.parametrize("piece", ["(", "${a:-", '"$(', "sudo ", "eval ", "find -exec ", "`\\`", "<("])
def test_deeply_nested_syntax_is_reported(piece: str) -> None:
    assert parse_command_line(piece * 2000 + "git push").problem


def test_a_line_that_is_too_long_is_reported() -> None:
    assert parse_command_line("a " * 40_000).problem == "it is too long"


def test_operators_in_arguments_without_a_shell_are_text() -> None:
    line = parse_argv(("git", "commit", "-m", "a; git push"))
    assert [part.name for part in line.parts] == ["git"]
    assert line.problem is None


def test_operators_in_arguments_of_a_shell_are_parsed() -> None:
    assert "rm" in [part.name for part in parse_argv(("/bin/sh", "-c", "a; rm b")).parts]


@given(st.text(alphabet="ab ;&|<>$`'\"\\\n(){}#=-!ceh\t", max_size=60))
def test_any_line_is_parsed_without_an_error(line: str) -> None:
    parse_command_line(line)


@given(
    st.lists(st.sampled_from(["ls", "git push", "echo 'a;b'", 'x "y"']), min_size=1, max_size=5), st.data()
)
def test_every_one_of_several_joined_commands_is_found(commands: list[str], data: st.DataObject) -> None:
    line = commands[0]
    for command in commands[1:]:
        line += data.draw(st.sampled_from(["; ", " && ", "||", " | ", "\n", " & "])) + command
    assert len(parts(line)) == len(commands)
