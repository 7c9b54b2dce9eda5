"""Sets an agent's mode, model and options by the names that a user types."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING

from acp_tui.config.validators import closest_match
from acp_tui.errors import UserError
from acp_tui.session.events import Noticed
from acp_tui.session.offered_options import MODE, MODEL, SETTING_ORDER, offered_options
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from acp_tui.config.user_agents import UserAgent
    from acp_tui.controller.conversation import Conversation
    from acp_tui.session.state import ConfigOption

MAX_NAMES = 12
"""The maximum number of names that an error lists."""
TRUE, FALSE = ("true", "on", "yes", "1"), ("false", "off", "no", "0")


async def set_mode(conversation: Conversation, wanted: str) -> None:
    """Set the agent's mode. `wanted` is the id or the name of a mode."""
    await set_option(conversation, MODE, wanted)


async def set_option(conversation: Conversation, key: str, value: str) -> None:
    """Set an option of the agent. `key` is the id, the name or the category of an option.

    The keys `mode` and `model` also work if the agent does not offer the mode and the model as options.
    """
    title, offered = conversation.launch.title, offered_options(conversation.session)
    option = _option_named(offered, key)
    if option is None:
        names = {known.id: known.name for known in offered}
        raise UserError(_none_such(key, f'{title} has no option "{key}"', names))
    wanted = _value(option, value, title)
    if wanted != option.current:
        await change_setting(conversation, option.id, wanted)


def _option_named(offered: list[ConfigOption], key: str) -> ConfigOption | None:
    """Return the option whose id or name is `key`, else the first option of the category `key`."""
    named = next((option for option in offered if key in (option.id, option.name)), None)
    return named or next((option for option in offered if option.category == key), None)


def _category(offered: list[ConfigOption], key: str) -> str:
    option = _option_named(offered, key)
    return (option.category if option is not None else key) or ""


async def leave_unasking_mode(conversation: Conversation) -> None:
    """Change the mode of a new session if the agent would act in it without asking, and say so."""
    launch, session = conversation.launch, conversation.session
    option = _option_named(offered_options(session), MODE)
    current = option.current if option is not None else None
    wanted = launch.instead_of_mode.get(current) if isinstance(current, str) else None
    if option is None or wanted is None:
        return
    names = {choice.value: choice.name for choice in option.choices}
    if wanted not in names:
        return
    await set_option(conversation, MODE, wanted)
    started, chosen = names.get(str(current), str(current)), names[wanted]
    words = (
        f"{launch.title} starts in the mode {started}, in which it acts without asking. Changed to {chosen}."
    )
    setting = f'To keep {started}, set `mode = "{current}"` in `[agents.{launch.name}]`.'
    conversation.note(Noticed("info", escape_line(words), escape_line(setting)))


async def set_defaults(
    conversation: Conversation, agent: UserAgent, given: Iterable[str]
) -> AsyncIterator[UserError]:
    """Set the mode and the options that the user configured for an agent. Yield an error for each failure.

    `SETTING_ORDER` applies to the categories of the options. `given` contains the keys of the options that
    the command line sets; these options are skipped.
    """
    categories = {key: _category(offered_options(conversation.session), key) for key in agent.options}
    wanted = sorted(agent.options.items(), key=lambda item: SETTING_ORDER.get(categories[item[0]], 1))
    if agent.mode is not None:
        wanted.append((MODE, agent.mode))
    for key, value in wanted:
        offered = offered_options(conversation.session)
        option = _option_named(offered, key)
        if option is not None and option in [_option_named(offered, other) for other in given]:
            continue
        try:
            await set_option(conversation, key, value)
        except UserError as error:
            yield error


async def change_setting(conversation: Conversation, option_id: str, value: str | bool) -> None:
    """Set an option, the mode or the model: one of the settings in `offered_options`."""
    if any(option.id == option_id for option in conversation.session.config_options):
        await conversation.set_config_option(option_id, value)
    elif option_id == MODE:
        await conversation.set_mode(str(value))
    else:
        await conversation.set_model(str(value))


def _value(option: ConfigOption, text: str, title: str) -> str | bool:
    if option.kind == "boolean":
        if text.lower() in TRUE + FALSE:
            return text.lower() in TRUE
        raise UserError(f'The option "{option.id}" of {title} is either true or false, not "{text}".')
    names = {choice.value: choice.name for choice in option.choices}
    if option.category in (MODE, MODEL):
        return _find(text, names, f'{title} has no {option.category} "{text}"')
    return _find(text, names, f'The option "{option.id}" of {title} has no value "{text}"')


def _find(wanted: str, names: dict[str, str], complaint: str) -> str:
    """Return the id of the choice with id or name `wanted`. Case is ignored unless an id matches exactly."""
    if wanted in names:
        return wanted
    same = [key for key, name in names.items() if wanted.lower() in (key.lower(), name.lower())]
    if not same:
        raise UserError(_none_such(wanted, complaint, names))
    if len(same) > 1:
        raise UserError(escape_line(f'"{wanted}" is ambiguous. Use one of these: {", ".join(same)}.'))
    return same[0]


def _none_such(wanted: str, complaint: str, names: dict[str, str]) -> str:
    """Return the error for an unknown name: `complaint`, and the most similar name or a list of all names."""
    known = {name.lower(): name for pair in names.items() for name in pair}
    if (meant := closest_match(wanted.lower(), known)) is not None:
        return f'{complaint}; did you mean "{escape_line(known[meant])}"?'
    offered = [f"{key} ({name})" if name != key else key for key, name in names.items()]
    listed = ", ".join(offered[:MAX_NAMES])
    more = f" and {len(offered) - MAX_NAMES} more" if len(offered) > MAX_NAMES else ""
    return escape_line(f"{complaint}. It offers {listed or 'none'}{more}.")
