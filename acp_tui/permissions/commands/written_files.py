"""Finds the files that a command writes by redirection or, if it is a known program, by an option.

Each counts as an edit of the file.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.program_arguments import files_written_by_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.permissions.danger.steps import Step
    from acp_tui.permissions.subject import PathContext, Target

MAX_WRITTEN = 50
"""The maximum number of files to check per command line. Each check costs calls to the file system."""
_HARMLESS = re.compile(r"/dev/(?:null|stdout|stderr|tty|fd/\d+)")
_DESCRIPTOR = re.compile(r"\d+-?|-")
_COMPUTED = re.compile(r"[$`<>*?\[{]")
_HOME = re.compile(r"\$(?:HOME\b|\{HOME\})")


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The files to which a command line redirects output."""

    targets: tuple[Target, ...] = ()  # for a computed name: its folder, if outside the workspace
    unknown: bool = False  # the names of some files are computed when the command runs
    too_many: bool = False


def find_written_files(steps: Iterable[Step], folder: Target, context: PathContext) -> WrittenFiles:
    """Return the files that the commands in `steps` redirect their output to.

    `folder` is where the command line starts, and is used for steps whose own folder is not known. Harmless
    devices such as /dev/null are left out.
    """
    found: dict[str, Target] = {}
    seen: set[tuple[str, str]] = set()
    unknown = False
    for step in steps:
        redirected = [(each.operator, each.target.text) for each in step.part.redirections]
        words = [word.text for word in step.part.words]
        for operator, text in (*redirected, *((">", path) for path in files_written_by_options(words))):
            path, base = _HOME.sub("~", text), step.folder or folder.path
            descriptor = operator.endswith("&") and _DESCRIPTOR.fullmatch(path)  # `2>&1`
            if (
                path in {"", "-"}
                or ">" not in operator
                or descriptor
                or _HARMLESS.fullmatch(path)
                or (path, base) in seen
            ):
                continue
            if len(seen) == MAX_WRITTEN:
                return WrittenFiles(tuple(found.values()), unknown, too_many=True)
            seen.add((path, base))
            computed = _COMPUTED.search(path)
            target = context.target(
                posixpath.dirname(path[: computed.start()]) or "." if computed else path, base
            )
            unknown = unknown or computed is not None
            if computed is None or not target.inside:
                found[target.real] = target
    return WrittenFiles(tuple(found.values()), unknown)
