"""Proposes the rules that the permission dialog offers as "always", from exact to wide."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.errors import UsageError, UserError
from acp_tui.permissions.commands.command_reader import NotPlainError, plain_words
from acp_tui.permissions.commands.wrappers import prefix_lengths
from acp_tui.permissions.rule_matching import escape, is_sum_of_parts, matches
from acp_tui.permissions.rules import AgentIdentity, Rule, RuleDecision, Scope
from acp_tui.permissions.subject import KINDS, PATH_KINDS, Subject, Target

if TYPE_CHECKING:
    from acp_tui.permissions.decision import Decision


@dataclass(frozen=True, slots=True)
class RuleLadder:
    """Rules from exact to wide. Any one of them answers the request, or one part of a composite command."""

    part: Subject
    rules: tuple[Rule, ...]  # from exact to wide, at least one


def rule_ladders(
    subject: Subject,
    decision: Decision,
    *,
    answer: RuleDecision,
    scope: Scope = "session",
    agent: AgentIdentity | None = None,
    project: str | None = None,
) -> list[RuleLadder]:
    """Return one ladder of rules; for a composite command, one ladder for each part that needs an answer.

    To allow the same request next time, one rule from each ladder is needed; to reject the request, one rule
    is enough, and parts that no rule could answer are left out. The list is empty if no rules could answer
    the request.
    """
    if answer == "allow" and decision.answer == "ask" and decision.by == "rule":
        return []  # a reject rule may match, and no other rule changes that
    parts = [verdict.part for verdict in decision.parts if verdict.answer == "ask"]
    if not subject.parts:
        parts = [subject]
    elif answer == "allow" and not is_sum_of_parts(subject):
        return []
    found = [RuleLadder(part, _ladder(part, answer, scope, agent, project)) for part in parts]
    if answer == "allow" and not all(ladder.rules for ladder in found):
        return []
    return [ladder for ladder in found if ladder.rules]


def scoped_rule(rule: Rule, scope: Scope, agent: AgentIdentity | None, project: str | None) -> Rule:
    """Return a copy of the rule with this scope and agent; `agent=None` means any agent.

    `project` is only used if the scope is "project".
    """
    changed = rule.evolve(scope=scope, project=project if scope == "project" else None)
    if agent is None:
        return changed.evolve(agent=None, agent_name=None, agent_line="")
    return changed.evolve(agent=agent.id, agent_name=agent.name, agent_line=agent.line)


def wider_rules(rule: Rule) -> tuple[Rule, ...]:
    """Return the rule and wider versions of it, from narrow to wide.

    A wider rule contains the first words of the command, or the folder instead of the file. The widest rule
    contains no command, file or tool. Rules for first words are omitted if they could allow any program.
    """
    return tuple(dict.fromkeys((rule, *_wider(rule))))


def _wider(rule: Rule) -> Iterator[Rule]:
    if rule.command is not None:
        for length in prefix_lengths(rule.command):
            yield rule.evolve(command=rule.command[:length], exact=False)
        yield rule.evolve(command=None, exact=False)
    elif rule.path is not None:
        folder = posixpath.dirname(rule.path.removesuffix("/**"))
        if folder and not rule.path.startswith("/"):
            yield rule.evolve(path=f"{folder}/**")
        yield rule.evolve(path=None)
    elif rule.tool is not None:
        yield rule.evolve(tool=None)


def _ladder(
    subject: Subject,
    answer: RuleDecision,
    scope: Scope,
    agent: AgentIdentity | None,
    project: str | None,
) -> tuple[Rule, ...]:
    start = _narrowest(subject, Rule(decision=answer, kind=subject.kind, origin="dialog"), project)
    if start is None or not subject.certain:
        return ()
    start, *wider = wider_rules(scoped_rule(start, scope, agent, project))
    if matches(start, subject, project=project) != "yes":
        return ()  # only a very wide rule would match
    return (start, *(rule for rule in wider if matches(rule, subject, project=project) == "yes"))


def _narrowest(subject: Subject, rule: Rule, project: str | None) -> Rule | None:
    """Return `rule` limited to this request as far as possible; None if the result would be too wide."""
    if subject.kind == "execute":
        words = subject.command_words
        return rule.evolve(command=words, exact=True) if words else None
    if subject.kind in PATH_KINDS and subject.targets:
        return _rule_for_files(subject, rule, project)
    if subject.tool is not None:
        return rule.evolve(server=subject.server, tool=subject.tool)
    return rule if subject.kind in {"search", "think", "fetch"} else None


def _rule_for_files(subject: Subject, rule: Rule, project: str | None) -> Rule | None:
    """Return `rule` limited to the only file of the request, or to the folder of all files of the request.

    If that folder is the project itself, return `rule` unchanged. Return None if the folder is not in the
    project.
    """
    if any(target.real == "/" for target in subject.targets):  # as a pattern, `/` matches all files
        return None
    if len(subject.targets) == 1:
        return rule.evolve(path=_pattern(subject.targets[0], project))
    folder = posixpath.commonpath([posixpath.dirname(path) for path in subject.paths])
    if project and folder.startswith(project.rstrip("/") + "/"):
        return rule.evolve(path=f"{escape(posixpath.relpath(folder, project))}/**")
    return rule if folder == project else None


def _pattern(target: Target, project: str | None) -> str:
    if project and target.inside and target.real.startswith(project.rstrip("/") + "/"):
        return escape(posixpath.relpath(target.real, project))
    return escape(target.real)


def parse_spec(text: str, decision: RuleDecision) -> Rule:
    """Parse the argument of `--allow` or `--reject`. Raises `UserError` if the argument is invalid."""
    kind, colon, pattern = text.partition(":")
    kind, pattern = kind.strip(), pattern.strip()
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, 1) or {"write": ["edit"], "run": ["execute"]}.get(
            kind, []
        )
        hint = f"; did you mean {near[0]}?" if near else "."
        raise _invalid(
            decision, text, f'"{kind}" is not a kind of request{hint} The kinds are {", ".join(KINDS)}.'
        )
    if colon and not pattern:
        raise _invalid(
            decision,
            text,
            "nothing follows the colon; leave out the colon to match every request of this kind.",
        )
    rule = Rule(decision=decision, kind=kind, scope="run", origin=f"--{decision} {text}")
    if not pattern:
        return rule
    if kind in PATH_KINDS:
        return rule.evolve(path=_path(pattern, text, decision))
    if kind == "execute":
        return rule if pattern == "*" else rule.evolve(command=_words(pattern, text, decision))
    if kind == "mcp":
        server, _, tool = pattern.partition("/")
        if not server or "*" in server or (tool != "*" and "*" in tool):
            raise _invalid(decision, text, "write mcp:SERVER or mcp:SERVER/TOOL.")
        return rule.evolve(server=server, tool=None if tool in ("", "*") else tool)
    raise _invalid(decision, text, f"{kind} takes no pattern; write {kind} alone.")


def _path(pattern: str, text: str, decision: RuleDecision) -> str:
    if pattern.startswith("~"):
        raise _invalid(decision, text, "write the full path instead of ~.")
    if ".." in pattern.split("/"):
        raise _invalid(decision, text, "a pattern cannot contain `..`; write the full path.")
    below = pattern.endswith("/")
    normal = posixpath.normpath(pattern)
    return "**" if normal == "." else normal + "/**" * below


def _words(pattern: str, text: str, decision: RuleDecision) -> tuple[str, ...]:
    try:
        return plain_words(pattern.removesuffix(" *"))
    except NotPlainError as reason:
        raise _invalid(decision, text, f"the command may contain plain words only, but {reason}.") from None


def _invalid(decision: RuleDecision, text: str, why: str) -> UserError:
    return UsageError(f'Invalid rule --{decision} "{text}": {why}')
