"""A home, a project and files in which every name and value contains terminal control sequences."""

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
"""For files, folders and arguments: without slash and NUL; the last byte is not UTF-8."""
TEXT = f"pwn{EVIL}[red][/red]"
"""For values in text files."""
MARKER = "pwn"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@dataclass
class World:
    """The folders and files, and the texts in them."""

    name: str
    text: str
    home: Path
    project: Path
    mcp_file: Path
    foreign_log: Path
    registry: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "ACP_TUI_HOME": str(self.home),
            "ACP_TUI_POLICY": self.name,
            "ACP_TUI_THEME": self.name,
            "ACP_TUI_TIMEOUTS_SESION": self.name,
            "ACP_TUI_NOTIFY": self.name,
        }


def make_world(folder: Path, *, name: str = NAME, text: str = TEXT) -> World:
    """Create the folders and files, with `name` in every file name and `text` in every value."""
    world = World(
        name,
        text,
        home=folder / f"home {name}",
        project=folder / f"project {name}",
        mcp_file=folder / f"mcp {name}.json",
        foreign_log=folder / f"log {name}.jsonl",
        registry=folder / "registry.json",
    )
    for directory in ("config/agents", "config/themes", "state", "data/sessions/20260101-evil"):
        (world.home / directory).mkdir(parents=True)
    world.project.mkdir()
    _write_settings(world)
    _write_repository(world)
    _write_permissions(world)
    _write_session(world)
    _write_registry(world)
    servers = {text: {"command": text, "args": [text], "env": {text: text}, text: text}, "u": {"url": text}}
    world.mcp_file.write_text(json.dumps({"mcpServers": servers}))
    world.foreign_log.write_text("\n".join(map(json.dumps, _foreign_frames(text))) + "\n{torn\n")
    return world


def _escaped(text: str) -> str:
    """Return the text as a string of JSON, which is also one of TOML."""
    return json.dumps(text).replace("\x7f", "\\u007f")


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
[registry]
url = "REGISTRY"
[mcp_servers.@]
command = @
args = [@]
env = { @ = @ }
"""


def _write_settings(world: World) -> None:
    texts = {
        "config.toml": CONFIG,
        f"agents/{world.name}.toml": "command = [@]\n",
        "agents/worse.toml": "title = @\ncommand = [@]\n@ = 1\n",
        f"themes/{world.name}.toml": "base = @\n[colors]\n@ = @\n",
        "themes/evil.toml": "base = @\n[colors]\npage = @\n@ = 1\n",
    }
    for name, text in texts.items():
        file = world.home / "config" / name
        text = text.replace("@", _escaped(world.text)).replace("REGISTRY", str(world.registry))
        file.write_text(text, encoding="utf-8")


def _write_repository(world: World) -> None:
    project, value = world.project, _escaped(world.text)
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/pwn\u202e\u009b31mred\n")
    (project / world.name).write_text(world.text)
    servers = {world.text: {"command": world.text, "args": [world.text]}}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (project / ".acp-tui.toml").write_text(
        f"{value} = 1\nagent = {value}\ntheme = {value}\npanes = {value}\n"
    )


def _write_permissions(world: World) -> None:
    text = world.text
    consents = {text: {"digest": text, "allowed": True}}
    folders = {text: {"trusted": True, "agent": text, "servers": consents}}
    trusted = {"version": 2, "folders": folders}
    (world.home / "state" / "trusted-folders.json").write_text(json.dumps(trusted))
    texts = {
        "id": text,
        "origin": text,
        "project": text,
        "agent": text,
        "scope": "project",
        "decision": "allow",
    }
    rules = [
        {**texts, "kind": "edit", "path": text},
        {**texts, "kind": "execute", "command": [text]},
        {**texts, "kind": "mcp", "server": text, "tool": text, "id": "00000003"},
        {text: text},
    ]
    (world.home / "state" / "permissions.json").write_text(json.dumps({"version": 1, "rules": rules}))


def _write_session(world: World) -> None:
    folder, text = world.home / "data" / "sessions" / "20260101-evil", world.text
    names = ("agent", "agent_title", "cwd", "title", "session_id", "stop", "updated")
    meta = dict.fromkeys(names, text) | {"command": [text], "directories": [text]}
    (folder / "meta.json").write_text(json.dumps(meta))
    lines = [{"t": 1.0, "dir": frame["dir"], "frame": frame["msg"]} for frame in _foreign_frames(text)]
    for line in lines:
        line["dir"] = {"c2a": "sent", "a2c": "received"}[str(line["dir"])]
    (folder / "wire.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n{torn\n")


def _write_registry(world: World) -> None:
    """Write a list of agents: one with hostile texts, and entries that cannot be used."""
    text = world.text
    package = {"package": "pwn@1.0.0", "args": [text], "env": {"PWN": text}}
    described = {"name": text, "version": "1.0.0", "description": text, "authors": [text], "license": text}
    agents = [
        {"id": "pwn", **described, "distribution": {"npx": package}},
        {"id": text, **described, "distribution": {"npx": package}},
        {"id": "pwn-b", **described, "version": text, "distribution": {text: text}},
        {text: text},
    ]
    world.registry.write_text(json.dumps({"version": "1.0.0", "agents": agents}))


def _foreign_frames(text: str) -> list[dict[str, object]]:
    """Return the frames of another program's log, with the text as folder, methods and errors."""
    frames: list[tuple[str, dict[str, object]]] = [
        ("c2a", {"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientInfo": text}}),
        ("a2c", {"id": 0, "result": {"protocolVersion": 1, "agentInfo": {"name": text, "version": text}}}),
        ("c2a", {"id": 1, "method": "session/new", "params": {"cwd": f"/{text}", "mcpServers": []}}),
        ("a2c", {"id": 1, "result": {"sessionId": text}}),
        ("c2a", {"id": 2, "method": text, "params": {"sessionId": text}}),
        ("a2c", {"id": 2, "error": {"code": -32000, "message": text, "data": text}}),
        ("a2c", {"id": text, "method": text, "params": {text: text}}),
        ("c2a", {"id": 3, "method": "session/prompt",
                 "params": {"sessionId": text, "prompt": [{"type": "text", "text": text}]}}),
        ("a2c", {"method": "session/update", "params": {"sessionId": text, "update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": TEXT}}}}),
        ("a2c", {"id": 3, "error": {"code": 1, "message": text}}),
    ]  # fmt: skip
    return [{"t": 1.0, "dir": way, "msg": {"jsonrpc": "2.0", **frame}} for way, frame in frames]


def assert_no_control(raw: bytes) -> None:
    """Check that the output is UTF-8 without control characters."""
    found = UNSAFE.findall(raw.decode().replace("\r\n", "\n"))
    assert found == [], (found[:5], raw)
