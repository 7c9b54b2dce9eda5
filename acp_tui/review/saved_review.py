"""The decisions of a review as JSON. The contents of files are kept apart, under their hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from acp_tui.review.changed_file import ChangedFile, FileVersion
from acp_tui.review.decisions import ReviewDecision

MAX_DECISIONS = 100
"""How many of the latest decisions are saved, so that they can be undone after a restart."""
MAX_CONTENT_SIZE = 20_000_000
"""The maximum total size of the contents of these decisions, in bytes. The latest one is always saved."""


class ContentNames:
    """Names contents by their hash. Contents that were named in the last call are not hashed again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[bytes, str]] = {}  # by the id of the content

    def name(self, data: bytes) -> str:
        """Return the name of a content."""
        known = self._known.get(id(data))
        if known is None or known[0] is not data:
            known = self._known[id(data)] = (data, hashlib.sha1(data, usedforsecurity=False).hexdigest())
        return known[1]

    def forget_others(self, contents: Mapping[str, bytes]) -> None:
        self._known = {key: known for key, known in self._known.items() if known[1] in contents}


@dataclass(slots=True)
class SavedReview:
    """What is saved of a review."""

    decisions: list[ReviewDecision] = field(default_factory=list)
    accepted: dict[Path, FileVersion] = field(default_factory=dict)
    """The version that each file with a decision is compared with."""
    signatures: dict[Path, tuple[int, ...] | None] = field(default_factory=dict)
    """How the completely reviewed files were on disk, to notice that one has changed since."""
    round_began: int = 0
    """The number of decisions when the comments were last sent."""

    def to_json(self, names: ContentNames) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return a value that can be saved, and the contents that it names."""
        contents: dict[str, bytes] = {}
        accepted = {str(path): _version(one, names, contents) for path, one in self.accepted.items()}
        base = sum(map(len, contents.values()))
        decisions: list[Any] = []
        for decision in reversed(self.decisions[-MAX_DECISIONS:]):
            added: dict[str, bytes] = {}
            value = [
                decision.verb,
                [_file(one, names, added) for one in decision.before],
                [_file(one, names, added) for one in decision.after],
                decision.parts,
                decision.first_part,
            ]
            size = sum(map(len, (contents | added).values())) - base
            if decisions and size > MAX_CONTENT_SIZE:
                break
            contents |= added
            decisions.append(value)
        dropped = len(self.decisions) - len(decisions)
        return {
            "decisions": decisions[::-1],
            "accepted": accepted,
            "signatures": {str(path): signature for path, signature in self.signatures.items()},
            "round_began": max(0, self.round_began - dropped),
        }, contents

    @classmethod
    def from_json(cls, value: Any, content: Callable[[str], bytes | None]) -> SavedReview:
        """Return a saved review. What is damaged is left out, with the decisions before it.

        `content` returns the content with a name; None if it is missing.
        """
        saved = cls()
        if not isinstance(value, dict):
            return saved
        try:
            saved.accepted = {
                Path(path): _read_version(one, content) for path, one in value["accepted"].items()
            }
            saved.signatures = {
                Path(path): tuple(map(int, one)) if one is not None else None
                for path, one in value["signatures"].items()
            }
            saved.round_began = int(value["round_began"])
            decisions: Sequence[Any] = value["decisions"]
        except (KeyError, TypeError, ValueError, AttributeError):
            return cls()
        for at, one in enumerate(reversed(decisions)):
            try:
                saved.decisions.insert(0, _read_decision(one, content))
            except (KeyError, TypeError, ValueError, IndexError):
                saved.round_began = max(0, saved.round_began - (len(decisions) - at))
                break
        return saved


def _version(version: FileVersion, names: ContentNames, contents: dict[str, bytes]) -> list[Any]:
    name = None
    if version.data is not None:
        name = names.name(version.data)
        contents[name] = version.data
    return [name, version.mode, version.obstacle, version.fingerprint]


def _read_version(value: Any, content: Callable[[str], bytes | None]) -> FileVersion:
    name, mode, obstacle, fingerprint = value
    data = content(name) if name is not None else None
    if name is not None and (data is None or hashlib.sha1(data, usedforsecurity=False).hexdigest() != name):
        raise ValueError("a content is missing or damaged")
    return FileVersion(data, int(mode), obstacle, tuple(fingerprint) if fingerprint is not None else None)


def _file(file: ChangedFile, names: ContentNames, contents: dict[str, bytes]) -> list[Any]:
    versions = [_version(version, names, contents) for version in (file.old, file.now)]
    return [str(file.path), *versions, file.authors, file.obstacle]


def _read_file(value: Any, content: Callable[[str], bytes | None]) -> ChangedFile:
    path, old, now, authors, obstacle = value
    file = ChangedFile.between(
        Path(path),
        _read_version(old, content),
        _read_version(now, content),
        authors=int(authors),
        obstacle=obstacle,
    )
    if file.text is None:
        return file
    return replace(file, text=replace(file.text, authors=(file.authors,) * len(file.text.blocks)))


def _read_decision(value: Any, content: Callable[[str], bytes | None]) -> ReviewDecision:
    verb, before, after, parts, first_part = value
    verbs: dict[str, Literal["accept", "revert"]] = {"accept": "accept", "revert": "revert"}
    return ReviewDecision(
        verbs[verb],
        tuple(_read_file(one, content) for one in before),
        tuple(_read_file(one, content) for one in after),
        int(parts),
        int(first_part),
    )
