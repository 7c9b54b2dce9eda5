"""The rules that "always" offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.permissions.decision import decide
from acp_tui.permissions.rule_matching import matches
from acp_tui.permissions.rule_proposals import rule_ladders, scoped_rule, wider_rules
from acp_tui.permissions.rules import AgentIdentity, Rule, describe_choice, describe_effect
from acp_tui.permissions.subject_reader import subject_of_kind
from tests.permissions.corpora import composite_cases
from tests.support.permissions import PLACE, PROJECT, command, file, subject_of, terminal

if TYPE_CHECKING:
    from acp_tui.permissions.rule_proposals import RuleLadder
    from acp_tui.permissions.subject import Subject

AGENT = AgentIdentity("a")
FOREIGN = "/etc/hosts"


def ladders(subject: Subject, rules: Any = (), answer: Any = "allow") -> list[RuleLadder]:
    decision = decide(subject, policy="ask", rules=rules, project=PROJECT)
    return rule_ladders(subject, decision, answer=answer, scope="project", agent=AGENT, project=PROJECT)


def files(*paths: str) -> Subject:
    return subject_of_kind("edit", paths, context=PLACE)


def test_no_rule_for_the_root_folder_is_offered() -> None:
    assert not any(rule.path == "/" for ladder in ladders(files("/")) for rule in ladder.rules)


def choices(subject: Subject) -> list[list[str]]:
    return [[describe_choice(rule) for rule in ladder.rules] for ladder in ladders(subject)]


@pytest.mark.parametrize(
    ("subject", "offered"),
    [
        (command("git status"), "`git status` exactly > `git status …` > `git …` > any command"),
        (command("ls"), "`ls` exactly > `ls …` > any command"),
        (
            command("npm run x -- y"),
            "`npm run x -- y` exactly > `npm run x -- y …` > `npm run …` > any command",
        ),
        (
            command("git -C src diff"),
            "`git -C src diff` exactly > `git -C src diff …` > `git …` > any command",
        ),
        (command("uv run x -q"), "`uv run x -q` exactly > `uv run x -q …` > `uv run x …` > any command"),
        (command("uv run python x.py"), "`uv run python x.py` exactly > any command"),
        (command("uv tool run x"), "`uv tool run x` exactly > `uv tool run x …` > any command"),
        (command("npm init x"), "`npm init x` exactly > `npm init x …` > any command"),
        (command("tsx x.ts"), "`tsx x.ts` exactly > any command"),
        (command("PYTHON3 x.py"), "`PYTHON3 x.py` exactly > any command"),
        (command("npx x"), "`npx x` exactly > any command"),
        (command("bash x.sh"), "`bash x.sh` exactly > any command"),
        (command("rm x"), "`rm x` exactly > any command"),
        (command("cat .env"), "`cat .env` exactly"),
        (command("git config x"), "`git config x` exactly > `git config x …` > `git config …` > any command"),
        (file("src/a/b.py"), "edit src/a/b.py > edit anything in src/a/ > edit any file in the workspace"),
        (file("a.py", "delete"), "delete a.py > delete any file in the workspace"),
        (file(".env"), "edit .env"),
        (file(FOREIGN), "edit /etc/hosts"),
        (files("src/a", "src/b"), "edit anything in src/ > edit any file in the workspace"),
        (files("a", "src/b"), "edit any file in the workspace"),
        (subject_of({"name": "mcp__s__t"}), "t of the MCP server s > any tool of the MCP server s"),
        (subject_of({"kind": "fetch"}), "fetch anything from the network"),
        (subject_of({"kind": "search"}), "search anything in the workspace"),
    ],
)
def test_a_ladder_leads_from_exactly_this_to_anything(subject: Subject, offered: str) -> None:
    assert choices(subject) == [offered.split(" > ")]


@pytest.mark.parametrize(
    "subject",
    [
        command("rm -rf /"),
        command("A=1 make"),
        command("make", env={"A": "1"}),
        command("git diff $(x)"),
        command("git diff && x $X"),
        command("git diff | sh"),
        command("cd src; git diff"),
        command("make && git diff > a"),
        terminal("ls", cwd="/etc"),
        subject_of({"kind": "other"}),
        subject_of({"kind": "edit"}),
        subject_of({"kind": "execute", "title": "ls"}),
    ],
    ids=lambda subject: subject.description,
)
def test_no_rule_is_offered_that_would_have_to_be_very_wide(subject: Subject) -> None:
    assert ladders(subject) == []


def test_a_composite_has_a_ladder_for_each_new_part() -> None:
    known = Rule(decision="allow", kind="execute", command=("git", "diff"))
    subject = command("git diff | sort > src/out && npm test")
    assert [ladder.part.part_text for ladder in ladders(subject, [known])] == [
        *("sort", "edit src/out", "npm test"),
    ]
    assert describe_choice(ladders(subject, [known])[1].rules[0]) == "edit src/out"


CORPUS = [case for case in composite_cases() if case.policy == "ask" and case.answer == "ask"]


def test_one_rule_of_each_ladder_allows_the_same_request_next_time() -> None:
    offered = 0
    for case in CORPUS:
        subject = command(case.line)
        found = ladders(subject, case.rules)
        offered += bool(found)
        for pick in (0, -1) if found else ():
            rules = [*case.rules, *(ladder.rules[pick] for ladder in found)]
            decision = decide(subject, policy="ask", rules=rules, agent=AGENT, project=PROJECT)
            assert decision.answer == "allow", case.line
        for ladder in found:
            assert all(matches(rule, ladder.part, project=PROJECT) == "yes" for rule in ladder.rules)
    assert offered > 50


def test_one_ladder_is_enough_to_reject_the_same_request_next_time() -> None:
    for case in CORPUS:
        subject = command(case.line)
        for ladder in ladders(subject, case.rules, "reject"):
            rules = [*case.rules, ladder.rules[0]]
            decision = decide(subject, policy="yolo", rules=rules, agent=AGENT, project=PROJECT)
            assert decision.answer == "reject", case.line


def test_scope_and_agent_of_a_rule_can_be_changed() -> None:
    (ladder,) = ladders(command("ls"))
    rule = ladder.rules[0]
    assert (rule.scope, rule.project, rule.agent) == ("project", PROJECT, "a")
    everywhere = scoped_rule(rule, "everywhere", None, PROJECT)
    assert (everywhere.scope, everywhere.project, everywhere.agent) == ("everywhere", None, None)


def test_a_remembered_rule_can_be_widened() -> None:
    rule = Rule(decision="allow", kind="execute", command=("git", "log", "-1"), exact=True, id="x")
    assert [describe_choice(wider) for wider in wider_rules(rule)] == [
        *("`git log -1` exactly", "`git log -1 …`", "`git log …`", "`git …`", "any command"),
    ]
    assert {wider.id for wider in wider_rules(rule)} == {"x"}


@pytest.mark.parametrize(
    ("rule", "effect"),
    [
        (
            Rule(decision="allow", kind="execute", command=("ls",), exact=True, agent="a"),
            "Exactly `ls` will be allowed without asking in this session, for a.",
        ),
        (
            Rule(decision="allow", kind="execute", command=("ls",), scope="project", project=PROJECT),
            (
                "Commands that begin with `ls` will be allowed without asking in project."
                " You are still asked about risky arguments."
            ),
        ),
        (
            Rule(decision="reject", kind="execute", scope="everywhere"),
            "Running any command will be rejected without asking everywhere.",
        ),
        (
            Rule(decision="allow", kind="edit", scope="everywhere"),
            (
                "Editing files in the workspace will be allowed without asking everywhere."
                " You are still asked about sensitive files."
            ),
        ),
    ],
)
def test_the_effect_of_a_rule_is_said_in_a_sentence(rule: Rule, effect: str) -> None:
    assert describe_effect(rule) == effect


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("some-tool", "`some-tool` exactly > any command"),
        ("some-tool x.c", "`some-tool x.c` exactly > any command"),
        ("some-tool --flag x", "`some-tool --flag x` exactly > any command"),
        (
            "some-tool build x",
            "`some-tool build x` exactly > `some-tool build x …` > `some-tool build …` > any command",
        ),
        ("./run.sh all", "`./run.sh all` exactly > `./run.sh all …` > any command"),
        ("gcc main.c", "`gcc main.c` exactly > `gcc main.c …` > `gcc …` > any command"),
        ("pytest -q", "`pytest -q` exactly > `pytest -q …` > `pytest …` > any command"),
        ("make", "`make` exactly > `make …` > any command"),
        ("ls -la", "`ls -la` exactly > `ls -la …` > `ls …` > any command"),
    ],
)
def test_a_program_whose_options_are_unknown_is_not_offered_by_its_name_alone(
    line: str, offered: str
) -> None:
    assert choices(command(line)) == [offered.split(" > ")]
