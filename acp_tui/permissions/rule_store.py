"""The saved rules of a user.

Several instances of acp-tui may run at once. A change takes the lock, reads the file again, and replaces it.
Readers need no lock, because the file is only ever replaced as a whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
import uuid
from typing import TYPE_CHECKING, Any

from acp_tui.config.paths import paths, private_directory, write_private
from acp_tui.errors import UserError
from acp_tui.permissions.rule_migration import migrate, names_agent_by_program
from acp_tui.permissions.rules import describe_rule, from_dict, to_dict
from acp_tui.store.stored_sessions import list_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from acp_tui.permissions.rules import Rule

VERSION = 1
_LOCK_TIMEOUT_SECONDS = 3.0


class _CorruptError(Exception):
    """The file does not have the format that acp-tui writes."""


class RuleStore:
    """The saved rules of one user."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else paths().state / "permissions.json"
        self.notices: list[str] = []
        """Problems so far, one sentence each, without duplicates."""
        self.catalogue: Callable[[], Collection[str]] | None = None
        """Set this to a function that returns the ids of known agents to migrate rules of older versions."""
        self._asked_sessions = False
        self._seen: tuple[int, int, int] | None = None
        self._rules: list[Rule] = []

    def rules(self) -> list[Rule]:
        """Return the rules that are on disk now, oldest first."""
        try:
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
            if self._migrate():
                return self.rules()
        return list(self._rules)

    def is_unused(self, rule: Rule) -> bool:
        """Return True for an allow rule whose agent is ambiguous: see `rule_migration`."""
        return rule.decision == "allow" and names_agent_by_program(
            rule, self.catalogue() if self.catalogue else []
        )

    # ----------------------------------------------------------------- rules of earlier versions

    def _migrate(self) -> bool:
        """Migrate rules of earlier versions, once. Return True if the file has changed."""
        if self.catalogue is None or self._asked_sessions:
            return False
        known = self.catalogue()
        old = [rule for rule in self._rules if names_agent_by_program(rule, known)]
        if not old:
            return False
        self._asked_sessions = True
        sessions = [stored.meta for stored in list_sessions(paths().data)]
        moved = [(rule, new) for rule in old if (new := migrate(rule, sessions)) is not None]
        for rule in old:
            if rule.decision == "allow" and all(rule is not one for one, _ in moved):
                self._notice(
                    f'The rule "{describe_rule(rule)}" is no longer used: several commands start '
                    f"{rule.agent}, and which one was meant is not recorded. "
                    "`acp-tui permissions` lists and revokes it."
                )
        if not moved:
            return False
        try:
            with self._changing() as entries:
                for rule, new in moved:
                    index = next(n for n, entry in enumerate(entries) if from_dict(entry) == rule)
                    entries[index] = to_dict(new)
        except (UserError, StopIteration) as error:  # StopIteration: another instance revoked it
            if isinstance(error, UserError):
                self._notice(str(error))
            return False
        for rule, new in moved:
            self._notice(f'The rule "{describe_rule(rule)}" now applies to `{new.agent_line}` only.')
        return True

    def add(self, rule: Rule) -> Rule:
        """Save a rule, unless an equal one is saved already. Return the saved rule, which has an id."""
        with self._changing() as entries:
            for known in self._known(entries):
                if known.same_as(rule):
                    return known
            rule = rule.evolve(id=rule.id or uuid.uuid4().hex[:8], created=rule.created or time.time())
            entries.append(to_dict(rule))
        return rule

    def revoke(self, which: int | str) -> Rule:
        """Delete a rule and return it. `which` is its id, or its number in `rules()` counted from 1."""
        with self._changing() as entries:
            known = self._known(entries)
            if isinstance(which, int):
                rule = known[which - 1] if 1 <= which <= len(known) else None
            else:
                rule = next((each for each in known if each.id == which), None)
            if rule is None:
                raise UserError(f"There is no rule {which}; `acp-tui permissions list` shows all rules.")
            entries.remove(next(entry for entry in entries if from_dict(entry) == rule))
        return rule

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
        """Return all entries. A corrupt file is renamed; one that is unreadable or newer is only reported."""
        try:
            with contextlib.suppress(_CorruptError):
                return self._entries(self._content())
            with self._lock():
                return self._read_or_set_aside()
        except UserError as error:
            self._notice(str(error))
            return []

    def _content(self) -> dict[str, Any]:
        """Return the content of the file."""
        try:
            content = json.loads(self.path.read_bytes())
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
        """Read the file again with the lock held, in case it was replaced. Rename it if it is corrupt."""
        try:
            return self._entries(self._content())
        except _CorruptError:
            aside = self.path.with_name(f"{self.path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}")
            try:
                self.path.replace(aside)
            except OSError as error:
                raise UserError(
                    f"{self.path} is corrupt and could not be renamed: {error.strerror}."
                ) from None
            self._notice(f"The file of remembered rules was corrupt; it was renamed to {aside}.")
            return []

    # ----------------------------------------------------------------- changing

    @contextlib.contextmanager
    def _changing(self) -> Iterator[list[Any]]:
        """Yield the entries to be changed, and write them if the block ends without an error."""
        with self._lock():
            entries = self._read_or_set_aside()
            before = json.dumps(entries)
            yield entries
            if json.dumps(entries) == before:
                return
            content = self._content() | {"version": VERSION, "rules": entries}
            try:
                write_private(self.path, json.dumps(content, indent=2) + "\n")
            except OSError as error:
                raise UserError(f"Cannot save the rule to {self.path}: {error.strerror}.") from None

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other instances from changing the file. The system releases the lock if the process ends."""
        name = self.path.with_name(f"{self.path.name}.lock")
        try:
            private_directory(self.path.parent)
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UserError(f"The rules in {self.path} cannot be changed: {error.strerror}.") from None
        try:
            self._wait_for_lock(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _wait_for_lock(self, descriptor: int) -> None:
        """Wait a few seconds at most: a suspended process may hold the lock."""
        patience = time.monotonic() + _LOCK_TIMEOUT_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > patience:
                    raise UserError(
                        f"The rules in {self.path} cannot be changed: another acp-tui is changing them."
                    ) from None
                time.sleep(0.01)
            else:
                return

    def _notice(self, sentence: str) -> None:
        if sentence not in self.notices:
            self.notices.append(sentence)
