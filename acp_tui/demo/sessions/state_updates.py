"""Notifications about state: options, mode and usage, each sent in full when it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp.helpers import update_current_mode
from acp.schema import ConfigOptionUpdate, Cost, UsageUpdate

from acp_tui.demo.sessions.settings import CURRENCY, MODELS

if TYPE_CHECKING:
    from acp import Client
    from acp.schema import ClientCapabilities

    from acp_tui.demo.sessions.settings import ConfigOption
    from acp_tui.demo.sessions.store import StoredSession


def supported_options(stored: StoredSession, capabilities: ClientCapabilities) -> list[ConfigOption]:
    """Return the config options that this client supports."""
    known = capabilities.session and capabilities.session.config_options
    return stored.settings.config_options(booleans=bool(known and known.boolean))


async def send_settings(client: Client, stored: StoredSession, capabilities: ClientCapabilities) -> None:
    """Send the mode and the config options; always together, because one of the options repeats the mode."""
    await client.session_update(stored.id, update_current_mode(stored.settings.mode))
    await client.session_update(
        stored.id,
        ConfigOptionUpdate(
            session_update="config_option_update", config_options=supported_options(stored, capabilities)
        ),
    )


async def send_usage(client: Client, stored: StoredSession) -> None:
    """Send the context window usage and the cost, both made up."""
    window = MODELS[stored.settings.model].context_window
    cost = Cost(amount=round(stored.cost, 6), currency=CURRENCY)
    used = min(stored.used, window)
    await client.session_update(
        stored.id, UsageUpdate(session_update="usage_update", used=used, size=window, cost=cost)
    )
