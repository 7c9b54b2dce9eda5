"""Frames with one wrong value: everything that reads or shows them still works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from acp_tui.cli.recordings import transcript_lines
from acp_tui.doctor.report import find_violations
from acp_tui.export import export
from acp_tui.protocol.translator import fold
from tests.support.mutations import mutated_traffic
from tests.support.talk import properties

if TYPE_CHECKING:
    from acp_tui.session.record import Record

many = settings(
    properties, max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@many
@given(mutated_traffic())
def test_no_check_fails_on_mutated_frames(traffic: list[Record]) -> None:
    assert "check-failed" not in [found.check for found in find_violations(traffic)]


@many
@given(mutated_traffic())
def test_the_text_transcript_shows_mutated_frames(traffic: list[Record]) -> None:
    assert list(transcript_lines(fold(traffic)))


@pytest.mark.parametrize("form", ["md", "html", "json"])
@settings(many, max_examples=25)
@given(traffic=mutated_traffic())
def test_exports_contain_mutated_frames(traffic: list[Record], form: str) -> None:
    assert export(traffic, form)
