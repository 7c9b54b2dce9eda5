"""The setting `telemetry.traceparent`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.config.settings import load

if TYPE_CHECKING:
    from pathlib import Path

TRACEPARENT = "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01"


@pytest.mark.parametrize("value", ["environment", "off", "random", TRACEPARENT])
def test_the_trace_context_is_a_word_or_a_value(value: str, tmp_path: Path) -> None:
    settings = load(tmp_path, environ={"ACP_TUI_TELEMETRY_TRACEPARENT": value})
    assert (settings.telemetry.traceparent, settings.problems) == (value, [])


@pytest.mark.parametrize(
    "value", ["on", "00-00000000000000000000000000000000-7a085853722dc6d2-01", "00-aa-bb-01"]
)
def test_a_trace_context_that_agents_would_ignore_is_reported(value: str, tmp_path: Path) -> None:
    settings = load(tmp_path, environ={"ACP_TUI_TELEMETRY_TRACEPARENT": value})
    assert settings.telemetry.traceparent == "environment"
    assert "expected environment, off, random, or a value" in str(settings.problems[0])
