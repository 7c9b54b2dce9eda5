"""Measured rates: kinds of secrets that are masked, and ordinary source lines that are changed."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

from acp_tui.store.secret_patterns import redact_text

LIST = Path(__file__).parent / "secrets_held_out.txt"


def read_samples() -> dict[str, tuple[str, list[str]]]:
    """Return, for each kind of secret, a text and the secrets in it."""
    found = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, text = line.replace("§", "").replace("⏎", "\n").split("\t")
            found[kind] = re.sub("[«»]", "", text), re.findall("«(.*?)»", text)
    return found


def test_at_least_126_of_130_kinds_of_secrets_are_masked() -> None:
    samples = read_samples()
    missed = [
        kind
        for kind, (text, secrets) in samples.items()
        if any(secret in redact_text(text) for secret in secrets)
    ]
    assert len(samples) == 130
    assert len(missed) <= 4, missed


def test_at_most_1_in_10_000_lines_of_the_standard_library_is_changed() -> None:
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
