"""The results of the permission dialog."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.permissions.rules import Rule
    from acp_tui.session.state import PermissionOption


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """The option the user chose, the rules to save, and the reason for a rejection."""

    option: PermissionOption
    rules: tuple[Rule, ...] = ()
    reason: str = ""


class Later(Enum):
    """The result if the user left the dialog to write a prompt. The question still waits for an answer."""

    LATER = "later"
