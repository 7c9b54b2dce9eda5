"""Proposes the rule that the permission dialog offers as "always"."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.wrappers import runs_others
from acp_tui.permissions.path_globs import escape
from acp_tui.permissions.rule_matching import matches
from acp_tui.permissions.rules import Rule
from acp_tui.permissions.subject import PATH_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.permissions.agent_identity import AgentIdentity
    from acp_tui.permissions.rules import RuleDecision, Scope
    from acp_tui.permissions.subject import Subject, Target


def narrowest_rule(
    subject: Subject,
    *,
    decision: RuleDecision,
    scope: Scope = "session",
    agent: AgentIdentity | None = None,
    project: str | None = None,
) -> Rule | None:
    """Return the narrowest rule that answers this request; None if only a very wide one would."""
    if not subject.certain:
        return None
    for candidate in _candidates(subject, Rule(decision=decision, kind=subject.kind), project):
        rule = _scoped(candidate, scope, agent, project)
        if matches(rule, subject, project=project) == "yes":
            return rule
    return None


def _scoped(rule: Rule, scope: Scope, agent: AgentIdentity | None, project: str | None) -> Rule:
    folder = project if scope == "project" else None
    made = rule.evolve(scope=scope, project=folder, origin="dialog")
    if agent is None:
        return made
    return made.evolve(agent=agent.id, agent_name=agent.name, agent_line=agent.line)


def _candidates(subject: Subject, rule: Rule, project: str | None) -> Iterator[Rule]:
    """Yield rules from narrow to wide; the caller checks whether they match."""
    if subject.kind == "execute":
        yield from _commands(subject, rule)
    elif subject.kind in PATH_KINDS and subject.targets:
        yield from _files(subject, rule, project)
    elif subject.tool is not None:
        yield rule.evolve(server=subject.server, tool=subject.tool)
        yield rule.evolve(server=subject.server)
    elif subject.kind in {"search", "think", "fetch"}:
        yield rule


def _commands(subject: Subject, rule: Rule) -> Iterator[Rule]:
    """Yield a rule for exactly this command, then rules for fewer leading words.

    For a program that can run anything, only the exact rule is proposed.
    """
    found = subject.command_words
    if not found:
        return
    yield rule.evolve(command=found, exact=True)
    if runs_others(found[0]):
        return
    for length in dict.fromkeys((len(found), min(2, len(found)), 1)):
        yield rule.evolve(command=found[:length])


def _files(subject: Subject, rule: Rule, project: str | None) -> Iterator[Rule]:
    """Yield a rule for the file, then one for its folder."""
    if len(subject.targets) == 1:
        yield rule.evolve(path=_pattern(subject.targets[0], project))
    folder = posixpath.commonpath([posixpath.dirname(path) for path in subject.paths])
    if project and folder.startswith(project.rstrip("/") + "/"):
        yield rule.evolve(path=f"{escape(posixpath.relpath(folder, project))}/**")


def _pattern(target: Target, project: str | None) -> str:
    if project and target.inside and target.real.startswith(project.rstrip("/") + "/"):
        return escape(posixpath.relpath(target.real, project))
    return escape(target.real)
