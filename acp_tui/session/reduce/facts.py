"""What the agent offers and says about the session, and the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.reduce.entries import add_notice, fact_changed
from acp_tui.session.reduce.kept_settings import update_settings
from acp_tui.session.settings import value_name
from acp_tui.session.state import Mode, QueuedPrompt, Usage
from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from acp_tui.session import events as ev
    from acp_tui.session.change import Change
    from acp_tui.session.state import ConfigOption, Session


def commands_changed(session: Session, event: ev.CommandsChanged, _at: float) -> list[Change]:
    """A complete list."""
    session.commands = event.commands
    return [fact_changed("commands")]


def info_changed(session: Session, event: ev.InfoChanged, _at: float) -> list[Change]:
    """Title and time."""
    if event.title is not None or event.clear_title:
        session.title = event.title
    if event.updated_at is not None:
        session.updated_at = event.updated_at
    return [fact_changed("title")]


def usage_changed(session: Session, event: ev.UsageChanged, _at: float) -> list[Change]:
    """Context window and cost; what it does not say stays."""
    before = session.usage
    session.usage = Usage(
        used=before.used if event.used is None else event.used,
        size=before.size if event.size is None else event.size,
        cost=before.cost if event.cost is None else event.cost,
        tokens=before.tokens,
    )
    return [fact_changed("usage")]


# --------------------------------------------------------------------------- modes, options, models


def mode_changed(session: Session, event: ev.ModeChanged, at: float) -> list[Change]:
    """The current mode, told or confirmed; often both, so only a new one is worth a line."""
    if event.mode == session.mode:
        return []
    session.mode = event.mode
    option = session.mode_option
    if option is not None:
        option.current = event.mode
    update_settings(session)
    name = next((mode.name for mode in session.modes if mode.id == event.mode), event.mode)
    return [fact_changed("mode"), *_setting_notice(session, at, "Mode", name)]


def config_options_changed(session: Session, event: ev.ConfigOptionsChanged, at: float) -> list[Change]:
    """The complete list of options; a line for each that has another value."""
    before = {option.id: option.current for option in session.config_options}
    changes = set_options(session, event.options)
    update_settings(session)
    for option in session.config_options:
        if option.id in before and option.current != before[option.id]:
            changes += _setting_notice(session, at, option.name, value_name(option))
    return changes


def config_option_set(session: Session, event: ev.ConfigOptionSet, at: float) -> list[Change]:
    """One option was set, as far as the agent lets us know."""
    option = next((option for option in session.config_options if option.id == event.option_id), None)
    if option is None or option.current == event.value:
        return []
    option.current = event.value
    changes = set_options(session, session.config_options)
    update_settings(session)
    return [*changes, *_setting_notice(session, at, option.name, value_name(option))]


def model_changed(session: Session, event: ev.ModelChanged, at: float) -> list[Change]:
    """`session/set_model` was answered."""
    if event.model == session.model:
        return []
    session.model = event.model
    update_settings(session)
    name = next((choice.name for choice in session.models if choice.value == event.model), event.model)
    return [fact_changed("model"), *_setting_notice(session, at, "Model", name)]


def set_options(session: Session, options: list[ConfigOption]) -> list[Change]:
    """Options beat modes: when one of them is the mode, `modes` mirror it; so for the model."""
    session.config_options = options
    changes = [fact_changed("config_options")]
    option = session.mode_option
    if option is not None:
        session.modes = [Mode(choice.value, choice.name, choice.description) for choice in option.choices]
        session.mode = option.current if isinstance(option.current, str) else None
        changes += [fact_changed("modes"), fact_changed("mode")]
    if any(option.category == "model" for option in options) and session.models:
        session.models, session.model = [], None
        changes += [fact_changed("models"), fact_changed("model")]
    return changes


def set_modes(session: Session, modes: list[Mode] | None, mode: str | None) -> list[Change]:
    """The modes of an answer that opens a session."""
    if session.mode_option is not None or (modes is None and mode is None):
        return []
    if modes is not None:
        session.modes = modes
    session.mode = mode
    return [fact_changed("modes"), fact_changed("mode")]


def _setting_notice(session: Session, at: float, what: str, value: str) -> list[Change]:
    """A line for a new value, unless a history is replayed or the values from before are being set."""
    if session.phase == "loading" or session.reducer_state.restoring:
        return []
    return add_notice(session, at, f"{what}: {visible_line(value)}")  # an id stands in for a missing name


# --------------------------------------------------------------------------- the queue


def queued(session: Session, event: ev.Queued, _at: float) -> list[Change]:
    """A prompt waits, or was edited while it did."""
    prompt = QueuedPrompt(event.id, event.text, event.blocks)
    place = next((index for index, known in enumerate(session.queue) if known.id == event.id), None)
    if place is not None:
        session.queue[place] = prompt
    elif event.first:
        session.queue.insert(0, prompt)
    else:
        session.queue.append(prompt)
    return [fact_changed("queue")]


def unqueued(session: Session, event: ev.Unqueued, _at: float) -> list[Change]:
    """A prompt was sent or removed."""
    session.queue = [prompt for prompt in session.queue if prompt.id != event.id]
    if not session.queue:
        session.queue_paused = False
    return [fact_changed("queue")]


def queue_paused(session: Session, event: ev.QueuePaused, _at: float) -> list[Change]:
    """The queue waits for the user, or goes on."""
    session.queue_paused = event.paused
    return [fact_changed("queue")]


def reset_offers(session: Session) -> list[Change]:
    """A new session starts: what the old one offered is no longer true."""
    session.modes, session.mode, session.config_options = [], None, []
    session.models, session.model, session.commands = [], None, []
    session.usage, session.plan, session.title = Usage(), None, None
    names = ("modes", "mode", "config_options", "models", "model", "commands", "usage", "plan", "title")
    return [fact_changed(name) for name in names]
