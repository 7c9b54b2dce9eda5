"""The rules of a conversation, wherever they are stored, for the user to list and change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.permissions.match_counts import Matches

if TYPE_CHECKING:
    from acp_tui.controller.permission_gate import PermissionGate
    from acp_tui.permissions.rule_store import RuleStore
    from acp_tui.permissions.rules import AgentIdentity, Rule


MAX_UNDO = 20


@dataclass(frozen=True, slots=True)
class ListedRule:
    """A rule, and how it has been used."""

    rule: Rule
    matches: Matches
    applies: bool  # it is in force here: its project and agent match this conversation
    unused: bool = False  # its agent cannot be identified


@dataclass(slots=True)
class RuleBook:
    """The rules from the command line, those of the session, and the saved rules."""

    gate: PermissionGate
    _undo: list[Callable[[], Rule]] = field(default_factory=list)

    @property
    def project(self) -> str:
        """The folder to which the rules for this project apply."""
        return self.gate.project

    @property
    def agent(self) -> AgentIdentity:
        """The agent of this conversation."""
        return self.gate.identity()

    def rules(self) -> list[ListedRule]:
        """Return the rules from the command line, those of the session, and the saved rules.

        Each of these groups is in the order from the oldest to the newest rule.
        """
        from acp_tui.permissions.rule_matching import applies

        store = self.gate.rule_store
        saved = store.rules() if store is not None else []
        matches = store.matches.read() if store is not None else {}
        return [
            ListedRule(
                rule,
                matches.get(rule.id, Matches()),
                applies=applies(rule, agent=self.agent, project=self.project),
                unused=store is not None and store.is_unused(rule),
            )
            for rule in (*self.gate.run_rules, *self.gate.session_rules, *saved)
        ]

    def revoke(self, rule: Rule) -> None:
        """Delete a rule. Raises `UserError` if the rule does not exist or cannot be deleted."""
        self._remember_undo(self._remove(rule))
        self.gate.rules_changed()

    def edit(self, rule: Rule, new: Rule) -> Rule:
        """Replace `rule` with `new`, and return the rule that is now stored.

        The scope of `new` decides where `new` is stored. `new` gets the id of `rule`. But if a rule of the
        session or the command line is moved to the saved rules, and an equal rule is saved already, the equal
        rule is kept and returned.

        Raises `UserError` if a saved rule would become equal to another saved rule.
        """
        if new.same_as(rule):
            return rule
        new = new.evolve(id=rule.id, created=rule.created)
        kept_in = self._list_with(rule)
        if kept_in is None and new.scope in ("project", "everywhere"):
            new = self._store.edit(rule, new)
            self._remember_undo(self._store.undo)
        elif kept_in is not None and new.scope == rule.scope:
            index = kept_in.index(rule)
            kept_in[index] = new
            self._remember_undo(lambda: _replace(kept_in, new, rule))
        else:
            new = self._move(rule, new)
        self.gate.rules_changed()
        return new

    def undo(self) -> Rule:
        """Undo the last change, and return the restored rule.

        The last `MAX_UNDO` changes made with this object are undone first, then earlier changes of the saved
        rules. Raises `UserError` if there is nothing to undo.
        """
        if not self._undo:
            return self._store.undo()
        rule = self._undo[-1]()
        self._undo.pop()  # only now: an undo that failed can be repeated
        self.gate.rules_changed()
        return rule

    # ----------------------------------------------------------------- where a rule is stored

    def _move(self, rule: Rule, new: Rule) -> Rule:
        """Replace `rule` with `new`, which belongs in another list or file, and return the stored rule."""
        if new.scope == "session":
            restore = self._remove(rule)
            self.gate.session_rules.append(new)

            def undo() -> Rule:
                old = restore()
                self.gate.session_rules.remove(new)
                return old

        else:
            saved = self._store.add(new)
            is_new = saved.id == rule.id  # otherwise an equal rule had been saved before
            restore = self._remove(rule)

            def undo() -> Rule:
                if is_new:
                    self._store.revoke(saved, undoable=False)
                return restore()

            new = saved
        self._remember_undo(undo)
        return new

    def _remove(self, rule: Rule) -> Callable[[], Rule]:
        """Delete a rule. Return a function that restores it."""
        kept_in = self._list_with(rule)
        if kept_in is None:
            self._store.revoke(rule)
            return self._store.undo
        index = kept_in.index(rule)
        kept_in.remove(rule)

        def restore() -> Rule:
            kept_in.insert(index, rule)
            return rule

        return restore

    def _list_with(self, rule: Rule) -> list[Rule] | None:
        """Return the list that contains the rule (the command line's or the session's), or None."""
        lists = (self.gate.run_rules, self.gate.session_rules)
        return next((rules for rules in lists if rule in rules), None)

    @property
    def _store(self) -> RuleStore:
        if self.gate.rule_store is None:
            raise UserError("Rules are not saved in this conversation.")
        return self.gate.rule_store

    def _remember_undo(self, undo: Callable[[], Rule]) -> None:
        self._undo = [*self._undo[1 - MAX_UNDO :], undo]


def _replace(rules: list[Rule], new: Rule, old: Rule) -> Rule:
    rules[rules.index(new)] = old
    return old
