"""Sample questions of the controller."""

from __future__ import annotations

from typing import Any

from acp_tui.controller.mcp.bridge_host import bridge_question
from acp_tui.controller.permission_gate import offer_rules
from acp_tui.controller.user_questions import Question
from acp_tui.permissions.decision import decide
from acp_tui.permissions.rule_proposals import parse_spec
from acp_tui.permissions.rules import AgentIdentity
from acp_tui.permissions.subject import PathContext, Subject
from acp_tui.permissions.subject_reader import (
    subject_of_call,
    subject_of_command,
    subject_of_mcp_call,
    subject_of_write,
)
from acp_tui.session.mcp_tool import McpTool
from acp_tui.session.state import Content, Diff, Location, PermissionOption, ToolCall

HOME = "/home/ada"
CWD = f"{HOME}/my-project"
PLACE = PathContext(CWD, [CWD], lambda path: path)

YES = PermissionOption("y", "Yes", "allow_once")
ALWAYS = PermissionOption("ya", "Yes, and don't ask again for `pytest` commands", "allow_always")
NO = PermissionOption("n", "No, and tell Claude what to do differently", "reject_once")
NEVER = PermissionOption("na", "Never", "reject_always")
GUARD = [
    PermissionOption("allow", "Allow once", "allow_once"),
    PermissionOption("reject", "Reject", "reject_once"),
]

OLD = "\n".join(f"127.0.0.{number}  host{number}" for number in range(60))
NEW = OLD.replace("host12\n", "twelve\n").replace("host40\n", "forty\n")
LOGIN = "def login(user):\n    if user = None:\n        return\n    greet(user)\n"
LOGIN_NEW = LOGIN.replace("user = None", "user is None").replace("return\n", "return False\n")


def permission(
    title: str, kind: str, *, options: list[PermissionOption] | None = None, why: str = "", **call: Any
) -> Question:
    """A permission request of the agent."""
    asked = ToolCall(id=1, at=0, call_id="t1", title=title, kind=kind, **call)
    subject = subject_of_call(asked, PLACE)
    return Question(1, "permission", subject, options or [YES, ALWAYS, NO], why, asked)


def with_rules(question: Question, *allowed: str) -> Question:
    """Offer rules for "always". `allowed` are rules in force, written as for `--allow`."""
    rules = [parse_spec(text, "allow") for text in allowed]
    decision = decide(question.subject, policy="ask", rules=rules, project=CWD)
    question.why = decision.why
    offer_rules(question, decision, AgentIdentity("claude-code"), CWD, CWD)
    return question


def composite() -> Question:
    """A command of four parts, two of which are allowed."""
    sent = {"command": "cd src && git diff | head -50 && npm test > test.log"}
    asked = permission("Show the changes and run the tests", "execute", raw_input=sent)
    return with_rules(asked, "execute:git diff", "execute:head")


def command() -> Question:
    """A wrapped command with environment variables."""
    sent = {"command": "bash -lc 'cd src && pytest -q --maxfail=1'", "env": {"CI": "1"}}
    return permission("Run the tests", "execute", raw_input=sent, why='Policy "ask": commands need your OK')


def dangerous() -> Question:
    """A command that no rule can allow."""
    return permission("Clean up", "execute", raw_input={"command": "rm -rf / --no-preserve-root; echo done"})


def edit() -> Question:
    """An edit of two files, one of them outside the workspace."""
    paths = (f"{CWD}/login.py", "/etc/hosts")
    return permission(
        "Edit login.py",
        "edit",
        content=[Diff(paths[0], LOGIN, LOGIN_NEW), Diff(paths[1], OLD, NEW)],
        locations=[Location(path) for path in paths],
    )


def edit_in_folder() -> Question:
    """An edit of one file in a folder of the project."""
    path = f"{CWD}/src/basket/prices.py"
    diff = Diff(path, LOGIN, LOGIN_NEW)
    return permission("Edit prices.py", "edit", content=[diff], locations=[Location(path)])


LARGE_COMMAND = "make build && " + " ".join(f"step-{number}" for number in range(80))
LARGE_FACTS = [
    "/srv/else is outside the workspace",
    LARGE_COMMAND,
    "/srv/else outside the workspace",
    "DEMO=1 may change what the command does",
    "CI=1",
    *(f"{CWD}/module_{number}.py +1 −1" for number in range(1, 6)),
]
"""What the dialog shows of `large` before it can be answered."""


def large() -> Question:
    """A long command in another folder, with environment variables and several diffs."""
    old = "".join(f"line {number}\n" for number in range(40))
    paths = [f"{CWD}/module_{number}.py" for number in range(1, 6)]
    sent = {"command": LARGE_COMMAND, "env": {"DEMO": "1", "CI": "1"}, "cwd": "/srv/else"}
    return permission(
        "Build",
        "execute",
        raw_input=sent,
        content=[Diff(path, old, old.replace("line 5\n", "five\n")) for path in paths],
        locations=[Location(path) for path in paths],
    )


def many_options() -> Question:
    """More than nine options, several of one kind, one of an unknown kind."""
    kinds = ["allow_once", "allow_once", "allow_always", "reject_once", "reject_always", "perhaps"]
    words = "rather long words that say what would be done if this one were taken"
    options = [
        PermissionOption(str(number), f"Option {number}: {words}", kind)
        for number, kind in enumerate([*kinds, *kinds], 1)
    ]
    plan = Content("text", text="# Plan\n1. Find the bug\n2. Mend it")
    return permission(
        "Ready to code?", "switch_mode", content=[plan], raw_input={"plan": "…"}, options=options
    )


def unclear() -> Question:
    """An MCP tool call described only by its raw input."""
    return permission("create_issue", "other", raw_input={"title": "It is broken", "labels": ["bug"]})


def guarded_write() -> Question:
    """The agent asks acp-tui to write a sensitive file outside the workspace."""
    subject = subject_of_write(f"{HOME}/.npmrc", inside=False, sensitive="may hold a token")
    return Question(2, "write", subject, GUARD, "", old_text="registry=a\n", new_text="registry=b\ntoken=c\n")


def guarded_command() -> Question:
    """The agent asks acp-tui to run a program in another folder."""
    env = {"LD_PRELOAD": "/tmp/x.so"}
    subject = subject_of_command("make", ["install"], cwd="/usr/src", env=env, context=PLACE)
    return Question(3, "command", subject, GUARD, "")


def own_tool() -> Question:
    """The agent asks acp-tui to open a page."""
    url = "https://docs.example.org:8443/a/long/path/that/does/not/fit/into/a/line?query=1#fragment"
    subject = Subject(
        kind="mcp",
        description="use `open_url` of acp-tui's own MCP server",
        server="acp-tui",
        tool="open_url",
        always_ask="it opens a page in your browser",
    )
    call = ToolCall(id=1, at=0, call_id="t1", title=url, content=[Content("text", url)])
    question = Question(None, "tool", subject, GUARD, "", call)
    question.facts = (("host", "docs.example.org"), ("address", url))
    return question


def bridged_call(arguments: Any, always_ask: str | None = None) -> Question:
    """A call of an MCP tool that passes the bridge."""
    tool = McpTool("tickets", "close", "name", is_title=True)
    subject = subject_of_mcp_call(tool.server, tool.name, arguments, PLACE).evolve(always_ask=always_ask)
    return with_rules(bridge_question(tool, arguments, subject, 50))
