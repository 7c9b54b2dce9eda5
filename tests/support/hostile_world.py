"""A home, a project and files in which every name and every value tries to command the terminal."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.fake_agents.hostile import EVIL

if TYPE_CHECKING:
    from pathlib import Path

NAME = "pwn\x1b]52;c;cHduZWQ=\x07\x1b[31;6666m\x9b6666m\u202e\u2066[red]\r\udcff"
"""For files, folders and arguments: no slash, no NUL; the end is a byte that is not UTF-8."""
TEXT = f"pwn{EVIL}[red][/red]"
"""For values in files of text."""
ESCAPED = json.dumps(TEXT).replace("\x7f", "\\u007f")
"""As a string of JSON; TOML takes it, too."""
MARKER = "pwn"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@dataclass
class World:
    """Where it is."""

    home: Path
    project: Path
    mcp_file: Path
    foreign_log: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "ACP_TUI_HOME": str(self.home),
            "ACP_TUI_POLICY": NAME,
            "ACP_TUI_THEME": NAME,
            "ACP_TUI_TIMEOUTS_SESION": NAME,
            "ACP_TUI_NOTIFY": NAME,
        }


def make_world(folder: Path) -> World:
    """Make it."""
    home, project = folder / f"home {NAME}", folder / f"project {NAME}"
    world = World(home, project, folder / f"mcp {NAME}.json", folder / f"log {NAME}.jsonl")
    for directory in ("config/agents", "config/themes", "state", "data/sessions/20260101-evil"):
        (home / directory).mkdir(parents=True)
    project.mkdir()
    _configuration(home / "config")
    _repository(project)
    _permissions(home / "state" / "permissions.json")
    _session(home / "data" / "sessions" / "20260101-evil")
    servers = {TEXT: {"command": TEXT, "args": [TEXT], "env": {TEXT: TEXT}, TEXT: TEXT}, "u": {"url": TEXT}}
    world.mcp_file.write_text(json.dumps({"mcpServers": servers}))
    world.foreign_log.write_text("\n".join(map(json.dumps, _foreign_frames())) + "\n{torn\n")
    return world


CONFIG = """
theme = @
agent = @
policy = @
notify_command = [@]
@ = 1
[workspace]
additional_directories = [@]
sensitive = [@]
[keys]
@ = @
"app.help" = @
[agents.@]
command = [@]
[agents.evil]
title = @
command = [@]
install = @
env = { @ = @ }
[mcp_servers.@]
command = @
args = [@]
env = { @ = @ }
"""


def _configuration(config: Path) -> None:
    texts = {
        "config.toml": CONFIG,
        f"agents/{NAME}.toml": "command = [@]\n",
        "agents/worse.toml": "title = @\ncommand = [@]\n@ = 1\n",
        f"themes/{NAME}.toml": "base = @\n[colors]\n@ = @\n",
        "themes/evil.toml": "base = @\n[colors]\npage = @\n@ = 1\n",
    }
    for name, text in texts.items():
        (config / name).write_text(text.replace("@", ESCAPED), encoding="utf-8")


def _repository(project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/pwn\u202e\u009b31mred\n")
    (project / NAME).write_text(TEXT)
    (project / ".acp-tui.toml").write_text(
        f"{ESCAPED} = 1\nagent = {ESCAPED}\ntheme = {ESCAPED}\npanes = {ESCAPED}\n"
    )


def _permissions(file: Path) -> None:
    texts = {
        "id": TEXT,
        "origin": TEXT,
        "project": TEXT,
        "agent": TEXT,
        "scope": "project",
        "decision": "allow",
    }
    rules = [
        {**texts, "kind": "edit", "path": TEXT},
        {**texts, "kind": "execute", "command": [TEXT]},
        {**texts, "kind": "mcp", "server": TEXT, "tool": TEXT, "id": "00000003"},
        {TEXT: TEXT},
    ]
    file.write_text(json.dumps({"version": 1, "rules": rules}))


def _session(folder: Path) -> None:
    names = ("agent", "agent_title", "cwd", "title", "session_id", "stop", "updated")
    meta = dict.fromkeys(names, TEXT) | {"command": [TEXT], "directories": [TEXT]}
    (folder / "meta.json").write_text(json.dumps(meta))
    lines = [{"t": 1.0, "dir": frame["dir"], "frame": frame["msg"]} for frame in _foreign_frames()]
    for line in lines:
        line["dir"] = {"c2a": "sent", "a2c": "received"}[str(line["dir"])]
    (folder / "wire.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n{torn\n")


def _foreign_frames() -> list[dict[str, object]]:
    """A log of another program: hostile folder, methods, errors."""
    frames: list[tuple[str, dict[str, object]]] = [
        ("c2a", {"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientInfo": TEXT}}),
        ("a2c", {"id": 0, "result": {"protocolVersion": 1, "agentInfo": {"name": TEXT, "version": TEXT}}}),
        ("c2a", {"id": 1, "method": "session/new", "params": {"cwd": f"/{TEXT}", "mcpServers": []}}),
        ("a2c", {"id": 1, "result": {"sessionId": TEXT}}),
        ("c2a", {"id": 2, "method": TEXT, "params": {"sessionId": TEXT}}),
        ("a2c", {"id": 2, "error": {"code": -32000, "message": TEXT, "data": TEXT}}),
        ("a2c", {"id": TEXT, "method": TEXT, "params": {TEXT: TEXT}}),
        ("c2a", {"id": 3, "method": "session/prompt",
                 "params": {"sessionId": TEXT, "prompt": [{"type": "text", "text": TEXT}]}}),
        ("a2c", {"method": "session/update", "params": {"sessionId": TEXT, "update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": TEXT}}}}),
        ("a2c", {"id": 3, "error": {"code": 1, "message": TEXT}}),
    ]  # fmt: skip
    return [{"t": 1.0, "dir": way, "msg": {"jsonrpc": "2.0", **frame}} for way, frame in frames]


def assert_no_control(raw: bytes) -> None:
    """Nothing in what was written commands a terminal; it is UTF-8, with stand-ins for what is not."""
    found = UNSAFE.findall(raw.decode().replace("\r\n", "\n"))
    assert found == [], (found[:5], raw)
