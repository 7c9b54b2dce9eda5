"""`acp-tui tap`: stands between an editor and an agent, and records what they say."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from acp_tui.config.agent_catalogue import (
    Launch,
    is_url,
    known_agents,
    program_name,
    require_command,
    resolve_launch,
)
from acp_tui.config.own_files import MAX_RECORDED_BYTES
from acp_tui.config.paths import paths
from acp_tui.config.validators import InvalidValueError, size
from acp_tui.console import content_stream
from acp_tui.errors import UsageError, UserError
from acp_tui.session.safe_text import escape_line, json_text

if TYPE_CHECKING:
    from acp_tui.config.settings import Settings

EDITORS = ("zed", "jetbrains", "neovim")
PROGRAM = Path(__file__).parents[2] / "wire" / "tap.py"
NOT_FOUND = 127
"""The exit code of shells if a program is not found."""
EPILOG = """\
examples:
  acp-tui tap claude-code                        an agent that acp-tui knows
  acp-tui tap -- python3 agent.py                any command
  acp-tui tap --log frames.jsonl -- python3 agent.py
  acp-tui tap --print-config zed -- python3 agent.py

Configure the command in your editor in place of the agent. While the agent runs, and afterwards:
  acp-tui sessions            lists what was recorded
  acp-tui wire ID --follow    shows the messages as they come
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "acp-tui tap [--log FILE] [--max-size SIZE] [--print-config EDITOR] AGENT | -- COMMAND ARGS"
    )
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="name of the agent")
    about = "record to this file instead of a new session; what it has is kept"
    parser.add_argument("--log", type=Path, metavar="FILE", help=about)
    about = "stop recording at this size, e.g. '500 MB' (default: log.max_session_bytes)"
    parser.add_argument("--max-size", type=_size, metavar="SIZE", help=about)
    about = f"print what to put into an editor's settings ({', '.join(EDITORS)}), and exit"
    parser.add_argument("--print-config", choices=EDITORS, metavar="EDITOR", help=about)


def run(args: argparse.Namespace) -> int:
    """Replace this process by the tap, or print the settings for an editor."""
    from acp_tui.config.settings import load

    settings = load(Path.cwd())
    launch = _launch(args.agent, args.command_line, settings)
    if args.print_config is not None:
        print(_editor_settings(args.print_config, launch.title, _tap_command(args)), file=content_stream())
        return 0
    program = _find_program(launch)
    max_bytes = settings.log.max_session_bytes if args.max_size is None else args.max_size
    options = {
        "program": program,
        "command": launch.command,
        "env": launch.env,
        "agent": launch.name,
        "title": launch.title,
        "ad_hoc": launch.ad_hoc,
        "log": None if args.log is None else os.path.abspath(args.log),  # noqa: PTH100 - links stay
        "data": str(paths().data),
        "max_bytes": min(max_bytes, MAX_RECORDED_BYTES),
        "sensitive": list(settings.workspace.sensitive),
        "path": [str(PROGRAM.parents[2]), *sys.path],
    }
    return _become_tap(options)


def _become_tap(options: dict[str, Any]) -> NoReturn:
    """Replace this process by `wire/tap.py`, which takes a quarter of the memory."""
    from acp_tui.wire.tap import initial_environment

    file = tempfile.TemporaryFile()  # noqa: SIM115  # read by the program; not in its arguments, which all can see
    file.write(json.dumps(options).encode())
    file.seek(0)
    os.set_inheritable(file.fileno(), True)
    command = [sys.executable, "-I", "-S", str(PROGRAM), str(file.fileno())]
    os.execve(sys.executable, command, initial_environment())  # noqa: S606  # no shell on purpose


def _launch(agent: str | None, command: list[str], settings: Settings) -> Launch:
    """Return what the command line names. Raises `UserError`."""
    if agent is not None and command:
        raise UsageError("Name an agent, or give a command after --, but not both.")
    if agent is not None:
        if agent not in known_agents(settings) and shutil.which(agent):
            raise UsageError(f"To tap a command, write: acp-tui tap -- {escape_line(agent)} …")
        launch = resolve_launch(agent, settings)
        require_command(launch)
        return launch
    if not command:
        raise UsageError("Name an agent (see `acp-tui agents`), or give a command: acp-tui tap -- PROG ARGS.")
    if is_url(command[0]):
        raise UsageError(f"{escape_line(command[0])} is a URL, not a command that starts an agent.")
    name = program_name(command)
    return Launch(name=name, title=name, command=command, ad_hoc=True)


def _find_program(launch: Launch) -> str:
    """Return the path of the agent's program. Raises `UserError`."""
    name = launch.command[0]
    path = launch.env.get("PATH", os.environ.get("PATH", os.defpath))
    if found := shutil.which(name, path=path):
        return os.path.abspath(found)  # noqa: PTH100 - links stay
    what = "is not executable" if os.sep in name and Path(name).exists() else "was not found"
    raise UserError(f"{escape_line(name)} {what}.", exit_code=NOT_FOUND)


def _size(text: str) -> int:
    try:
        return size(int(text) if text.isdecimal() else text)
    except InvalidValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


# --------------------------------------------------------------------------- settings of editors


def _tap_command(args: argparse.Namespace) -> list[str]:
    """Return the command with which an editor, whose folder and PATH may differ, starts this tap."""
    command = [os.path.abspath(shutil.which("acp-tui") or sys.argv[0]), "tap"]  # noqa: PTH100
    if args.log is not None:
        command += ["--log", os.path.abspath(args.log)]  # noqa: PTH100
    if args.max_size is not None:
        command += ["--max-size", str(args.max_size)]
    if args.agent is not None:
        return [*command, args.agent]
    program, *words = args.command_line
    program = os.path.abspath(shutil.which(program) or program)  # noqa: PTH100
    return [*command, "--", program, *(_absolute(word) for word in words)]


def _absolute(word: str) -> str:
    """Return the absolute path if the word names a file, such as `agent.py`."""
    return os.path.abspath(word) if Path(word).is_file() else word  # noqa: PTH100


def _editor_settings(editor: str, title: str, command: list[str]) -> str:
    """Return what to put into the editor's settings, with comments that say where."""
    name = f"{title} (tap)"
    if editor == "neovim":
        return _neovim_settings(name, command)
    server: dict[str, Any] = {"command": command[0], "args": command[1:], "env": {}}
    if editor == "zed":
        server = {"type": "custom", **server}
        file = "~/.config/zed/settings.json (open it with `zed: open settings file`)"
    else:
        file = "~/.jetbrains/acp.json (open it with `Configure ACP Agents` in the menu of AI Chat)"
    settings = json_text({"agent_servers": {name: server}}, indent=2)
    return f"// In {file}:\n{settings}"


def _neovim_settings(name: str, command: list[str]) -> str:
    words = ", ".join(_lua(word) for word in command)
    return f"""\
-- In ~/.config/nvim/init.lua, or where you configure the plugin.
-- CodeCompanion, then choose the adapter "tap" in a chat. "gemini_cli" only lends its defaults:
require("codecompanion").setup({{
  adapters = {{
    acp = {{
      tap = function()
        return require("codecompanion.adapters").extend("gemini_cli", {{
          name = "tap",
          formatted_name = {_lua(name)},
          commands = {{ default = {{ {words} }} }},
        }})
      end,
    }},
  }},
}})

-- avante.nvim:
require("avante").setup({{
  provider = "tap",
  acp_providers = {{
    tap = {{ command = {_lua(command[0])}, args = {{ {", ".join(_lua(word) for word in command[1:])} }} }},
  }},
}})"""


def _lua(text: str) -> str:
    """Return a string of Lua."""
    escaped = "".join(
        f"\\{ord(char)}" if not char.isprintable() and ord(char) < 128 else char
        for char in text.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{escaped}"'
