from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.config.validators import POLICIES, Policy
from acp_tui.controller.user_questions import choose_option
from acp_tui.permissions.decision import decide
from acp_tui.permissions.rule_matching import matches
from acp_tui.permissions.rule_proposals import parse_spec
from acp_tui.permissions.rules import AgentIdentity, Rule, describe_match
from acp_tui.permissions.subject import KINDS, Subject
from acp_tui.permissions.subject_reader import subject_of_kind, subject_of_read, subject_of_write
from acp_tui.session.state import PermissionOption
from tests.support.permissions import PLACE, PROJECT, command, file, narrowest_rule, subject_of, terminal

FOREIGN = "/etc/hosts"
A = AgentIdentity("a")
ROWS: dict[str, tuple[list[Subject], str]] = {
    "fs/read inside": ([subject_of_read(f"{PROJECT}/a", inside=True)], "allow allow allow allow allow"),
    "permission: read, search, think": (
        [
            file("a", "read"),
            file("a", "search"),
            subject_of({"kind": "search"}),
            subject_of({"kind": "think"}),
        ],
        "reject allow ask allow allow",
    ),
    "changes inside": (
        [file("a"), file("a", "delete"), file("a", "move"), subject_of_write(f"{PROJECT}/a", inside=True)],
        "reject reject ask allow allow",
    ),
    "commands": (
        [command("ls"), command("ls; wc"), terminal("ls"), terminal("ls", env={"A": "b"})],
        "reject reject ask ask allow",
    ),
    "other requests": (
        [
            subject_of({"kind": "fetch"}),
            subject_of({"kind": "other"}),
            subject_of({"kind": "dance"}),
            subject_of({"kind": "switch_mode"}),
            subject_of({"name": "mcp__a__b"}),
            subject_of({"kind": "edit"}),
            subject_of({"kind": "read"}),
            subject_of({"kind": "execute", "title": "ls"}),
        ],
        "reject reject ask ask allow",
    ),
    "outside, sensitive, dangerous": (
        [
            file(FOREIGN, "read"),
            file(FOREIGN),
            file(".env", "read"),
            file(".env"),
            subject_of_read(FOREIGN, inside=False),
            subject_of_read(f"{PROJECT}/.env", inside=True, sensitive="may contain passwords"),
            subject_of_write(FOREIGN, inside=False),
            command("rm -rf /"),
            subject_of({"kind": "execute", "title": "rm -rf ~"}),
            command("cat .env"),
            terminal("cat", "sub/.env"),
            terminal("ls", cwd="/etc"),
            subject_of(
                {"kind": "execute", "rawInput": {"command": "cat .env"}, "locations": [{"path": ".env"}]}
            ),
        ],
        "reject reject ask ask ask",
    ),
}
CASES = [
    (subject, policy, answer)
    for subjects, answers in ROWS.values()
    for subject in subjects
    for policy, answer in zip(POLICIES, answers.split(), strict=True)
]
SUBJECTS = [subject for subjects, _ in ROWS.values() for subject in subjects]


@pytest.mark.parametrize(("subject", "policy", "answer"), CASES)
def test_each_policy_gives_the_answer_in_the_table(subject: Subject, policy: Policy, answer: str) -> None:
    decision = decide(subject, policy=policy, project=PROJECT)
    assert (decision.answer, decision.by) == (answer, "policy")
    assert f'olicy "{policy}"' in decision.why


def test_ask_becomes_reject_if_nobody_can_be_asked() -> None:
    decision = decide(command("ls"), policy="ask", interactive=False)
    assert decision.answer == "reject"
    assert decision.why == 'Policy "ask": commands need your OK, but there is nobody to ask'


def test_the_reason_names_what_makes_a_request_dangerous() -> None:
    assert decide(command("rm -rf /"), policy="yolo").why.endswith("it deletes everything on this machine")
    assert "/etc/hosts is outside the workspace" in decide(file(FOREIGN), policy="yolo").why
    assert "␛" in decide(file("/etc/\x1b"), policy="yolo").why


@pytest.mark.parametrize("kind", [*KINDS, "dance", None])
@pytest.mark.parametrize(
    "raw",
    [
        {"command": "rm -rf /"},
        {"cmd": ["rm", "-rf", "/"]},
        {"input": {"command": "rm -rf /"}},
        {"commands": ["ls", "rm -rf /"]},
        '{"command": "rm -rf /"}',
    ],
)
def test_a_command_in_the_raw_input_makes_any_kind_an_execute(kind: str | None, raw: Any) -> None:
    subject = subject_of({"kind": kind or "other", "title": "Look around", "rawInput": raw})
    assert subject.kind == "execute"
    assert [decide(subject, policy=policy).answer for policy in POLICIES] == [
        *("reject", "reject"),
        *("ask", "ask", "ask"),
    ]


@pytest.mark.parametrize("kind", ["read", "search", "think"])
def test_a_command_with_a_reading_kind_is_still_a_command(kind: str) -> None:
    subject = subject_of({"kind": kind, "rawInput": {"command": "touch x"}})
    assert decide(subject, policy="read-only").answer == "reject"
    assert decide(subject, policy="accept-edits").answer == "ask"


@pytest.mark.parametrize("kind", ["read", "search", "think", "fetch", "other"])
def test_a_diff_with_a_reading_kind_is_still_a_change(kind: str) -> None:
    diff = {"type": "diff", "path": f"{PROJECT}/a", "oldText": "a", "newText": "b"}
    assert decide(subject_of({"kind": kind, "content": [diff]}), policy="read-only").answer == "reject"


@pytest.mark.parametrize("kind", ["delete", "move", "execute"])
def test_a_diff_with_another_changing_kind_is_still_rejected_as_an_edit(kind: str) -> None:
    diff = {"type": "diff", "path": f"{PROJECT}/locked/a", "oldText": "a", "newText": "b"}
    subject = subject_of(
        {"kind": kind, "content": [diff], "rawInput": {"command": "ls"} if kind == "execute" else {}}
    )
    for spec in ("edit:locked/**", "edit", kind):
        rules = [parse_spec(spec, "reject")]
        assert decide(subject, policy="yolo", rules=rules, project=PROJECT).answer == "reject"
    assert matches(parse_spec(kind, "allow"), subject, project=PROJECT) == "no"


def test_a_dangerous_command_in_raw_input_text_is_asked_about() -> None:
    assert decide(subject_of({"kind": "think", "rawInput": "rm -rf /"}), policy="yolo").answer == "ask"


def test_an_editor_tool_with_a_command_field_is_an_edit() -> None:
    raw = {"command": "str_replace", "path": f"{PROJECT}/a", "old_str": "a", "new_str": "b"}
    subject = subject_of({"kind": "edit", "rawInput": raw})
    assert (subject.kind, subject.paths, subject.certain) == ("edit", [f"{PROJECT}/a"], True)


LS = Rule(decision="allow", kind="execute", command=("ls",))
NO_LS = Rule(decision="reject", kind="execute", command=("ls",))


@pytest.mark.parametrize(
    ("policy", "answer"),
    [
        ("deny", "reject"),
        ("read-only", "reject"),
        ("ask", "allow"),
        ("accept-edits", "allow"),
        ("yolo", "allow"),
    ],
)
def test_remembered_rules_allow_what_the_policy_asks_about(policy: Policy, answer: str) -> None:
    assert decide(command("ls"), policy=policy, rules=[LS]).answer == answer


@pytest.mark.parametrize("policy", POLICIES)
def test_run_rules_and_reject_rules_apply_under_every_policy(policy: Policy) -> None:
    assert decide(command("ls"), policy=policy, run_rules=[LS]).answer == "allow"
    assert decide(command("ls"), policy=policy, run_rules=[NO_LS]).answer == "reject"
    assert decide(command("ls"), policy=policy, run_rules=[LS], rules=[NO_LS]).answer == "reject"


def test_the_decision_names_its_rule() -> None:
    decision = decide(command("ls"), policy="ask", rules=[LS])
    assert decision.rule is LS
    assert decision.by == "rule"
    assert decision.why == 'allowed by rule "always allow commands that begin with `ls` in this session"'


def test_rules_of_another_agent_or_project_do_not_apply() -> None:
    here = LS.evolve(scope="project", project=PROJECT)
    assert decide(command("ls"), policy="ask", rules=[here], project=PROJECT).answer == "allow"
    assert decide(command("ls"), policy="ask", rules=[here], project="/other").answer == "ask"
    assert decide(command("ls"), policy="ask", rules=[LS.evolve(agent="a")], agent=A).answer == "allow"
    assert (
        decide(command("ls"), policy="ask", rules=[LS.evolve(agent="a")], agent=AgentIdentity("b")).answer
        == "ask"
    )


def test_a_possible_match_of_a_reject_rule_is_asked_about() -> None:
    decision = decide(command("$X"), policy="yolo", rules=[NO_LS])
    assert (decision.answer, decision.by, decision.rule) == ("ask", "rule", NO_LS)
    assert decide(command("$X"), policy="yolo", rules=[NO_LS], interactive=False).answer == "reject"
    assert decide(command("$X"), policy="yolo").answer == "allow"
    assert decide(command("$X"), policy="deny", rules=[NO_LS]).by == "policy"
    all_commands = parse_spec("execute", "allow")
    assert decide(command("$X"), policy="deny", run_rules=[all_commands], rules=[NO_LS]).answer == "reject"
    assert decide(command("$X"), policy="yolo", run_rules=[all_commands], rules=[NO_LS]).answer == "ask"


def test_a_dangerous_command_can_be_rejected_by_a_rule_but_not_allowed() -> None:
    subject = command("rm -rf /")
    all_commands = parse_spec("execute", "allow")
    assert decide(subject, policy="yolo", run_rules=[all_commands]).answer == "ask"
    assert decide(subject, policy="yolo", run_rules=[parse_spec("execute:rm", "reject")]).answer == "reject"


# --------------------------------------------------------------------------- properties

SPECS = st.sampled_from(
    [
        "edit",
        "edit:**",
        "edit:/**",
        "read",
        "read:/**",
        "execute",
        "execute:ls",
        "execute:rm",
        "mcp",
        "mcp:a",
        "other",
    ]
)
RULES = st.lists(st.builds(parse_spec, SPECS, st.sampled_from(["allow", "reject"])), max_size=5)


@given(st.sampled_from(SUBJECTS), st.sampled_from(POLICIES), RULES, RULES)
def test_reject_rules_never_make_a_decision_less_strict(
    subject: Subject, policy: Policy, rules: list[Rule], run_rules: list[Rule]
) -> None:
    arguments: dict[str, Any] = {"policy": policy, "project": PROJECT}
    order = ["reject", "ask", "allow"]
    without = decide(
        subject,
        rules=[rule for rule in rules if rule.decision == "allow"],
        run_rules=[rule for rule in run_rules if rule.decision == "allow"],
        **arguments,
    )
    decision = decide(subject, rules=rules, run_rules=run_rules, **arguments)
    assert order.index(decision.answer) <= order.index(without.answer)
    if any(rule.decision == "reject" and matches(rule, subject, project=PROJECT) == "yes" for rule in rules):
        assert decision.answer == "reject"


@given(st.sampled_from(SUBJECTS), st.sampled_from(POLICIES), RULES)
def test_dangerous_requests_are_never_allowed(subject: Subject, policy: Policy, rules: list[Rule]) -> None:
    dangerous = subject.evolve(dangerous="it explodes")
    assert decide(dangerous, policy=policy, rules=rules, run_rules=rules, project=PROJECT).answer != "allow"


@given(st.text(max_size=30), st.sampled_from(POLICIES), RULES, st.booleans())
def test_every_command_gets_a_decision(
    line: str, policy: Policy, rules: list[Rule], interactive: bool
) -> None:
    decision = decide(command(line), policy=policy, rules=rules, project=PROJECT, interactive=interactive)
    assert decision.why
    assert interactive or decision.answer != "ask"


# --------------------------------------------------------------------------- the agent's options


def options(*kinds: str) -> list[PermissionOption]:
    return [PermissionOption(f"{kind}-{at}", kind, kind) for at, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("kinds", "allow_option", "reject_option"),
    [
        (("allow_once", "allow_always", "reject_once"), "allow_once-0", "reject_once-2"),
        (("allow_always", "allow_once"), "allow_once-1", None),
        (("allow_once", "allow_once", "reject_once"), None, "reject_once-2"),
        (("allow_always", "reject_always"), None, None),
        ((), None, None),
    ],
)
def test_the_only_option_for_once_is_chosen(
    kinds: tuple[str, ...], allow_option: str | None, reject_option: str | None
) -> None:
    offered = options(*kinds)
    chosen = [choose_option(offered, allow) for allow in (True, False)]
    assert [option and option.id for option in chosen] == [allow_option, reject_option]


# --------------------------------------------------------------------------- proposals


@pytest.mark.parametrize(
    ("subject", "rule"),
    [
        (command("npm run build"), "exactly `npm run build`"),
        (command("ls"), "exactly `ls`"),
        (command("python3.12 -c x"), "exactly `python3.12 -c x`"),
        (command("rm x"), "exactly `rm x`"),
        (command("ls; wc"), None),
        (command("rm -rf /"), None),
        (terminal("ls", cwd="/etc"), None),
        (file("src/a/b.py"), "editing src/a/b.py"),
        (file("a[b]*"), "editing a[[]b][*]"),
        (file(".env"), "editing .env"),
        (file(FOREIGN), "editing /etc/hosts"),
        (subject_of_kind("edit", ["src/a", "src/b"], context=PLACE), "editing src/**"),
        (subject_of({"name": "mcp__s__t"}), "`t` of the MCP server s"),
        (subject_of({"kind": "fetch"}), "fetching from the network"),
        (subject_of({"kind": "other"}), None),
        (subject_of({"kind": "edit"}), None),
    ],
)
def test_the_narrowest_rule_is_proposed(subject: Subject, rule: str | None) -> None:
    found = narrowest_rule(subject, decision="allow", project=PROJECT)
    assert (describe_match(found) if found else None) == rule


@given(
    st.sampled_from(SUBJECTS), st.sampled_from(["allow", "reject"]), st.sampled_from(["session", "project"])
)
def test_a_proposed_rule_decides_its_own_request(subject: Subject, decision: Any, scope: Any) -> None:
    arguments: dict[str, Any] = {"decision": decision, "scope": scope, "agent": A, "project": PROJECT}
    rule = narrowest_rule(subject, **arguments)
    if rule is not None:
        assert decide(subject, policy="ask", rules=[rule], agent=A, project=PROJECT).answer == decision
