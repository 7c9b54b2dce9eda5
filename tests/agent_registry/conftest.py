"""A registry that is served on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.agent_registry import serve_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.agent_registry import Site


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Serve a registry, which the settings name."""
    with serve_site() as served:
        monkeypatch.setenv("ACP_TUI_REGISTRY_URL", served.registry)
        yield served
