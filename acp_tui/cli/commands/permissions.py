"""`acp-tui permissions`: lists and revokes remembered answers, and explains decisions."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.cli.options import add_action
from acp_tui.console.messages import print_message
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    import argparse

    from acp_tui.permissions.decision import PartVerdict
    from acp_tui.permissions.rule_store import RuleStore
    from acp_tui.permissions.rules import Rule
    from acp_tui.permissions.subject import PathContext, Subject

EPILOG = """\
examples:
  acp-tui permissions list
  acp-tui permissions revoke 2
  acp-tui permissions explain execute 'git push --force'
  acp-tui permissions explain edit src/app.py --policy accept-edits --reject 'edit:src/**'
  acp-tui permissions explain mcp server/tool --agent claude-code
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    import argparse

    from acp_tui.config.policies import POLICIES
    from acp_tui.permissions.subject import KINDS

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add_action(actions, "list", "list remembered answers (default)")

    revoke = add_action(actions, "revoke", "forget a remembered answer")
    revoke.add_argument("number", metavar="N", help="number in the list, or id")

    explain = add_action(actions, "explain", "show how a request would be answered, and why")
    explain.add_argument("kind", metavar="KIND", choices=KINDS, help=", ".join(KINDS))
    explain.add_argument(
        "subject", metavar="SUBJECT", nargs="?", default="", help="a path, command or SERVER/TOOL"
    )
    explain.add_argument("--policy", choices=POLICIES, help="show only this policy (default: all)")
    explain.add_argument("--agent", metavar="NAME", help="the agent that makes the request")
    explain.add_argument(
        "--cwd", type=Path, default=Path(), metavar="DIR", help="workspace directory (default: current)"
    )
    explain.add_argument(
        "--add-dir",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="another directory the agent may use (repeatable)",
    )
    for option in ("--allow", "--reject"):
        explain.add_argument(
            option, action="append", default=[], metavar="KIND[:PATTERN]", help=f"rule as for `exec {option}`"
        )


def run(args: argparse.Namespace) -> int:
    """Run the chosen action and return the exit code."""
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
            print_message(notice)
    return 0


def _list(rule_store: RuleStore) -> None:
    from acp_tui.permissions.rules import describe_rule

    rules = rule_store.rules()
    if not rules:
        print("No remembered answers.")
    for number, rule in enumerate(rules, start=1):
        unused = "; unused: its agent cannot be identified" if rule_store.is_unused(rule) else ""
        print(f"{number:>3}  {describe_rule(rule)}  ({visible_line(rule.id)}, {_day(rule)}{unused})")


def _revoke(number: str, rule_store: RuleStore) -> None:
    from acp_tui.permissions.rules import describe_rule

    reference = int(number) if number.isdecimal() and len(number) < 8 else number  # ids have eight characters
    print(f"Forgotten: {describe_rule(rule_store.revoke(reference))}.")


def _explain(args: argparse.Namespace, rule_store: RuleStore) -> None:
    from acp_tui.config.policies import POLICIES
    from acp_tui.permissions.agent_identity import AgentIdentity
    from acp_tui.permissions.decision import decide
    from acp_tui.permissions.rule_spec import parse_spec

    context = _path_context(args)
    subject = _subject(args.kind, args.subject, context)
    print(f"Request: {subject.description}")
    if subject.not_plain:
        print(f"         no rule for its words can match: {subject.not_plain}")
    run_rules = [parse_spec(text, "allow") for text in args.allow] + [
        parse_spec(text, "reject") for text in args.reject
    ]
    parts: tuple[PartVerdict, ...] = ()
    for policy in [args.policy] if args.policy else POLICIES:
        decision = decide(
            subject,
            policy=policy,
            rules=rule_store.rules(),
            run_rules=run_rules,
            agent=AgentIdentity(args.agent) if args.agent else None,
            project=context.cwd,
        )
        why = visible_line(decision.why)
        print(f"{policy + ':':<15}{decision.answer:<8}{why[:1].upper()}{why[1:]}")
        if policy == (args.policy or "ask"):
            parts = decision.parts
    if parts:
        print(f'Its parts under policy "{args.policy or "ask"}":')
    for verdict in parts:
        why = visible_line(verdict.why)
        print(f"  {visible_line(verdict.part.part_text)}")
        print(f"{'':<15}{verdict.answer:<8}{why[:1].upper()}{why[1:]}")
    if args.policy is None:
        print('Under `acp-tui exec`, "ask" means "reject".')


def _path_context(args: argparse.Namespace) -> PathContext:
    from acp_tui.permissions.subject import PathContext

    roots = [os.path.realpath(directory) for directory in (args.cwd, *args.add_dir)]
    for root in roots:
        if not Path(root).is_dir():
            raise UserError(f"The directory {root} does not exist.", exit_code=2)
    return PathContext(cwd=roots[0], roots=roots, resolve=os.path.realpath)


def _subject(kind: str, text: str, context: PathContext) -> Subject:
    from acp_tui.permissions.subject import PATH_KINDS
    from acp_tui.permissions.subject_reader import subject_of_command, subject_of_kind

    if kind == "execute":
        if not text.strip():
            raise UserError(
                "Name the command: acp-tui permissions explain execute 'git status'.", exit_code=2
            )
        return subject_of_command(text, context=context, served=False)
    if kind in PATH_KINDS and kind != "search" and not text:
        raise UserError(f"Name the file: acp-tui permissions explain {kind} PATH.", exit_code=2)
    if kind in PATH_KINDS:
        return subject_of_kind(kind, [text] if text else [], context=context)
    if kind == "mcp":
        server, _, tool = text.partition("/")
        if not (server and tool):
            raise UserError("Name the tool: acp-tui permissions explain mcp SERVER/TOOL.", exit_code=2)
        return subject_of_kind(kind, context=context, server=server, tool=tool)
    return subject_of_kind(kind, context=context)


def _day(rule: Rule) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(rule.created))
