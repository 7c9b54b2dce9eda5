"""What a user does on a real terminal to remember an answer, revoke it, review changes and go back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tests.support.terminal import DELETE, DOWN, ESC, F2, SHIFT_F4

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.support.terminal import Terminal

BY_RULE = "allowed by rule: edit anything in src/ · this project"


def wait_for_edit_question(terminal: Terminal) -> None:
    """Wait until the dialog accepts keys."""
    terminal.sees("asks to change a file", "Enter answer", "reject with reason")


def always_allow_edits_in_src(terminal: Terminal) -> None:
    """Answer the question about a file in `src/` with "always", for the whole folder."""
    wait_for_edit_question(terminal)
    terminal.type("A")
    terminal.sees("Always allow", "allow and remember")
    terminal.type(DOWN)
    terminal.sees("Editing src/** will be allowed without asking")
    terminal.type("\r")


def revoke_the_only_rule(terminal: Terminal) -> None:
    """Revoke it on the rules screen."""
    terminal.type(SHIFT_F4)
    terminal.sees("Permission rules", "src/")
    terminal.type(DELETE)
    terminal.sees("Revoked")
    terminal.type(ESC)
    terminal.until(lambda: "Permission rules" not in terminal.screen, "the end of the rules screen")


def accept_revert_and_comment(terminal: Terminal, files: Sequence[Path], comment: str) -> None:
    """Accept the change of the first file, revert the second one, comment on the third one, and send it.

    Each file has one line, which tells them apart.
    """
    first, second, third = (file.read_text() for file in files)
    terminal.type(F2)
    terminal.sees("0 of 3 reviewed", "Hunk 1", first.strip())
    terminal.type("y")
    terminal.sees("1 of 3 reviewed", second.strip())
    terminal.type("u")
    terminal.sees("2 of 3 reviewed", third.strip())
    assert files[1].read_text() != second
    terminal.type("Z")
    terminal.sees("1 of 3 reviewed", second.strip())
    assert files[1].read_text() == second
    terminal.type("u")
    terminal.sees("2 of 3 reviewed", third.strip())
    terminal.type("jc")
    terminal.sees("Comment on line 1")
    terminal.type(f"{comment}\r")
    terminal.sees("1 comment")
    terminal.type("S")


def rewind_by_two_prompts(terminal: Terminal, what: Literal["files", "conversation"]) -> None:
    """Choose the last but one prompt, and what to restore."""
    terminal.type(f"{ESC}{ESC}")
    terminal.sees("Go back to before which prompt?", "changed 1 file")
    terminal.type(f"{DOWN}\r")
    terminal.sees("What to restore")
    terminal.type("\r" if what == "files" else f"{DOWN}\r")


def restore_files(terminal: Terminal, *names: str) -> None:
    """Agree to the preview, which names these files."""
    terminal.sees(*(f"{name}: restore" for name in names), f"Restore {len(names)} files")
    terminal.type(f"{DOWN}\r")
