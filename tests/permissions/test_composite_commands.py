"""Composite commands are judged part by part."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_tui.config.validators import POLICIES
from acp_tui.permissions.commands.composite_reader import split_command
from acp_tui.permissions.decision import Decision, decide
from acp_tui.permissions.rule_proposals import parse_spec
from tests.permissions.corpora import CompositeCase, composite_cases
from tests.support.permissions import PROJECT, command

if TYPE_CHECKING:
    from acp_tui.config.validators import Policy
    from acp_tui.permissions.rules import Rule

RULES = [parse_spec(f"execute:{words}", "allow") for words in ("git status", "git diff", "head", "pytest")]


def judge(line: str, *more: str, policy: Policy = "ask", rules: list[Rule] = RULES) -> Decision:
    """Decide about a line under the rules and further specifications such as "edit:out.txt"."""
    added = [parse_spec(spec.removeprefix("!"), "reject" if spec[0] == "!" else "allow") for spec in more]
    return decide(command(line), policy=policy, rules=[*rules, *added], project=PROJECT)


def new_parts(decision: Decision) -> list[str]:
    return [verdict.part.part_text for verdict in decision.parts if verdict.answer != "allow"]


@pytest.mark.parametrize(
    ("line", "answer", "new"),
    [
        ("git status && git diff", "allow", []),
        ("cd src && git diff | head -50", "allow", []),
        ("pytest -q || echo failed", "ask", ["echo failed"]),
        ("git diff > out.txt", "ask", ["edit out.txt"]),
        ("git diff $(rm x)", "ask", ["git diff $(rm x)"]),
        ("git diff; bash x.sh", "ask", ["bash x.sh"]),
        ("FOO=1 git diff", "ask", ["FOO=1 git diff"]),
    ],
)
def test_a_composite_is_allowed_if_each_part_is(line: str, answer: str, new: list[str]) -> None:
    decision = judge(line)
    assert (decision.answer, new_parts(decision)) == (answer, new)


def test_all_rules_that_allow_a_composite_are_named() -> None:
    decision = judge("git diff | head -5")
    assert decision.why == (
        'allowed by rules "always allow commands that begin with `git diff` in this run" and'
        ' "always allow commands that begin with `head` in this run"'
    )
    assert [rule.command for rule in decision.rules] == [("git", "diff"), ("head",)]


def test_the_new_parts_are_named() -> None:
    assert judge("pytest || echo x").why == 'Policy "ask": commands need your OK; new: `echo x`'
    assert [verdict.why for verdict in judge("pytest || A=1 git diff || b").parts] == [
        'allowed by rule "always allow commands that begin with `pytest` in this run"',
        'new: rule "always allow commands that begin with `git diff` in this run" does not apply: it sets A',
        "new",
    ]


@pytest.mark.parametrize("policy", ["accept-edits", "yolo"])
def test_a_policy_that_allows_edits_allows_redirected_output(policy: Policy) -> None:
    assert judge("git diff > out.txt", policy=policy).answer == "allow"
    assert judge("git diff > /etc/out.txt", policy=policy).answer == "ask"
    assert judge("git diff > .env", policy=policy).answer == "ask"


def test_redirected_output_needs_an_edit_rule_for_the_file() -> None:
    assert judge("git diff > out.txt", "edit:out.txt").answer == "allow"
    assert judge("git diff > out.txt", "edit:other.txt").answer == "ask"
    assert judge("git diff > /tmp/out", "edit").answer == "ask"
    assert judge("git diff > /tmp/out", "edit:/tmp/**").answer == "allow"
    assert judge("cd src && git diff > a.txt", "edit:src/a.txt").answer == "allow"
    assert judge("cd src && git diff > a.txt", "edit:a.txt").answer == "ask"


@pytest.mark.parametrize(
    "line", ["git diff > src/a", "x $(y) > src/a", "if x; then y >> src/a; fi", "(cd src; x &> a)"]
)
def test_a_reject_rule_for_edits_matches_redirected_output(line: str) -> None:
    assert judge(line, "!edit:src/**", policy="yolo").answer == "reject"
    assert judge(line, "!edit", policy="yolo").answer == "reject"
    assert judge(line, "!edit:other", policy="yolo").answer == "allow"


def test_a_reject_rule_for_edits_may_match_a_computed_file() -> None:
    assert judge("x > $FILE", "!edit:src/**", policy="yolo").answer == "ask"
    assert judge("x > /etc/$FILE", policy="yolo").answer == "ask"
    assert judge("x > $FILE", policy="yolo").answer == "allow"


# --------------------------------------------------------------------------- the corpus


CASES = list(composite_cases())


@pytest.mark.parametrize("answer", ["allow", "ask", "reject"])
def test_each_line_of_the_corpus_gets_its_answer(answer: str) -> None:
    for case in CASES:
        if case.answer == answer:
            assert_judged(case)


def assert_judged(case: CompositeCase) -> None:
    decision = decide(command(case.line), policy=case.policy, rules=case.rules, project=PROJECT)
    assert decision.answer == case.answer, case.line
    if case.answer == "ask":
        every = [verdict.part.part_text for verdict in decision.parts]
        assert new_parts(decision) == (every if case.new is None else list(case.new)), case.line


def test_the_corpus_is_large_and_has_every_answer() -> None:
    counts = Counter(case.answer for case in CASES)
    assert counts.total() >= 300
    assert min(counts["allow"], counts["ask"], counts["reject"]) >= 50


# --------------------------------------------------------------------------- properties

PIECES = st.sampled_from([
    *("git status", "git diff", "head -5", "pytest", "npm test", "echo 'a; b'", "rm x", "git push", "x"),
    *("CI=1 pytest", "FOO=1 head", "git diff > src/a", "head 2>&1", "pytest > /tmp/x", "head .env", "sh"),
    *("head /etc/passwd", "xargs rm", "cd src", "export A=1", "git diff $X", "git diff $(rm x)", "head < x"),
    *("rm -rf /", "(head)", "if x; then y; fi", "head > $X", "bash -c 'git diff; rm x'", "tee src/a"),
])  # fmt: skip
OPERATORS = st.sampled_from([" && ", " || ", "; ", " | ", "\n", " & ", " |& ", ";", "&&"])
SPECS = st.sampled_from([
    *("execute", "execute:git", "execute:git diff", "execute:head", "execute:pytest", "execute:rm"),
    *("execute:x", "execute:sh", "execute:xargs", "execute:export", "execute:cd", "edit", "edit:src/**"),
    *("edit:/tmp/**", "execute:git push", "execute:echo", "execute:npm", "execute:bash", "read", "mcp"),
])  # fmt: skip
ALLOW_RULES = st.lists(st.builds(parse_spec, SPECS, st.just("allow")), max_size=12, unique_by=str)
REJECT_RULES = st.lists(st.builds(parse_spec, SPECS, st.just("reject")), max_size=3, unique_by=str)


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Return a composite line and its pieces."""
    pieces = draw(st.lists(PIECES, min_size=1, max_size=4))
    line = pieces[0] + "".join(draw(OPERATORS) + piece for piece in pieces[1:])
    return line, pieces


@given(lines(), ALLOW_RULES, REJECT_RULES, st.sampled_from(POLICIES))
def test_a_rejection_is_never_widened(
    given_line: tuple[str, list[str]], allowing: list[Rule], rejecting: list[Rule], policy: Policy
) -> None:
    order = ["reject", "ask", "allow"]
    line, _ = given_line
    without = judge(line, policy=policy, rules=allowing)
    strict = judge(line, policy=policy, rules=[*allowing, *rejecting])
    assert order.index(strict.answer) <= order.index(without.answer)


@given(lines(), ALLOW_RULES, st.sampled_from(["deny", "read-only", "ask", "accept-edits"]))
def test_a_composite_is_allowed_only_if_each_part_alone_is(
    given_line: tuple[str, list[str]], rules: list[Rule], policy: Policy
) -> None:
    line, pieces = given_line
    if judge(line, policy=policy, rules=rules).answer == "allow":
        assert {judge(piece, policy=policy, rules=rules).answer for piece in pieces} == {"allow"}


@given(lines(), ALLOW_RULES, REJECT_RULES)
def test_each_part_meets_the_reject_rules(
    given_line: tuple[str, list[str]], allowing: list[Rule], rejecting: list[Rule]
) -> None:
    line, pieces = given_line
    rules = [*allowing, *rejecting]
    if any(judge(piece, rules=rules).answer == "reject" for piece in pieces):
        assert judge(line, rules=rules).answer == "reject"


BASH = shutil.which("bash")
SIGNS = st.sampled_from([
    *("a", "b", "c", " ", " ", " ", ";", "&&", "||", "|", "&", "\n", "\t", " > f", " >> g", " 2>&1", " 2> h"),
    *("'a b'", "'", '"', '"c;d"', "$x", "$(c)", "`b`", "#", "!", "(", ")", "{", "}", "\\", "<", ">", "A=1 "),
    *("*", "~", "[", "if ", "fi", "-x", "=", "é", "1", "2", "/dev/null", " <<x\n"),
])  # fmt: skip


@given(st.lists(SIGNS, max_size=12).map("".join))
def test_nothing_in_a_line_is_left_out_of_its_parts(line: str) -> None:
    written = "".join(part.joined_with + part.source for part in split_command(line))
    assert re.sub(r"\s", "", written).startswith(re.sub(r"\s", "", line).removesuffix(";"))


@pytest.mark.skipif(BASH is None, reason="needs bash")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SIGNS, max_size=9).map("".join))
def test_a_real_shell_runs_no_other_commands_and_writes_no_other_files(tmp_path: Path, line: str) -> None:
    parts = split_command(line)
    if any(part.problem for part in parts):
        return
    with TemporaryDirectory(dir=tmp_path) as folder:
        log = tmp_path / "log"
        log.write_text("")
        report = (
            f"command_not_found_handle() {{ printf '%s\\x1f' \"$@\" >> {log}; echo >> {log}; [ $1 = a ]; }}\n"
        )
        subprocess.run(
            [str(BASH), "-c", report + line],
            cwd=folder,
            env={"PATH": "/none"},
            capture_output=True,
            check=False,
        )
        run = {tuple(row.split("\x1f")[:-1]) for row in log.read_text().splitlines()}
        assert run <= {part.words for part in parts}
        assert {path.name for path in Path(folder).iterdir()} <= {
            name for part in parts for name in part.files
        }


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("dpkg -x x.deb out && cat out/y", ("dpkg", "cat")),
        ("dpkg-deb -x x.deb out; cat out/y", ("dpkg-deb", "cat")),
        ("gtar xf a.tar && head -5 b", ("gtar", "head")),
        ("ar x a.deb\ncat b", ("ar", "cat")),
        ("some-unknown-tool x | cat y", ("some-unknown-tool", "cat")),
        ("sudo dpkg -x x.deb out && grep a out/y", ("sudo", "grep")),
    ],
)
def test_after_any_program_that_may_create_files_a_read_is_asked_about(
    line: str, names: tuple[str, ...]
) -> None:
    rules = [parse_spec(f"execute:{name}", "allow") for name in names]
    assert decide(command(line), policy="ask", run_rules=rules, project=PROJECT).answer == "ask"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("npm test && cat out.log", ("npm", "cat")),
        ("make; tail x", ("make", "tail")),
        ("some-unknown-tool x | grep foo", ("some-unknown-tool", "grep")),
        ("sed -n 1,5p a && cat b", ("sed", "cat")),
        ("ruff check src && cat pyproject.toml", ("ruff", "cat")),
        ("git log --oneline | head -5", ("git log", "head")),
    ],
)
def test_after_a_program_that_creates_no_links_a_read_is_allowed(line: str, names: tuple[str, ...]) -> None:
    rules = [parse_spec(f"execute:{name}", "allow") for name in names]
    assert decide(command(line), policy="ask", run_rules=rules, project=PROJECT).answer == "allow"
