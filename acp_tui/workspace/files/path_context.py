"""Describes the folders of a conversation, so that the paths in its requests can be classified."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acp_tui.permissions.subject import PathContext
from acp_tui.workspace.files.open_folder import path_identity
from acp_tui.workspace.git.repository import find_repository_folder
from acp_tui.workspace.terminals.terminal_emulator import terminal_environment

if TYPE_CHECKING:
    from acp_tui.workspace.files.file_access import FileAccess


def path_context(files: FileAccess) -> PathContext:
    """Return the context for classifying the paths in the requests of a conversation."""
    return PathContext(
        cwd=str(files.roots.cwd),
        roots=[str(directory) for directory in files.roots.directories],
        resolve=os.path.realpath,
        sensitive=files.sensitive,
        base_environment=terminal_environment({}),
        identify=path_identity,
        repository_of=find_repository_folder,
    )
