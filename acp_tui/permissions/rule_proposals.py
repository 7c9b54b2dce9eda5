"""Which rules to offer with "always": the narrowest that makes sense, and wider ones, each in words."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.wrappers import runs_others
from acp_tui.permissions.globs import escape
from acp_tui.permissions.request import PATH_KINDS
from acp_tui.permissions.rules import Rule, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.permissions.identity import AgentIdentity
    from acp_tui.permissions.request import Subject, Target
    from acp_tui.permissions.rules import RuleDecision, Scope


def narrowest_rule(
    subject: Subject,
    *,
    decision: RuleDecision,
    scope: Scope = "session",
    agent: AgentIdentity | None = None,
    project: str | None = None,
) -> Rule | None:
    """The narrowest rule that would have answered this; None when no rule could, or only a very wide one."""
    return next(iter(_proposals(subject, decision, scope, agent, project)), None)


def wider_rules(
    subject: Subject,
    *,
    decision: RuleDecision,
    scope: Scope = "session",
    agent: AgentIdentity | None = None,
    project: str | None = None,
) -> list[Rule]:
    """Rules that would have answered this and more, from narrow to wide."""
    proposed = [*_proposals(subject, decision, scope, agent, project)]
    narrowest, wider = proposed[:1], proposed[1:]
    everything = _rule(Rule(decision=decision, kind=subject.kind), scope, agent, project)
    if everything not in narrowest and matches(everything, subject, project=project) == "yes":
        wider.append(everything)
    return wider


def _proposals(
    subject: Subject, decision: RuleDecision, scope: Scope, agent: AgentIdentity | None, project: str | None
) -> Iterator[Rule]:
    """From narrow to wide, without everything of the kind (but where nothing narrower exists)."""
    if not subject.certain:
        return
    for rule in _bare(subject, Rule(decision=decision, kind=subject.kind), project):
        made = _rule(rule, scope, agent, project)
        if matches(made, subject, project=project) == "yes":
            yield made


def _rule(rule: Rule, scope: Scope, agent: AgentIdentity | None, project: str | None) -> Rule:
    folder = project if scope == "project" else None
    made = rule.evolve(scope=scope, project=folder, origin="dialog")
    if agent is None:
        return made
    return made.evolve(agent=agent.id, agent_name=agent.name, agent_line=agent.line)


def _bare(subject: Subject, rule: Rule, project: str | None) -> Iterator[Rule]:
    """What could be matched, before anybody asks whether it is."""
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
    """Exactly this, then ever fewer leading words; not down to a word that can run anything."""
    found = subject.command_words
    if not found:
        return
    yield rule.evolve(command=found, exact=True)
    if runs_others(found[0]):
        return
    for length in dict.fromkeys((len(found), min(2, len(found)), 1)):
        yield rule.evolve(command=found[:length])


def _files(subject: Subject, rule: Rule, project: str | None) -> Iterator[Rule]:
    """The file, then its folder, then all of the project."""
    if len(subject.targets) == 1:
        yield rule.evolve(path=_pattern(subject.targets[0], project))
    folder = posixpath.commonpath([posixpath.dirname(path) for path in subject.paths])
    if project and folder.startswith(project.rstrip("/") + "/"):
        yield rule.evolve(path=f"{escape(posixpath.relpath(folder, project))}/**")


def _pattern(target: Target, project: str | None) -> str:
    if project and target.inside and target.real.startswith(project.rstrip("/") + "/"):
        return escape(posixpath.relpath(target.real, project))
    return escape(target.real)
