"""`acp-tui trust`: lists and forgets the user's answers about folders.

The answers say whether the files in a folder may choose an agent and MCP servers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.cli.options import add_action, add_json_option
from acp_tui.config.paths import paths
from acp_tui.console import labelled, print_json
from acp_tui.errors import UserError, os_errors_reported
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.store.folder_trust import FolderTrust, TrustedFolder

if TYPE_CHECKING:
    import argparse


STATES = {True: "trusted", False: "never trusted", None: "not decided"}


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add_json_option(add_action(actions, "list", "list the folders (default)"))
    forget = add_action(actions, "forget", "forget your answers about a folder; you will be asked again")
    forget.add_argument(
        "folder", metavar="DIR", nargs="?", default=".", help="the folder (default: the current directory)"
    )


def run(args: argparse.Namespace) -> int:
    store = FolderTrust(paths().state)
    if args.action == "forget":
        _forget(Path(args.folder).absolute(), store)
        return 0
    folders = store.folders()
    if getattr(args, "json", False):
        print_json({"folders": [_as_json(path, folder) for path, folder in folders.items()]})
        return 0
    if not folders:
        print("No folder has been trusted or refused.")
    for path, folder in folders.items():
        print(escape_invisible_line(path))
        print("\n".join(labelled([*_fields(folder)], "    ")))
    return 0


def _as_json(path: str, folder: TrustedFolder) -> dict[str, Any]:
    servers = [
        {"name": name, "allowed": consent.allowed, "digest": consent.digest}
        for name, consent in folder.servers.items()
    ]
    return {"folder": path, "trusted": folder.trusted, "agent": folder.agent, "servers": servers}


def _fields(folder: TrustedFolder) -> Iterator[tuple[str, str]]:
    yield "folder", STATES[folder.trusted]
    if folder.agent is not None:
        yield "agent", f"{escape_invisible_line(folder.agent)} is started without asking"
    for name, consent in folder.servers.items():
        answer = "allowed" if consent.allowed else "refused"
        yield (
            "server",
            f"{escape_invisible_line(name)}: {answer} (digest {escape_invisible_line(consent.digest[:12])})",
        )


def _forget(folder: Path, store: FolderTrust) -> None:
    with os_errors_reported("The answers cannot be saved"):
        if not store.forget(folder):
            raise UserError(f"There are no saved answers about {folder}.")
    print(f"Forgotten: your answers about {escape_invisible_line(str(folder))}.")
