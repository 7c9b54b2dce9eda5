"""The rules on disk. The only part of permissions that touches files.

Several acp-tui may run at once. Every change is: take the lock, read what is there now, change it,
replace the file; a reader needs no lock, because the file is only ever replaced as a whole.
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
_LOCK_TIMEOUT_SECONDS = 3.0  # seconds


class _CorruptError(Exception):
    """The file does not hold what we write."""


class RuleStore:
    """The saved rules of one user."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else paths().state / "permissions.json"
        self.notices: list[str] = []
        """What went wrong so far, one sentence each, none twice."""
        self.catalogue: Callable[[], Collection[str]] | None = None
        """Gives the ids of the known agents, by which rules of earlier versions are told; None: not known."""
        self._asked_sessions = False
        self._seen: tuple[int, int, int] | None = None
        self._rules: list[Rule] = []

    def rules(self) -> list[Rule]:
        """The rules as they are on disk now, in the order they were made."""
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
        """Return True for an allow rule whose agent is not known for certain: see `migration`."""
        return rule.decision == "allow" and names_agent_by_program(
            rule, self.catalogue() if self.catalogue else []
        )

    # ----------------------------------------------------------------- rules of earlier versions

    def _migrate(self) -> bool:
        """Move rules by the name of a program to its command, once; True if the file has changed."""
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
                    place = next(n for n, entry in enumerate(entries) if from_dict(entry) == rule)
                    entries[place] = to_dict(new)
        except (UserError, StopIteration) as error:  # StopIteration: it was revoked just now
            if isinstance(error, UserError):
                self._notice(str(error))
            return False
        for rule, new in moved:
            self._notice(f'The rule "{describe_rule(rule)}" now applies to `{new.agent_line}` only.')
        return True

    def add(self, rule: Rule) -> Rule:
        """Remember a rule; the same one is not remembered twice. Returns it with its id."""
        with self._changing() as entries:
            for known in self._known(entries):
                if known.same_as(rule):
                    return known
            rule = rule.evolve(id=rule.id or uuid.uuid4().hex[:8], created=rule.created or time.time())
            entries.append(to_dict(rule))
        return rule

    def revoke(self, which: int | str) -> Rule:
        """Forget a rule, by its number in `rules()` counted from 1 or by its id. Returns it."""
        with self._changing() as entries:
            known = self._known(entries)
            if isinstance(which, int):
                rule = known[which - 1] if 1 <= which <= len(known) else None
            else:
                rule = next((each for each in known if each.id == which), None)
            if rule is None:
                raise UserError(
                    f"There is no remembered answer {which}; `acp-tui permissions list` shows them."
                )
            entries.remove(next(entry for entry in entries if from_dict(entry) == rule))
        return rule

    # ----------------------------------------------------------------- reading

    def _known(self, entries: list[Any]) -> list[Rule]:
        """The entries this version understands; the others stay in the file."""
        read = [from_dict(entry) for entry in entries]
        if None in read:
            self._notice(
                f"{self.path} holds rules that this version does not understand; they are left alone."
            )
        return [rule for rule in read if rule is not None]

    def _read(self) -> list[Any]:
        """All entries. A corrupt file is set aside, an unreadable or newer one only spoken of."""
        try:
            with contextlib.suppress(_CorruptError):
                return self._entries(self._content())
            with self._lock():
                return self._read_or_set_aside()
        except UserError as error:
            self._notice(str(error))
            return []

    def _content(self) -> dict[str, Any]:
        """The file, decoded."""
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
            raise UserError(
                f"{self.path} was written by a newer acp-tui; its rules are neither read nor changed here."
            )
        entries = content.get("rules")
        if not isinstance(entries, list):
            raise _CorruptError
        return entries

    def _read_or_set_aside(self) -> list[Any]:
        """With the lock held: read once more (another process may have repaired it), else move it away."""
        try:
            return self._entries(self._content())
        except _CorruptError:
            aside = self.path.with_name(f"{self.path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}")
            try:
                self.path.replace(aside)
            except OSError as error:
                raise UserError(
                    f"{self.path} is corrupt and cannot be set aside: {error.strerror}."
                ) from None
            self._notice(f"The remembered answers could not be understood; the file is now {aside}.")
            return []

    # ----------------------------------------------------------------- changing

    @contextlib.contextmanager
    def _changing(self) -> Iterator[list[Any]]:
        """The entries, to be changed; written when the block ends without an error."""
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
                raise UserError(
                    f"The answer cannot be remembered in {self.path}: {error.strerror}."
                ) from None

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other acp-tui from changing the file meanwhile; the lock ends with its process."""
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
        """Others hold it for moments only; one that was stopped just then must not stop us too."""
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
