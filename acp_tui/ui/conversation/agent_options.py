"""Dialogs that let the user change the agent's options and the permission policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.settings import offered_settings, value_name
from acp_tui.session.state import Choice

if TYPE_CHECKING:
    from textual.app import App

    from acp_tui.config.policies import Policy
    from acp_tui.session.state import Session
    from acp_tui.ui.theme.palette import Palette


async def choose_option(
    app: App[int], session: Session, palette: Palette, wanted: str | None = None
) -> tuple[str, str | bool] | None:
    """Let the user pick an option and a value; None if cancelled.

    `wanted` is a category or option id, such as `mode`: its values are listed at once.
    """
    from acp_tui.ui.screens.choose import ChooseScreen

    options = offered_settings(session)
    if not options:
        app.notify("This agent has no options.", timeout=3)
        return None
    option = next((one for one in options if wanted in (one.category, one.id)), None) if wanted else None
    if option is None:
        rows = [Choice(one.id, f"{one.name}: {value_name(one)}", one.description) for one in options]
        taken = await app.push_screen_wait(ChooseScreen("Agent options", rows, palette))
        option = next((one for one in options if one.id == taken), None)
        if option is None:
            return None
    if option.kind == "boolean":
        return option.id, not option.current
    current = str(option.current) if option.current is not None else None
    value = await app.push_screen_wait(ChooseScreen(option.name, option.choices, palette, current=current))
    return (option.id, value) if value is not None else None


async def choose_policy(app: App[int], palette: Palette, current: str) -> Policy | None:
    """Let the user pick a policy; None if cancelled."""
    from acp_tui.config.policies import SUMMARIES
    from acp_tui.ui.screens.choose import ChooseScreen

    choices = [Choice(name, name, summary) for name, summary in SUMMARIES.items()]
    title = "Policy: what is allowed without asking"
    taken = await app.push_screen_wait(ChooseScreen(title, choices, palette, current=current))
    return next((name for name in SUMMARIES if name == taken), None)
