"""How rules are listed: their groups, their rows, and the text that the filter searches."""

from __future__ import annotations

from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.segment import Segment

from acp_tui.entry_labels import format_time
from acp_tui.permissions.agent_identity import AgentIdentity
from acp_tui.permissions.rules import describe_choice, describe_rule
from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui.widgets.select_list import Row
from acp_tui.ui.widgets.word_match import word_rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.controller.requests.rule_book import ListedRule
    from acp_tui.permissions.rules import Rule
    from acp_tui.ui.theme.palette import Palette

GROUPS = ("This run", "This session", "This project", "Everywhere", "Other projects")
_LEAD_CELLS = 8


def sorted_rules(listed: Sequence[ListedRule], project: str) -> list[ListedRule]:
    """Return the rules in the order of `GROUPS`, and from newest to oldest within each group."""
    newest = [*reversed(listed)]
    return sorted(newest, key=lambda each: GROUPS.index(_group(each.rule, project)))


def filtered_rules(listed: Sequence[ListedRule], query: str) -> list[ListedRule]:
    """Return the rules whose texts contain all words of the query. The order of the rules is kept."""
    if not query.strip():
        return list(listed)
    return [each for each in listed if word_rank(query, *_words(each)) is not None]


def _words(listed: ListedRule) -> tuple[str, ...]:
    rule = listed.rule
    return describe_rule(rule), describe_choice(rule), rule.kind, rule.scope, rule.id


def rule_rows(listed: Sequence[ListedRule], palette: Palette, project: str, now: float) -> list[Row]:
    """Return one row for each rule; the first row of each group has a heading."""
    return [*_rows(listed, palette, project, now)]


def _rows(listed: Sequence[ListedRule], palette: Palette, project: str, now: float) -> Iterator[Row]:
    first = True
    for group, members in groupby(listed, key=lambda each: _group(each.rule, project)):
        heading = [Segment(group, palette.strong)]
        above = [heading] if first else [[], heading]
        for each in members:
            yield _row(each, palette, project, now, above)
            above, first = [], False


def _row(
    listed: ListedRule, palette: Palette, project: str, now: float, above: Sequence[list[Segment]]
) -> Row:
    rule = listed.rule
    allows = rule.decision == "allow"
    lead = Segment(f"{rule.decision:{_LEAD_CELLS}}", palette.success if allows else palette.error)
    text = Segment(describe_choice(rule), palette.text if listed.applies else palette.dim)
    return Row(
        [lead],
        [text],
        note=[Segment(" · ".join(_notes(listed, project, now)), palette.dim)],
        tail=[Segment(_count(listed.matches.count), palette.dim)],
        above=above,
    )


def _count(matches: int) -> str:
    return "no match yet" if not matches else "1 match" if matches == 1 else f"{matches:,} matches"


def _notes(listed: ListedRule, project: str, now: float) -> Iterator[str]:
    rule = listed.rule
    if rule.project is not None and rule.project != project:
        yield reveal_line(PurePath(rule.project).name or rule.project)
    if rule.agent is None:
        yield "any agent"
    else:
        yield reveal_line(AgentIdentity(rule.agent, rule.agent_line, rule.agent_name).label)
    if listed.unused:
        yield "no longer used: its agent cannot be identified"
    if listed.matches.count:
        yield f"last match {format_time(listed.matches.last, now)}"
    if rule.scope == "run":
        yield reveal_line(rule.origin)
    elif rule.created:
        yield f"since {format_time(rule.created, now)}"


def _group(rule: Rule, project: str) -> str:
    if rule.scope == "project" and rule.project != project:
        return "Other projects"
    return {"run": "This run", "session": "This session", "project": "This project"}.get(
        rule.scope, "Everywhere"
    )
