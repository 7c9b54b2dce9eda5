"""The pictures are reproducible, small and do not depend on the machine."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from acp_tui.ui.theme.themes import BUILT_IN
from tests.pictures.make import FOLDER, picture
from tests.pictures.record import RECORDING

MAX_CHARS = 150_000


async def test_a_picture_is_the_same_each_time() -> None:
    first, second = [await picture("dark") for _ in range(2)]
    assert first == second
    for text in ("basket", "total", "✔", "What&#160;happened"):
        assert text in first


def test_every_built_in_theme_has_a_picture() -> None:
    assert {file.stem for file in FOLDER.glob("*.svg")} >= set(BUILT_IN)


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.svg")), ids=lambda file: file.stem)
def test_a_picture_is_small_and_loads_nothing(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(text) < MAX_CHARS
    assert "url(http" not in text
    ET.fromstring(text)


def test_the_recording_names_no_paths_of_a_machine() -> None:
    text = RECORDING.read_text(encoding="utf-8")
    assert "/home/you/basket" in text
    assert str(Path.home()) not in text
    assert "/tmp/" not in text
