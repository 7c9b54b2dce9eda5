"""`acp-tui permissions`: the remembered answers, and what would be answered to a request."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import UserError

if TYPE_CHECKING:
    import argparse

    from acp_tui.permissions.request import PathContext, Subject
    from acp_tui.permissions.rule_store import RuleStore
    from acp_tui.permissions.rules import Rule

EPILOG = """\
examples:
  acp-tui permissions list
  acp-tui permissions revoke 2
  acp-tui permissions explain execute 'git push --force'
  acp-tui permissions explain edit src/app.py --policy accept-edits --reject 'edit:src/**'
  acp-tui permissions explain mcp server/tool --agent claude-code
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    import argparse

    from acp_tui.config.policies import POLICIES
    from acp_tui.permissions.request import KINDS

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    actions = parser.add_subparsers(dest="action", metavar="list | revoke | explain", title="actions")
    actions.add_parser("list", help="show the remembered answers (the default)")

    revoke = actions.add_parser("revoke", help="forget one of them")
    revoke.add_argument("number", metavar="N", help="its number in the list, or its id")

    explain = actions.add_parser("explain", help="say what would be answered to a request, and why")
    explain.add_argument("kind", metavar="KIND", choices=KINDS, help=", ".join(KINDS))
    explain.add_argument(
        "subject", metavar="SUBJECT", nargs="?", default="", help="a path, command or SERVER/TOOL"
    )
    explain.add_argument("--policy", choices=POLICIES, help="only under this policy (default: each)")
    explain.add_argument("--agent", metavar="NAME", help="the agent that asks")
    explain.add_argument("--cwd", type=Path, default=Path(), help="the folder it works in (default: here)")
    explain.add_argument(
        "--add-dir", type=Path, action="append", default=[], metavar="DIR", help="another folder"
    )
    for option in ("--allow", "--reject"):
        explain.add_argument(
            option, action="append", default=[], metavar="KIND[:PATTERN]", help="a rule of the run"
        )


def run(args: argparse.Namespace) -> int:
    """Do it; the exit code."""
    from acp_tui.agents.catalogue import known_agents
    from acp_tui.config.settings import load
    from acp_tui.permissions.rule_store import RuleStore

    rule_store = RuleStore()
    rule_store.catalogue = lambda: known_agents(load(Path()))
    try:
        if args.action == "revoke":
            _revoke(args.number, rule_store)
        elif args.action == "explain":
            _explain(args, rule_store)
        else:
            _list(rule_store)
    finally:
        for notice in rule_store.notices:
            print(f"acp-tui: {notice}", file=sys.stderr)
    return 0


def _list(rule_store: RuleStore) -> None:
    from acp_tui.permissions.rules import describe_rule

    rules = rule_store.rules()
    if not rules:
        print("No answers are remembered.")
    for number, rule in enumerate(rules, start=1):
        unused = "; not used: its agent is not known for certain" if rule_store.is_unused(rule) else ""
        print(f"{number:>3}  {describe_rule(rule)}  ({rule.id}, {_day(rule)}{unused})")


def _revoke(number: str, rule_store: RuleStore) -> None:
    from acp_tui.permissions.rules import describe_rule

    which = int(number) if number.isdecimal() and len(number) < 8 else number  # an id has eight characters
    print(f"Forgotten: {describe_rule(rule_store.revoke(which))}.")


def _explain(args: argparse.Namespace, rule_store: RuleStore) -> None:
    from acp_tui.config.policies import POLICIES
    from acp_tui.permissions.decision import decide
    from acp_tui.permissions.identity import AgentIdentity
    from acp_tui.permissions.rule_spec import parse_spec

    place = _place(args)
    subject = _subject(args.kind, args.subject, place)
    print(f"Asked:  {subject.words}")
    if subject.composite:
        print(f"        no allow rule by leading words matches: {subject.composite}")
    run_rules = [parse_spec(text, "allow") for text in args.allow] + [
        parse_spec(text, "reject") for text in args.reject
    ]
    for policy in [args.policy] if args.policy else POLICIES:
        decision = decide(
            subject,
            policy=policy,
            rules=rule_store.rules(),
            run_rules=run_rules,
            agent=AgentIdentity(args.agent) if args.agent else None,
            project=place.cwd,
        )
        print(f"{policy + ':':<15}{decision.answer:<8}{decision.why}")
    if args.policy is None:
        print("Under `acp-tui exec`, where nobody can be asked, ask is no.")


def _place(args: argparse.Namespace) -> PathContext:
    from acp_tui.permissions.request import PathContext

    roots = [os.path.realpath(directory) for directory in (args.cwd, *args.add_dir)]
    for root in roots:
        if not Path(root).is_dir():
            raise UserError(f"The folder {root} does not exist.", exit_code=2)
    return PathContext(cwd=roots[0], roots=roots, resolve=os.path.realpath)


def _subject(kind: str, text: str, place: PathContext) -> Subject:
    from acp_tui.permissions.request import PATH_KINDS
    from acp_tui.permissions.subject import subject_of_command, subject_of_kind

    if kind == "execute":
        if not text.strip():
            raise UserError(
                "Name the command: acp-tui permissions explain execute 'git status'.", exit_code=2
            )
        return subject_of_command(text, place=place, served=False)
    if kind in PATH_KINDS and kind != "search" and not text:
        raise UserError(f"Name the file: acp-tui permissions explain {kind} PATH.", exit_code=2)
    if kind in PATH_KINDS:
        return subject_of_kind(kind, [text] if text else [], place=place)
    if kind == "mcp":
        server, _, tool = text.partition("/")
        if not (server and tool):
            raise UserError("Name the tool: acp-tui permissions explain mcp SERVER/TOOL.", exit_code=2)
        return subject_of_kind(kind, place=place, server=server, tool=tool)
    return subject_of_kind(kind, place=place)


def _day(rule: Rule) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(rule.created))
