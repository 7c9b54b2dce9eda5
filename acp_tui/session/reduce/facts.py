"""What the agent reports about the session: commands, title, modes, options, usage; and the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.offered_options import current_settings, value_name
from acp_tui.session.reduce.entries import add_notice, facts_changed
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import (
    ConfigOption,
    Cost,
    Level,
    McpCall,
    Mode,
    QueuedPrompt,
    Session,
    TurnUsage,
    Usage,
)
from acp_tui.session.usage_text import quota_words

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.record import Change


MAX_MCP_CALLS = 200
"""The maximum number of MCP tool calls that a session keeps."""


def commands_changed(session: Session, event: ev.CommandsChanged, _at: float) -> list[Change]:
    session.commands = event.commands
    return facts_changed("commands")


def info_changed(session: Session, event: ev.InfoChanged, _at: float) -> list[Change]:
    if event.title is not None or event.clear_title:
        session.title = event.title
    if event.updated_at is not None:
        session.updated_at = event.updated_at
    return facts_changed("title")


def mcp_called(session: Session, event: ev.McpCalled, at: float) -> list[Change]:
    """Add a call of an MCP tool. Forget the oldest call if there are more than `MAX_MCP_CALLS`."""
    call = McpCall(
        at=at,
        server=event.server,
        tool=event.tool,
        raw_arguments=event.arguments,
        raw_result=event.result,
        error=event.error,
        seconds=event.seconds,
        by=event.by,
    )
    session.mcp_calls = [*session.mcp_calls[1 - MAX_MCP_CALLS :], call]
    return facts_changed("mcp_calls")


def reset_facts(session: Session) -> list[Change]:
    """Forget the modes, options, models, commands, usage, plan and title.

    Called when a new session replaces the current one.
    """
    session.modes, session.mode, session.config_options = [], None, []
    session.models, session.model, session.commands = [], None, []
    session.usage, session.plan, session.title = Usage(), None, None
    names = ("modes", "mode", "config_options", "models", "model", "commands", "usage", "plan", "title")
    return facts_changed(*names)


# --------------------------------------------------------------------------- modes, options, models


def mode_changed(session: Session, event: ev.ModeChanged, at: float) -> list[Change]:
    """Update the mode and add a notice, unless the session is already in this mode.

    Agents often report a change twice. While history is replayed or settings are restored, no notice is
    added.
    """
    if event.mode == session.mode:
        return []
    session.mode = event.mode
    option = session.mode_option
    if option is not None:
        option.current = event.mode
    update_settings(session)
    name = next((mode.name for mode in session.modes if mode.id == event.mode), event.mode)
    return [*facts_changed("mode"), *_setting_notice(session, at, "Mode", name)]


def config_options_changed(session: Session, event: ev.ConfigOptionsChanged, at: float) -> list[Change]:
    """Replace the config options, and add a notice for each changed value of an option that remains.

    While history is replayed or settings are restored, no notice is added.
    """
    before = {option.id: option.current for option in session.config_options}
    changes = set_options(session, event.options)
    update_settings(session)
    for option in session.config_options:
        if option.id in before and option.current != before[option.id]:
            changes += _setting_notice(session, at, option.name, value_name(option))
    return changes


def config_option_set(session: Session, event: ev.ConfigOptionSet, at: float) -> list[Change]:
    """Set the new value of a config option. The agent confirmed the value, but did not list all options."""
    option = next((option for option in session.config_options if option.id == event.option_id), None)
    if option is None or option.current == event.value:
        return []
    option.current = event.value
    changes = set_options(session, session.config_options)
    update_settings(session)
    return [*changes, *_setting_notice(session, at, option.name, value_name(option))]


def model_changed(session: Session, event: ev.ModelChanged, at: float) -> list[Change]:
    if event.model == session.model:
        return []
    session.model = event.model
    update_settings(session)
    name = next((choice.name for choice in session.models if choice.value == event.model), event.model)
    return [*facts_changed("model"), *_setting_notice(session, at, "Model", name)]


def set_options(session: Session, options: list[ConfigOption]) -> list[Change]:
    """Store config options.

    If an option selects the mode, the option's choices become the session's `modes`. If an option selects the
    model, the session's `models` are cleared, because the option replaces `models`.
    """
    session.config_options = options
    changes = facts_changed("config_options")
    option = session.mode_option
    if option is not None:
        session.modes = [Mode(choice.value, choice.name, choice.description) for choice in option.choices]
        session.mode = option.current if isinstance(option.current, str) else None
        changes += facts_changed("modes", "mode")
    if any(option.category == "model" for option in options) and session.models:
        session.models, session.model = [], None
        changes += facts_changed("models", "model")
    return changes


def set_modes(session: Session, modes: list[Mode] | None, mode: str | None) -> list[Change]:
    """Store the modes from the answer to a request that opens a session.

    The modes are ignored if the session has a config option for the mode.
    """
    if session.mode_option is not None or (modes is None and mode is None):
        return []
    if modes is not None:
        session.modes = modes
    session.mode = mode
    return facts_changed("modes", "mode")


def _setting_notice(session: Session, at: float, what: str, value: str) -> list[Change]:
    """Add a notice about a setting's new value, except while history is replayed or settings are restored."""
    if session.phase == "loading" or session.reducer_state.restoring:
        return []
    return add_notice(session, at, f"{what}: {escape_line(value)}")  # may be a raw id instead of a name


# --------------------------------------------------------------------------- restoring settings


def begin_restore(session: Session) -> list[Change]:
    """Start to restore settings: keep the stored values, and clear the current ones.

    The agent reports the current values when it has opened the session.
    """
    session.reducer_state.restoring = bool(session.settings)
    session.mode = session.model = None
    for option in session.config_options:
        option.current = None
    return facts_changed("mode", "model", "config_options")


def settings_restored(session: Session, event: ev.SettingsRestored, _at: float) -> list[Change]:
    """Store the current value of each setting, except for settings that could not be restored."""
    wanted = {key: session.settings[key] for key in event.failed if key in session.settings}
    session.reducer_state.restoring = False
    session.settings = current_settings(session) | wanted
    return []


def end_restore(session: Session) -> None:
    """Stop restoring settings. Called when a prompt is sent: older logs have no `SettingsRestored` event."""
    if session.reducer_state.restoring:
        session.reducer_state.restoring = False
        session.settings = current_settings(session)


def update_settings(session: Session) -> None:
    """Store the current values of all settings, unless stored values are being restored."""
    if not session.reducer_state.restoring:
        session.settings = current_settings(session)


# --------------------------------------------------------------------------- the queue


def queued(session: Session, event: ev.Queued, _at: float) -> list[Change]:
    """Add a prompt to the queue, or replace the queued prompt with the same id.

    Paused prompts are last in the queue: what the user writes later is sent before them.
    """
    prompt = QueuedPrompt(event.id, event.text, event.blocks)
    index = next((index for index, known in enumerate(session.queue) if known.id == event.id), None)
    if index is not None:
        session.queue[index] = prompt
    elif event.first:
        session.queue.insert(0, prompt)
    else:
        session.queue.append(prompt)
        session.queue.sort(key=lambda one: one.paused)
    return facts_changed("queue")


def unqueued(session: Session, event: ev.Unqueued, _at: float) -> list[Change]:
    session.queue = [prompt for prompt in session.queue if prompt.id != event.id]
    session.queue_paused = any(prompt.paused for prompt in session.queue)
    return facts_changed("queue")


def queue_paused(session: Session, event: ev.QueuePaused, _at: float) -> list[Change]:
    pause_queue(session, event.paused)
    return facts_changed("queue")


def pause_queue(session: Session, paused: bool) -> None:  # as in the event
    """Pause or resume the prompts that are in the queue now."""
    for prompt in session.queue:
        prompt.paused = paused
    session.queue_paused = paused


QUOTA_LEVELS: dict[str | None, Level] = {"allowed_warning": "warning", "rejected": "error"}
"""The levels of notices about limits, by the status that the agent reports. Other statuses add no notice."""
MAX_COUNTS = 20
"""The maximum number of token counts to keep per turn."""
MAX_QUOTAS = 20
"""The maximum number of plan limits to keep per session."""


def begin_turn_usage(session: Session, at: float) -> None:
    """Start to count the tokens and the cost of a turn."""
    cost = session.usage.cost
    before = cost.amount if cost is not None else None
    if before is None and session.reducer_state.is_new:
        before = 0.0
    totals = session.usage.totals
    session.turn_usages.append(TurnUsage(session.turn, at, cost_before=before, totals_before=totals))


def retrying(session: Session, event: ev.Retrying, _at: float) -> list[Change]:
    """Remember why the agent repeats a request, until the agent sends something else."""
    session.retrying = event.reason
    return facts_changed("retrying")


def usage_changed(session: Session, event: ev.UsageChanged, _at: float) -> list[Change]:
    """Update the context window and the cost, for the session and for the last turn.

    Agents can report these values even after the turn has ended.
    """
    before = session.usage
    session.usage = Usage(
        used=before.used if event.used is None else event.used,
        size=before.size if event.size is None else event.size,
        cost=before.cost if event.cost is None else event.cost,
        tokens=before.tokens,
        totals=before.totals if event.totals is None else event.totals,
    )
    if session.turn_usages:
        turn = session.turn_usages[-1]
        turn.used, turn.size = session.usage.used, session.usage.size
        if event.cost is not None:
            turn.cost = _turn_cost(turn, event.cost)
        if event.totals is not None:
            turn.tokens = session.usage.tokens = _turn_tokens(turn, event.totals)
    return facts_changed("usage")


def _turn_cost(turn: TurnUsage, total: Cost) -> Cost | None:
    """Return what a turn cost; None if the session's cost at the start of the turn is unknown.

    A `total` lower than at the start of the turn means that a restarted agent counts from zero again.
    """
    if turn.cost_before is None:
        return None
    if total.amount < turn.cost_before:
        turn.cost_before = 0.0
    return Cost(total.amount - turn.cost_before, total.currency)


def _turn_tokens(turn: TurnUsage, totals: dict[str, int]) -> dict[str, int]:
    """Return the tokens of a turn. If a count is lower than before, a restarted agent counts from zero."""
    if any(count < turn.totals_before.get(name, 0) for name, count in totals.items()):
        turn.totals_before = {}
    return {name: count - turn.totals_before.get(name, 0) for name, count in totals.items()}


def tokens_used(session: Session, event: ev.TokensUsed, _at: float) -> list[Change]:
    """Add the tokens of one model request to the token counts of the running turn."""
    if not session.turn_usages or not session.working:
        return []
    known = session.turn_usages[-1].tokens
    for name, count in event.tokens.items():
        if name in known or len(known) < MAX_COUNTS:
            known[name] = known.get(name, 0) + count
    return facts_changed("usage")


def note_turn_tokens(session: Session, event: ev.TurnEnded) -> None:
    """Store the turn's final token counts, if the agent sent any. They replace the counts so far."""
    if not session.turn_usages:
        return
    turn = session.turn_usages[-1]
    turn.tokens = event.tokens or turn.tokens
    turn.models = event.models
    if turn.tokens:
        session.usage.tokens = turn.tokens


def quota_changed(session: Session, event: ev.QuotaChanged, at: float) -> list[Change]:
    """Store how much of a limit is used, and add a notice when the limit becomes nearly or fully used up.

    At most `MAX_QUOTAS` limits are stored. Further ones are ignored.
    """
    quota = event.quota
    known = session.quotas.get(quota.name)
    if known is None and len(session.quotas) >= MAX_QUOTAS:
        return []
    session.quotas[quota.name] = quota
    level = QUOTA_LEVELS.get(quota.status)
    if level is None or (known is not None and known.status == quota.status):
        return facts_changed("usage")
    notice = add_notice(session, at, quota_words(quota, at), level=level, source="agent")
    return [*facts_changed("usage"), *notice]
