"""State that the client is told in full whenever it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp.helpers import update_current_mode
from acp.schema import ConfigOptionUpdate, Cost, UsageUpdate

from acp_tui.demo.settings import CURRENCY, MODELS

if TYPE_CHECKING:
    from acp import Client
    from acp.schema import ClientCapabilities

    from acp_tui.demo.settings import ConfigOption
    from acp_tui.demo.store import StoredSession


def config_options(stored: StoredSession, capabilities: ClientCapabilities) -> list[ConfigOption]:
    """The config options that this client can show."""
    known = capabilities.session and capabilities.session.config_options
    return stored.settings.options(booleans=bool(known and known.boolean))


async def settings(client: Client, stored: StoredSession, capabilities: ClientCapabilities) -> None:
    """Mode and options, after either changed in whatever way: both ways of telling the mode agree."""
    await client.session_update(stored.id, update_current_mode(stored.settings.mode))
    await client.session_update(
        stored.id,
        ConfigOptionUpdate(
            session_update="config_option_update", config_options=config_options(stored, capabilities)
        ),
    )


async def usage(client: Client, stored: StoredSession) -> None:
    """The context window and the cost, both made up."""
    window = MODELS[stored.settings.model].window
    cost = Cost(amount=round(stored.cost, 6), currency=CURRENCY)
    used = min(stored.used, window)
    await client.session_update(
        stored.id, UsageUpdate(session_update="usage_update", used=used, size=window, cost=cost)
    )
