"""The saved rules of a user.

Several instances of acp-tui can run at once. A change takes the lock, reads the file again, and replaces the
file. Readers need no lock, because the file is only ever replaced as a whole. The data for undoing the
latest changes is in the same file, so that rules and undo data are always written together.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from acp_tui.config.own_files import check_own, read_own_json
from acp_tui.config.paths import paths, private_directory, write_private
from acp_tui.errors import UserError, os_errors_reported
from acp_tui.permissions.match_counts import MatchCounts
from acp_tui.permissions.rules import AD_HOC, Rule, describe_rule, from_dict, to_dict
from acp_tui.store.locks import LockedError, file_lock

VERSION = 1
MAX_UNDO = 20
"""The maximum number of changes that can be undone."""
_LOCK_TIMEOUT_SECONDS = 3.0  # a suspended process may hold the lock


_listeners: dict[Path, list[Callable[[], object]]] = {}
"""By file: what to call after a change. Each tab has a store of its own for the same file."""
Reference = int | str | Rule
"""A saved rule, or what identifies it: its position in `RuleStore.rules()`, counted from 1, or its id."""


class _CorruptError(Exception):
    """The file does not have the format that acp-tui writes."""


class RuleStore:
    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else paths().state / "permissions.json"
        self.matches = MatchCounts(self.path.with_name("permission-matches.json"), self._kept_ids)
        """How many requests each rule has answered, and when it last answered one."""
        self.notices: list[str] = []
        """Messages for the user about the file, one sentence each, without duplicates."""
        self.catalogue: Callable[[], Collection[str]] | None = None
        """Returns the ids of the agents in the catalogue. While it is None, no rule counts as unused."""
        self._seen: tuple[int, int, int] | None = None
        self._rules: list[Rule] = []

    def rules(self) -> list[Rule]:
        """Return the rules that are on disk now, oldest first."""
        try:
            check_own(self.path)
            status = self.path.stat()
        except FileNotFoundError:
            self._seen, self._rules = None, []
            return []
        except OSError as error:
            self._notice(f"The rules in {self.path} cannot be read: {error.strerror}.")
            return []
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        if seen != self._seen:
            self._rules = self._known(self._read())
            self._seen = seen
            for rule in filter(self.is_unused, self._rules):
                self._notice(
                    f'The rule "{describe_rule(rule)}" is no longer used: acp-tui cannot tell which agent '
                    f"{rule.agent} stands for. Use `acp-tui permissions` to list and revoke such rules."
                )
        return list(self._rules)

    def is_unused(self, rule: Rule) -> bool:
        """Return True for an allow rule whose agent is not in the catalogue, nor identified by a command."""
        if rule.decision != "allow" or rule.agent is None or self.catalogue is None:
            return False
        return not rule.agent.startswith(AD_HOC) and rule.agent not in self.catalogue()

    def add(self, rule: Rule) -> Rule:
        """Save a rule, unless an equal one is saved already. Return the saved rule, which has an id."""
        with self._changing() as (entries, _):
            for known in self._known(entries):
                if known.same_as(rule):
                    return known
            rule = with_id(rule)
            entries.append(to_dict(rule))
        return rule

    def revoke(self, which: Reference, *, undoable: bool = True) -> Rule:
        """Delete a rule and return it."""
        with self._changing() as (entries, changes):
            rule = self._find(entries, which)
            index = _index(entries, rule)
            entry = entries.pop(index)
            if undoable:
                changes.append({"before": entry, "index": index})
        return rule

    def edit(self, which: Reference, new: Rule) -> Rule:
        """Replace a rule and return the new one. The id, creation time and position stay the same."""
        with self._changing() as (entries, changes):
            rule = self._find(entries, which)
            new = with_id(new.evolve(id=rule.id, created=rule.created, unknown=rule.unknown))
            for known in self._known(entries):
                if known != rule and known.same_as(new):
                    raise UserError(f'There is already a rule "{describe_rule(known)}".')
            if not new.same_as(rule):
                index = _index(entries, rule)
                changes.append({"before": entries[index], "after": new.id, "index": index})
                entries[index] = to_dict(new)
        return new

    def undo(self) -> Rule:
        """Undo the last `revoke` or `edit` that can be undone, and return the restored rule.

        Raises `UserError` if there is none.
        """
        with self._changing() as (entries, changes):
            while changes:
                change = changes.pop()
                rule = from_dict(change.get("before")) if isinstance(change, dict) else None
                if rule is None:
                    continue
                index = change.get("index")
                present = [_index(entries, known) for known in self._known(entries) if known.id == rule.id]
                if present:
                    entries[present[0]] = change["before"]
                else:
                    entries.insert(index if isinstance(index, int) else len(entries), change["before"])
                return rule
        raise UserError("There is no rule change to undo.")

    def find(self, which: Reference) -> Rule:
        """Return the rule that the reference identifies. Raises `UserError` if there is none."""
        return self._find(self._read(), which)

    def _find(self, entries: list[Any], which: Reference) -> Rule:
        known = self._known(entries)
        if isinstance(which, int):
            rule = known[which - 1] if 1 <= which <= len(known) else None
        else:
            rule = next((each for each in known if which in (each.id, each)), None)
        if rule is None:
            named = "such rule" if isinstance(which, Rule) else f"rule {which}"
            raise UserError(f"There is no {named}; `acp-tui permissions list` shows all rules.")
        return rule

    def _kept_ids(self) -> set[str]:
        """Return the ids of the saved rules and of deleted rules that can be restored. Raises `UserError`."""
        try:
            content = self._content()
            entries = [*self._entries(content), *(change.get("before") for change in _changes(content))]
        except _CorruptError:
            raise UserError(f"The rules in {self.path} cannot be read.") from None
        return {rule.id for entry in entries if (rule := from_dict(entry)) is not None and rule.id}

    # ----------------------------------------------------------------- reading

    def _known(self, entries: list[Any]) -> list[Rule]:
        """Return the rules that this version understands; the others stay in the file."""
        read = [from_dict(entry) for entry in entries]
        if None in read:
            self._notice(
                f"{self.path} contains rules that this version does not understand; they are ignored."
            )
        return [rule for rule in read if rule is not None]

    def _read(self) -> list[Any]:
        """Return the entries of the file. If it is corrupt, rename it.

        A file that is unreadable or was written by a newer version is only reported in `notices`.
        """
        try:
            with contextlib.suppress(_CorruptError):
                return self._entries(self._content())
            with self._lock():
                return self._read_or_set_aside()
        except UserError as error:
            self._notice(str(error))
            return []

    def _content(self) -> dict[str, Any]:
        """Return the parsed content of the file. Raises `_CorruptError` or `UserError`."""
        try:
            content = read_own_json(self.path)
        except FileNotFoundError:
            return {"version": VERSION, "rules": []}
        except OSError as error:
            raise UserError(f"The rules in {self.path} cannot be read: {error.strerror}.") from None
        except (ValueError, RecursionError):
            raise _CorruptError from None
        if not isinstance(content, dict) or not isinstance(content.get("version"), int):
            raise _CorruptError
        return content

    def _entries(self, content: dict[str, Any]) -> list[Any]:
        if content["version"] > VERSION:
            raise UserError(f"{self.path} was written by a newer version of acp-tui; its rules are not used.")
        entries = content.get("rules")
        if not isinstance(entries, list):
            raise _CorruptError
        return entries

    def _read_or_set_aside(self) -> list[Any]:
        """Return the entries of the file; if it is corrupt, rename it. The caller must hold the lock."""
        try:
            return self._entries(self._content())
        except _CorruptError:
            aside = self.path.with_name(f"{self.path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}")
            with os_errors_reported(f"{self.path} is corrupt and could not be renamed"):
                self.path.replace(aside)
            self._notice(f"The file of remembered rules was corrupt; it was renamed to {aside}.")
            return []

    # ----------------------------------------------------------------- changing

    @contextlib.contextmanager
    def listening(self, listener: Callable[[], object]) -> Iterator[None]:
        """While the block runs, call `listener` after each change that this process makes to the file.

        The call can come from any thread.
        """
        listeners = _listeners.setdefault(self.path, [])
        listeners.append(listener)
        try:
            yield
        finally:
            listeners.remove(listener)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Hold the lock, and yield the saved rules and the changes that can be undone, for modification.

        Both lists are written to the file if the block changes one of them and ends without an error.
        """
        with self._lock():
            entries = self._read_or_set_aside()
            content = self._content()
            changes = _changes(content)
            before = json.dumps([entries, changes])
            yield entries, changes
            if json.dumps([entries, changes]) == before:
                return
            content |= {"version": VERSION, "rules": entries}
            content.pop("changes", None)
            if changes:
                content["changes"] = changes[-MAX_UNDO:]
            with os_errors_reported(f"Cannot save the rules to {self.path}"):
                write_private(self.path, json.dumps(content, indent=2) + "\n")
        for listener in list(_listeners.get(self.path, ())):
            listener()

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other instances from changing the file while the block runs."""
        with contextlib.ExitStack() as held:
            try:
                private_directory(self.path.parent)
                name = self.path.with_name(f"{self.path.name}.lock")
                held.enter_context(file_lock(name, timeout=_LOCK_TIMEOUT_SECONDS))
            except LockedError:
                raise UserError(
                    f"The rules in {self.path} cannot be changed: another acp-tui is changing them."
                ) from None
            except OSError as error:
                raise UserError(f"The rules in {self.path} cannot be changed: {error.strerror}.") from None
            yield

    def _notice(self, sentence: str) -> None:
        if sentence not in self.notices:
            self.notices.append(sentence)


def with_id(rule: Rule) -> Rule:
    """Return the rule with an id and a creation time. If it already has these, they stay the same."""
    return rule.evolve(id=rule.id or uuid.uuid4().hex[:8], created=rule.created or time.time())


def _index(entries: list[Any], rule: Rule) -> int:
    return next(index for index, entry in enumerate(entries) if from_dict(entry) == rule)


def _changes(content: dict[str, Any]) -> list[Any]:
    changes = content.get("changes")
    return [each for each in changes if isinstance(each, dict)] if isinstance(changes, list) else []
