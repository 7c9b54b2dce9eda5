"""Sets an agent's mode, model and options by the names that a user types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.errors import UserError

if TYPE_CHECKING:
    from acp_tui.controller.conversation import Conversation
    from acp_tui.session.state import ConfigOption

TRUE, FALSE = ("true", "on", "yes", "1"), ("false", "off", "no", "0")


async def set_mode(conversation: Conversation, wanted: str) -> None:
    """Set the agent's mode. `wanted` is the id or the name of a mode."""
    session, title = conversation.session, conversation.launch.title
    names = {mode.id: mode.name for mode in session.modes}
    mode = _find(wanted, names, f'{title} has no mode "{wanted}"')
    option = session.mode_option
    if option is not None:
        await conversation.set_config_option(option.id, mode)
    else:
        await conversation.set_mode(mode)


async def set_option(conversation: Conversation, key: str, value: str) -> None:
    """Set an option of the agent. `key` is the id, the name or the category of an option.

    The keys `mode` and `model` also work with agents that do not offer these as options.
    """
    session, title = conversation.session, conversation.launch.title
    options = session.config_options
    option = next((known for known in options if key in (known.id, known.name)), None)
    option = option or next((known for known in options if known.category == key), None)
    if option is not None:
        await conversation.set_config_option(option.id, _value(option, value, title))
    elif key == "mode" and session.modes:
        await set_mode(conversation, value)
    elif key == "model" and session.models:
        names = {model.value: model.name for model in session.models}
        await conversation.set_model(_find(value, names, f'{title} has no model "{value}"'))
    else:
        names = {known.id: known.name for known in options}
        raise UserError(_none_such(f'{title} has no option "{key}"', names))


def _value(option: ConfigOption, text: str, title: str) -> str | bool:
    if option.kind == "boolean":
        if text.lower() in TRUE + FALSE:
            return text.lower() in TRUE
        raise UserError(f'The option "{option.id}" of {title} is either true or false, not "{text}".')
    names = {choice.value: choice.name for choice in option.choices}
    return _find(text, names, f'The option "{option.id}" of {title} has no value "{text}"')


def _find(wanted: str, names: dict[str, str], complaint: str) -> str:
    """Return the id of the choice with this id or name. Case is ignored unless an id matches exactly."""
    if wanted in names:
        return wanted
    same = [key for key, name in names.items() if wanted.lower() in (key.lower(), name.lower())]
    if len(same) != 1:
        raise UserError(_none_such(complaint, names))
    return same[0]


def _none_such(complaint: str, names: dict[str, str]) -> str:
    offered = ", ".join(f"{key} ({name})" if name != key else key for key, name in names.items())
    return f"{complaint}. It offers {offered or 'none'}."
