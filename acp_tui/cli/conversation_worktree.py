"""Finds or creates the git worktree of a conversation, as the command line's arguments request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.workspace.git.worktrees.worktree import Worktree

if TYPE_CHECKING:
    import argparse

    from acp_tui.app_context import AppContext
    from acp_tui.store.stored_sessions import StoredSession


def wants_worktree(args: argparse.Namespace) -> bool:
    """Return True if --worktree or --worktree-name is given; False if the command has no such options."""
    return bool(getattr(args, "worktree", False) or getattr(args, "worktree_name", None))


def conversation_worktree(
    args: argparse.Namespace, context: AppContext, agent: str, stored: StoredSession | None
) -> tuple[Worktree | None, list[str]]:
    """Return the worktree in which a conversation works, if any, and notices for the user about the worktree.

    A resumed session returns to its worktree, unless --cwd names another folder. Blocks. Raises `UserError`.
    """
    if (inherited := getattr(args, "inherited_worktree", None)) is not None:
        return _restored(inherited)
    if args.resume:
        if wants_worktree(args):
            raise UserError("A resumed session stays in its folder: --worktree is for new sessions.")
        saved = Worktree.from_meta(stored.meta, paths().data) if stored is not None else None
        return _restored(saved) if saved is not None and _is_in(args.cwd, saved) else (None, [])
    if not wants_worktree(args):
        return None, []
    from acp_tui.workspace.git.worktrees.creation import create_worktree

    folder = Path(args.cwd or ".").absolute()
    created = create_worktree(
        folder,
        paths().data,
        agent=agent,
        name=args.worktree_name,
        trusted=args.trust_folder or context.is_trusted(folder),
    )
    created_note = (
        f"The agent works in a worktree on the branch {created.worktree.branch}: {created.worktree.path}"
    )
    return created.worktree, [created_note, *created.notices]


def _is_in(folder: Path | None, worktree: Worktree) -> bool:
    """Return True if `folder` is None, the agent's folder in the worktree, or the project folder."""
    places = (worktree.folder.resolve(), worktree.project_folder.resolve())
    return folder is None or folder.resolve() in places


def _restored(saved: Worktree) -> tuple[Worktree, list[str]]:
    """Return the saved worktree. If it was removed, create it again and also return a note for the user."""
    if saved.path.is_dir():
        if not saved.folder.is_dir():
            raise UserError(f"The folder of this session no longer exists in its worktree: {saved.folder}.")
        return saved, []
    from acp_tui.workspace.git.worktrees.creation import restore_worktree

    note = f"The worktree of this session was restored on the branch {saved.branch}: {saved.path}"
    return restore_worktree(saved), [note]
