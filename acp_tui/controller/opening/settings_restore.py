"""Sets a reopened session's mode, model and options as they were before.

Many agents silently reopen a session with default settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.connection.errors import AgentGone, ConnectionFault, RequestFailed, SignInNeeded
from acp_tui.session.events import Noticed, SettingsRestored
from acp_tui.session.offered_options import MODE, SETTING_ORDER, current_settings, options_by_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.connection.agent_connection import AgentConnection
    from acp_tui.session.events import Event
    from acp_tui.session.state import ConfigOption, Session, Setting


async def restore_settings(
    agent: AgentConnection, session: Session, note: Callable[[Event], None], *, timeout: float
) -> None:
    """Set the offered settings to their values in `session.settings`, and add notices about the result.

    Raises `AgentGone` and `SignInNeeded`. `timeout` is for each request, in seconds.
    """
    wanted = dict(session.settings)
    restored: list[str] = []
    reasons: dict[str, str] = {}
    sign_in_needed: SignInNeeded | None = None
    for key in sorted(wanted, key=lambda key: SETTING_ORDER.get(key, 1)):
        setting = wanted[key]
        if _has(session, key, setting):
            continue
        option = options_by_key(session).get(key)
        if option is None:
            reasons[key] = "the agent no longer offers this setting"
        elif option.kind == "select" and setting.value not in [choice.value for choice in option.choices]:
            reasons[key] = f"the agent no longer offers {setting.value_name}"
        else:
            try:
                await _set_for_sure(agent, session, option, setting.value, timeout)
            except AgentGone:
                raise
            except RequestFailed as failure:
                reasons[key] = failure.error.message
                sign_in_needed = failure if isinstance(failure, SignInNeeded) else sign_in_needed
            except ConnectionFault as fault:
                reasons[key] = str(fault)
            else:
                restored.append(key)
    failed = [key for key in wanted if not _has(session, key, wanted[key])]
    for key in failed:
        note(Noticed("warning", _not_restored(session, key, wanted[key], reasons.get(key))))
    names = [f"{wanted[key].name}: {wanted[key].value_name}" for key in restored if key not in failed]
    if names:
        note(Noticed("info", f"Restored {', '.join(names)}"))
    note(SettingsRestored(failed))
    if sign_in_needed is not None:
        raise sign_in_needed


def _has(session: Session, key: str, setting: Setting) -> bool:
    current = current_settings(session).get(key)
    return current is not None and current.value == setting.value


async def _set_for_sure(
    agent: AgentConnection, session: Session, option: ConfigOption, value: str | bool, timeout: float
) -> None:
    """Set a value. If the agent refuses, set the value that it reports as the current one, then try again.

    Kimi Code reports its default mode for a session that is in plan mode, and refuses to change to plan mode
    because the session is already in plan mode. If the reported mode is set first, plan mode is accepted.
    """
    reported = option.current
    try:
        await _set(agent, session, option, value, timeout)
    except RequestFailed as failure:
        if reported is None:
            raise
        try:
            await _set(agent, session, option, reported, timeout)
            await _set(agent, session, option, value, timeout)
        except RequestFailed:
            raise failure from None


async def _set(
    agent: AgentConnection, session: Session, option: ConfigOption, value: str | bool, timeout: float
) -> None:
    session_id = session.session_id
    assert session_id is not None
    if option in session.config_options:
        await agent.set_config_option(session_id, option.id, value, timeout=timeout)
    elif option.id == MODE:
        await agent.set_mode(session_id, str(value), timeout=timeout)
    else:
        await agent.set_model(session_id, str(value), timeout=timeout)


def _not_restored(session: Session, key: str, setting: Setting, reason: str | None) -> str:
    current = current_settings(session).get(key)
    now = f"{setting.name} is {current.value_name}, " if current is not None else f"{setting.name} is "
    why = reason or "the agent accepted the change but did not make it"
    return f"{now}no longer {setting.value_name}: {why}"
