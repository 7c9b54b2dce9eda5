"""Modes, models, config options and slash commands that a session offers."""

from __future__ import annotations

from typing import Any

from acp_tui.protocol.readers import values
from acp_tui.session.state import Choice, ConfigOption, Mode, SlashCommand
from acp_tui.session.text.safe_text import visible_line


def read_commands(source: dict[str, Any]) -> list[SlashCommand] | None:
    """Read the slash commands in an update or an answer; None if there is no list of commands."""
    found = values.first(source, "availableCommands", "available_commands", "commands")
    if not isinstance(found, list):
        return None
    return [command for item in found if (command := _command(item)) is not None]


def _command(item: Any) -> SlashCommand | None:
    if isinstance(item, str):
        return SlashCommand(visible_line(item))
    source = values.obj(item)
    name = values.line(source, "name")
    if name is None:
        return None
    given = values.obj(source.get("input"))
    hint = values.line(given, "hint") or values.line(values.obj(given.get("unstructured")), "hint")
    return SlashCommand(name, values.text(source, "description") or "", hint)


def read_modes(result: dict[str, Any]) -> tuple[list[Mode] | None, str | None]:
    """Read the available modes and the current mode's id from the answer to a request that opens a session.

    Either result is None if it is missing.
    """
    source = values.obj(result.get("modes"))
    current = values.raw(source, "currentModeId", "modeId") or values.raw(result, "currentModeId", "modeId")
    listed = values.first(source, "availableModes", "modes")
    if not isinstance(listed, list):
        return None, current
    found: list[Mode] = []
    for item in listed:
        entry = values.obj(item)
        identity = values.raw(entry, "id", "modeId")
        if identity is not None:
            name = values.line(entry, "name") or visible_line(identity)
            found.append(Mode(identity, name, values.text(entry, "description")))
    return found, current


def read_models(result: dict[str, Any]) -> tuple[list[Choice] | None, str | None]:
    """Read the available models and the current model's id; both are None if the list of models is missing.

    Models are no longer part of the protocol, but agents still send them.
    """
    source = values.obj(result.get("models"))
    if not isinstance(source.get("availableModels"), list):
        return None, None
    found: list[Choice] = []
    for item in source["availableModels"]:
        entry = values.obj(item)
        identity = values.raw(entry, "modelId", "id")
        if identity is not None:
            name = values.line(entry, "name") or visible_line(identity)
            found.append(Choice(identity, name, values.text(entry, "description")))
    return found, values.raw(source, "currentModelId")


def read_config_options(source: Any) -> list[ConfigOption] | None:
    """Read the config options in an update or an answer; None if there is no list of options."""
    listed = values.obj(source).get("configOptions")
    if not isinstance(listed, list):
        return None
    return [option for item in listed if (option := _option(item)) is not None]


def _option(item: Any) -> ConfigOption | None:
    source = values.obj(item)
    identity = values.raw(source, "id", "configId")
    if identity is None:
        return None
    current = source.get("currentValue")
    choices = _choices(source.get("options"))
    return ConfigOption(
        id=identity,
        name=values.line(source, "name") or visible_line(identity),
        kind=values.line(source, "type") or ("select" if choices else "unknown"),
        current=current if isinstance(current, bool) else values.raw(source, "currentValue"),
        description=values.text(source, "description"),
        category=values.line(source, "category"),
        choices=choices,
    )


def _choices(value: Any, group: str | None = None) -> list[Choice]:
    """Read the values that a config option can have, grouped or not.

    `group` is the name of the group that `value` lists; None at the top level.
    """
    found: list[Choice] = []
    for item in values.items(value):
        source = values.obj(item)
        if group is None and isinstance(source.get("options"), list):
            found += _choices(source["options"], values.line(source, "name", "group") or "")
        elif (chosen := values.raw(source, "value")) is not None:
            name = values.line(source, "name") or visible_line(chosen)
            found.append(Choice(chosen, name, values.text(source, "description"), group))
    return found
