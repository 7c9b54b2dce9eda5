"""`acp-tui permissions`: lists, edits and revokes remembered answers, and explains decisions."""

from __future__ import annotations

import argparse
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp_tui.cli.options import REPEATABLE, add_action, add_folder_options, add_json_option
from acp_tui.config.agent_catalogue import known_agents
from acp_tui.config.settings import Settings, load
from acp_tui.config.validators import POLICIES
from acp_tui.console import print_json, print_message
from acp_tui.errors import UsageError
from acp_tui.permissions.decision import PartVerdict, decide
from acp_tui.permissions.match_counts import Matches
from acp_tui.permissions.rule_proposals import parse_spec, wider_rules
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import AgentIdentity, Rule, describe_choice, describe_rule
from acp_tui.permissions.subject import KINDS, PATH_KINDS, PathContext, Subject
from acp_tui.permissions.subject_reader import subject_of_command, subject_of_kind
from acp_tui.session.safe_text import escape_line
from acp_tui.workspace.files.file_access import FileAccess, path_context
from acp_tui.workspace.files.open_folder import Roots

EPILOG = """\
examples:
  acp-tui permissions list
  acp-tui permissions revoke 2
  acp-tui permissions edit 1 --what 2 --scope everywhere
  acp-tui permissions undo
  acp-tui permissions explain execute 'git push --force'
  acp-tui permissions explain edit src/app.py --policy accept-edits --reject 'edit:src/**'
  acp-tui permissions explain mcp server/tool --agent claude-code
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = add_action(actions, "list", "list remembered answers, and how often each has matched (default)")
    add_json_option(listing)

    revoke = add_action(actions, "revoke", "forget a remembered answer")
    edit = add_action(actions, "edit", "change a remembered answer; without options, list the choices")
    for action in (revoke, edit):
        action.add_argument("number", metavar="N", help="number in the list, or id")
    about = "what the answer applies to: the number of a choice that `edit N` lists"
    edit.add_argument("--what", type=int, metavar="CHOICE", help=about)
    edit.add_argument("--scope", choices=("project", "everywhere"), help="where the answer applies")
    edit.add_argument("--project", type=Path, metavar="DIR", help="apply the answer in this directory only")
    about = 'apply the answer to this agent only ("any": to every agent)'
    edit.add_argument("--agent", metavar="NAME", help=about)

    add_action(actions, "undo", "undo the last revoke or edit; repeat to undo earlier ones")

    explain = add_action(actions, "explain", "show how a request would be answered, and why")
    explain.add_argument("kind", metavar="KIND", choices=KINDS, help=", ".join(KINDS))
    about = "a path, command or SERVER/TOOL"
    explain.add_argument("subject", metavar="SUBJECT", nargs="?", default="", help=about)
    explain.add_argument("--policy", choices=POLICIES, help="show only this policy (default: all)")
    explain.add_argument("--agent", metavar="NAME", help="the agent that makes the request")
    add_folder_options(explain)
    for option in ("--allow", "--reject"):
        about = f"also apply this rule, like `acp-tui exec {option}`"
        explain.add_argument(option, **REPEATABLE, metavar="KIND[:PATTERN]", help=about)


def run(args: argparse.Namespace) -> int:
    rule_store = RuleStore()
    rule_store.catalogue = lambda: known_agents(load(Path()))
    try:
        if args.action == "revoke":
            print(f"Forgotten: {describe_rule(rule_store.revoke(_reference(args.number)))}.")
        elif args.action == "edit":
            _edit(args, rule_store, load(Path()))
        elif args.action == "undo":
            print(f"Restored: {describe_rule(rule_store.undo())}.")
        elif args.action == "explain":
            _explain(args, rule_store)
        elif getattr(args, "json", False):
            _list_as_json(rule_store)
        else:
            _list(rule_store)
    finally:
        for notice in rule_store.notices:
            print_message(notice)
    return 0


def _list(rule_store: RuleStore) -> None:
    rules, matches = rule_store.rules(), rule_store.matches.read()
    if not rules:
        print("No remembered answers.")
    for number, rule in enumerate(rules, start=1):
        unused = "; no longer used: its agent cannot be identified" if rule_store.is_unused(rule) else ""
        used = _usage(matches.get(rule.id, Matches()))
        about = f"{escape_line(rule.id)}, {_local(rule.created, '%Y-%m-%d')}, {used}{unused}"
        print(f"{number:>3}  {describe_rule(rule)}  ({about})")


def _usage(matches: Matches) -> str:
    if not matches.count:
        return "no match yet"
    count = "1 match" if matches.count == 1 else f"{matches.count:,} matches"
    return f"{count}, last {_local(matches.last, '%Y-%m-%d %H:%M')}"


def _list_as_json(rule_store: RuleStore) -> None:
    matches = rule_store.matches.read()
    rules = [_as_json(rule, matches.get(rule.id, Matches()), rule_store) for rule in rule_store.rules()]
    print_json({"rules": rules})


def _as_json(rule: Rule, matches: Matches, rule_store: RuleStore) -> dict[str, Any]:
    return {
        "id": rule.id,
        "text": describe_rule(rule),
        "decision": rule.decision,
        "kind": rule.kind,
        "command": list(rule.command) if rule.command is not None else None,
        "exact": rule.exact,
        "path": rule.path,
        "server": rule.server,
        "tool": rule.tool,
        "scope": rule.scope,
        "project": rule.project,
        "agent": rule.agent,
        "agentName": rule.agent_name,
        "agentCommand": rule.agent_line or None,
        "created": _iso(rule.created),
        "matches": matches.count,
        "lastMatch": _iso(matches.last),
        "unused": rule_store.is_unused(rule),
    }


def _edit(args: argparse.Namespace, rule_store: RuleStore, settings: Settings) -> None:
    rule = rule_store.find(_reference(args.number))
    choices = wider_rules(rule)
    if (args.what, args.scope, args.project, args.agent) == (None, None, None, None):
        _show_choices(rule, choices)
        return
    if args.what is not None and not 1 <= args.what <= len(choices):
        raise UsageError(f"--what takes a number from 1 to {len(choices)}.")
    new = choices[args.what - 1] if args.what is not None else rule
    new = _for_agent(_in_scope(new, args), args.agent, settings)
    print(f"Changed: {describe_rule(rule_store.edit(rule, new))}.")


def _show_choices(rule: Rule, choices: tuple[Rule, ...]) -> None:
    print(f"{describe_rule(rule)}\n")
    for number, choice in enumerate(choices, start=1):
        print(f"--what {number}  {describe_choice(choice)}{'  (now)' if choice == rule else ''}")
    print("--scope project | --scope everywhere | --project DIR")
    print("--agent NAME | --agent any")


def _in_scope(rule: Rule, args: argparse.Namespace) -> Rule:
    if args.project is not None and args.scope == "everywhere":
        raise UsageError("--project cannot be combined with --scope everywhere.")
    if args.scope == "everywhere":
        return rule.evolve(scope="everywhere", project=None)
    if args.project is None and (args.scope is None or rule.project is not None):
        return rule
    project = os.path.realpath(args.project or Path())
    if not Path(project).is_dir():
        raise UsageError(f"The directory {project} does not exist.")
    return rule.evolve(scope="project", project=project)


def _for_agent(rule: Rule, name: str | None, settings: Settings) -> Rule:
    if name is None:
        return rule
    if name == "any":
        return rule.evolve(agent=None, agent_name=None, agent_line="")
    if name not in known_agents(settings):
        raise UsageError(f'There is no agent "{name}"; `acp-tui agents` lists them.')
    return rule.evolve(agent=name, agent_name=None, agent_line="")


def _reference(text: str) -> int | str:
    """Parse a reference to a rule.

    An int is the rule's number in the list. A str is the rule's id, which has eight characters.
    """
    return int(text) if text.isdecimal() and len(text) < 8 else text


def _explain(args: argparse.Namespace, rule_store: RuleStore) -> None:
    context = _path_context(args)
    subject = _subject(args.kind, args.subject, context)
    print(f"Request: {subject.description}")
    if subject.not_plain:
        print(f"         no allow rule can match the words of the command, because {subject.not_plain}")
    run_rules = [parse_spec(text, "allow") for text in args.allow]
    run_rules += [parse_spec(text, "reject") for text in args.reject]
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
        why = escape_line(decision.why)
        print(f"{policy + ':':<15}{decision.answer:<8}{why[:1].upper()}{why[1:]}")
        if policy == (args.policy or "ask"):
            parts = decision.parts
    if parts:
        print(f'Decision for each part of the command under policy "{args.policy or "ask"}":')
    for verdict in parts:
        why = escape_line(verdict.why)
        print(f"  {escape_line(verdict.part.part_text)}")
        print(f"{'':<15}{verdict.answer:<8}{why[:1].upper()}{why[1:]}")
    if args.policy is None:
        print('Under `acp-tui exec`, "ask" means "reject".')


def _path_context(args: argparse.Namespace) -> PathContext:
    """Return the `PathContext` of a conversation with these values of --cwd and --add-dir."""
    given = (args.cwd or Path(), *args.add_dir)
    cwd, *directories = (Path(os.path.realpath(directory)) for directory in given)
    for directory in (cwd, *directories):
        if not directory.is_dir():
            raise UsageError(f"The directory {directory} does not exist.")
    workspace = load(cwd).workspace
    roots = Roots(cwd, [*workspace.additional_directories, *directories])
    return path_context(FileAccess(roots, workspace.sensitive))


def _subject(kind: str, text: str, context: PathContext) -> Subject:
    if kind == "execute":
        if not text.strip():
            raise UsageError("Name the command: acp-tui permissions explain execute 'git status'.")
        return subject_of_command(text, context=context, served=False)
    if kind in PATH_KINDS and kind != "search" and not text:
        raise UsageError(f"Name the file: acp-tui permissions explain {kind} PATH.")
    if kind in PATH_KINDS:
        return subject_of_kind(kind, [text] if text else [], context=context)
    if kind == "mcp":
        server, _, tool = text.partition("/")
        if not (server and tool):
            raise UsageError("Name the tool: acp-tui permissions explain mcp SERVER/TOOL.")
        return subject_of_kind(kind, context=context, server=server, tool=tool)
    return subject_of_kind(kind, context=context)


def _local(seconds: float, form: str) -> str:
    return time.strftime(form, time.localtime(seconds))


def _iso(seconds: float) -> str | None:
    """Return a time as an ISO 8601 string in UTC; None for 0, which stands for "never"."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else None
