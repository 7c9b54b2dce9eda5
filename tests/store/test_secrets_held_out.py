"""How many kinds of secrets are hidden, and how much ordinary text is."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

from acp_tui.store.secret_patterns import redact_text

LIST = Path(__file__).parent / "secrets_held_out.txt"


def kinds() -> dict[str, tuple[str, list[str]]]:
    """The text of each kind, and the secrets in it."""
    found = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, text = line.replace("§", "").replace("⏎", "\n").split("\t")
            found[kind] = re.sub("[«»]", "", text), re.findall("«(.*?)»", text)
    return found


def test_nearly_all_of_130_kinds_of_secrets_are_hidden() -> None:
    listed = kinds()
    shown = [
        kind for kind, (text, parts) in listed.items() if any(part in redact_text(text) for part in parts)
    ]
    assert len(listed) == 130
    assert len(shown) <= 4, shown


def test_fewer_than_one_in_10_000_lines_of_ordinary_source_is_changed() -> None:
    lines = changed = size = 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        before, after = text.split("\n"), redact_text(text).split("\n")
        assert len(before) == len(after), path
        lines += len(before)
        changed += sum(old != new for old, new in zip(before, after, strict=True))
        size += len(text)
    assert size > 1_000_000
    assert changed <= lines / 10_000
