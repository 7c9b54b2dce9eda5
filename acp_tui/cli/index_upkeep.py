"""Updates the full-text index of sessions after the app has started, so that the first search is fast."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DELAY_SECONDS = 15.0
"""Seconds from the start of the app to the update. By then the first frame is drawn and the agent runs."""

log = logging.getLogger(__name__)


@asynccontextmanager
async def index_upkeep() -> AsyncIterator[None]:
    """Update the index once, `DELAY_SECONDS` after the block begins. Stop the update when the block ends."""
    update = asyncio.create_task(_update_later())
    try:
        yield
    finally:
        update.cancel()
        await asyncio.wait([update])


async def _update_later() -> None:
    await asyncio.sleep(DELAY_SECONDS)
    from acp_tui.session_index.updater import update_in_background

    try:
        await update_in_background(lambda _: None)
    except UserError as error:  # the sessions screen shows it when the user wants to search
        log.warning("%s", error)
