"""What agents offer: who they are, modes, config options, models, commands."""

from __future__ import annotations

from typing import Any

from acp_tui.protocol import read
from acp_tui.protocol.auth import auth_methods
from acp_tui.session.state import Agent, Choice, Command, ConfigOption, Mode
from acp_tui.session.text import visible_line


def agent(result: dict[str, Any]) -> Agent:
    """The answer to `initialize`, in the words of version 1 or of the draft."""
    info = read.obj(read.first(result, "agentInfo", "serverInfo"))
    version = result.get("protocolVersion")
    version = visible_line(version) if isinstance(version, str) else version
    return Agent(
        name=read.line(info, "name"),
        title=read.line(info, "title"),
        version=read.line(info, "version"),
        protocol_version=version if isinstance(version, str) else read.whole(result, "protocolVersion"),
        capabilities=read.obj(read.first(result, "agentCapabilities", "capabilities")),
        auth_methods=auth_methods(result.get("authMethods")),
        meta=read.obj(result.get("_meta")),
    )


def commands(source: dict[str, Any]) -> list[Command] | None:
    """A list of slash commands. None: there is none."""
    found = read.first(source, "availableCommands", "available_commands", "commands")
    if not isinstance(found, list):
        return None
    return [command for item in found if (command := _command(item)) is not None]


def _command(item: Any) -> Command | None:
    if isinstance(item, str):
        return Command(visible_line(item))
    source = read.obj(item)
    name = read.line(source, "name")
    if name is None:
        return None
    given = read.obj(source.get("input"))
    hint = read.line(given, "hint") or read.line(read.obj(given.get("unstructured")), "hint")
    return Command(name, read.text(source, "description") or "", hint)


def modes(result: dict[str, Any]) -> tuple[list[Mode] | None, str | None]:
    """The modes of an answer that opens a session, and the current one."""
    source = read.obj(result.get("modes"))
    current = read.raw(source, "currentModeId", "modeId") or read.raw(result, "currentModeId", "modeId")
    listed = read.first(source, "availableModes", "modes")
    if not isinstance(listed, list):
        return None, current
    found: list[Mode] = []
    for item in listed:
        entry = read.obj(item)
        identity = read.raw(entry, "id", "modeId")
        if identity is not None:
            name = read.line(entry, "name") or visible_line(identity)
            found.append(Mode(identity, name, read.text(entry, "description")))
    return found, current


def models(result: dict[str, Any]) -> tuple[list[Choice] | None, str | None]:
    """`models`: no longer in the schema, still offered by several agents."""
    source = read.obj(result.get("models"))
    if not isinstance(source.get("availableModels"), list):
        return None, None
    found: list[Choice] = []
    for item in source["availableModels"]:
        entry = read.obj(item)
        identity = read.raw(entry, "modelId", "id")
        if identity is not None:
            name = read.line(entry, "name") or visible_line(identity)
            found.append(Choice(identity, name, read.text(entry, "description")))
    return found, read.raw(source, "currentModelId")


def config_options(source: Any) -> list[ConfigOption] | None:
    """The complete list of config options. None: not given."""
    listed = read.obj(source).get("configOptions")
    if not isinstance(listed, list):
        return None
    return [option for item in listed if (option := _option(item)) is not None]


def _option(item: Any) -> ConfigOption | None:
    source = read.obj(item)
    identity = read.raw(source, "id", "configId")
    if identity is None:
        return None
    current = source.get("currentValue")
    choices = _choices(source.get("options"))
    return ConfigOption(
        id=identity,
        name=read.line(source, "name") or visible_line(identity),
        kind=read.line(source, "type") or ("select" if choices else "unknown"),
        current=current if isinstance(current, bool) else read.raw(source, "currentValue"),
        description=read.text(source, "description"),
        category=read.line(source, "category"),
        choices=choices,
    )


def _choices(value: Any, group: str | None = None) -> list[Choice]:
    """The values of an option, which may stand in groups."""
    found: list[Choice] = []
    for item in read.items(value):
        source = read.obj(item)
        if group is None and isinstance(source.get("options"), list):
            found += _choices(source["options"], read.line(source, "name", "group") or "")
        elif (chosen := read.raw(source, "value")) is not None:
            name = read.line(source, "name") or visible_line(chosen)
            found.append(Choice(chosen, name, read.text(source, "description"), group))
    return found
