"""Finds paths in the raw input of a request that are outside the workspace or sensitive.

A request can have a kind such as "other", or use a tool whose arguments mean anything. Then it is not known
which of its arguments are files. But no policy may allow such a request without asking if an argument names a
file about which the policy would ask.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from acp_tui.permissions.subject import MAX_PATH, PATH_KINDS
from acp_tui.protocol.readers.raw_input_keys import PATTERN_KEYS, TEXT_KEYS
from acp_tui.protocol.readers.raw_patches import texts_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.permissions.subject import PathContext, Subject, Target
    from acp_tui.protocol.readers.raw_patches import RawText
    from acp_tui.session.state import ToolCall

MAX_PATHS = 200
"""The maximum number of paths to check. Each check costs calls to the file system."""
MAX_TEXT = 256 * 1024
"""How many characters of a text are searched for paths."""
_ADDRESS = re.compile(r"(?<![A-Za-z0-9+.-])(?!file:)[A-Za-z][A-Za-z0-9+.-]*://\S*")
_HOME = re.compile(r"\$HOME\b|\$\{HOME\}")
_PATH_IN_TEXT = re.compile(
    r"(?<![\w/.~$%})-])(?:file://|\]\()?(?:~?/|\.\.?/|\.(?=\w)|[\w.-]+/)[^\s'\"`<>|;,(){}\[\]\\]*"
)
_PLAIN_PATH = re.compile(r"[\w./~+-]+")
_REVISION = re.compile(r"(?:[\w.-]+/)*(?:[A-Z]+_)?HEAD", re.IGNORECASE)
_FILE_ADDRESS = re.compile(r"file://(?:localhost)?(?=/)")
_TOP_FOLDERS = frozenset({
    *("bin", "boot", "data", "dev", "efi", "etc", "home", "lib", "lib32", "lib64", "media", "mnt", "nix"),
    *("opt", "private", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"),
    *("Applications", "Library", "System", "Users", "Volumes"),
})  # fmt: skip
"""The usual folders in `/`. An absolute path within prose must begin with one: `/api/users` is no file."""


def input_concerns(call: ToolCall, subject: Subject, context: PathContext) -> Iterator[str]:
    """Yield a clause for each path in the raw input that is outside the workspace or sensitive.

    Paths that `subject` contains anyway are left out. If it is clear which files or which command the request
    is about, only arguments that are paths as a whole count, and not the texts that an edit writes.
    """
    known = subject.certain and subject.kind in PATH_KINDS
    if subject.certain and subject.kind == "execute":
        return  # the analysis of the command finds what it names
    reported = {target.real for target in subject.targets}
    search = _Search(context, within=not known)
    texts, complete = texts_in(call.raw_input)
    for each in texts:
        if known and (each.is_key or each.key in TEXT_KEYS | PATTERN_KEYS):
            continue
        for path, target in search.paths(each):
            if target.real not in reported:
                reported.add(target.real)
                yield f"its raw input names {path}, which {target.sensitive or 'is outside the workspace'}"
    if not complete or search.room < 0:
        yield "its raw input is too large to be checked"


class _Search:
    """A search for paths that are outside the workspace or sensitive."""

    def __init__(self, context: PathContext, *, within: bool) -> None:
        self.room = MAX_PATHS
        self._context = context
        self._within = within
        roots = [posixpath.normpath(root) for root in (context.cwd, *context.roots)]
        self._top = _TOP_FOLDERS | {root.split("/")[1] for root in roots if root.startswith("/")}
        self._seen: set[str] = set()

    def paths(self, given: RawText) -> Iterator[tuple[str, Target]]:
        """Yield the paths that a text is or, if the search looks within texts, contains."""
        whole = _HOME.sub("~", _FILE_ADDRESS.sub("", given.text.strip()[: MAX_PATH + 1], count=1))
        is_pattern = given.key in PATTERN_KEYS
        if not given.is_key and self._is_path(whole) and not (is_pattern and not self._is_usual(whole)):
            yield from self._check(whole, resolve=True)
            if _PLAIN_PATH.fullmatch(whole):
                return
        if self._within and ("/" in given.text or "." in given.text):
            for found in _PATH_IN_TEXT.finditer(_ADDRESS.sub(" ", _HOME.sub("~", given.text[:MAX_TEXT]))):
                path = _FILE_ADDRESS.sub("", found[0].removeprefix("](")).rstrip(".:!?*")
                if self._is_usual(path):
                    yield from self._check(path, resolve=path.startswith(("/", "~/", "../")))

    def _check(self, path: str, *, resolve: bool) -> Iterator[tuple[str, Target]]:
        """Yield the path if it is outside the workspace or sensitive.

        Without `resolve`, links are not followed: words of a text such as "and/or" are rarely paths.
        """
        if path in self._seen or len(path) > MAX_PATH or _REVISION.fullmatch(path):
            return
        self._seen.add(path)
        resolve = resolve and "/" in path
        if not resolve and not self._context.sensitive(path):
            return
        self.room -= 1
        if self.room >= 0:
            target = self._context.target(path)
            if target.sensitive or not target.inside:
                yield path, target

    def _is_path(self, text: str) -> bool:
        if not text or not text.isprintable() or len(text) > MAX_PATH or _ADDRESS.match(text):
            return False
        if text.startswith("/"):  # `/review` may be the name of anything
            return "/" in text.strip("/") or "." in text or self._is_usual(text)
        return " " not in text and (not text.startswith("~") or "/" in text)

    def _is_usual(self, path: str) -> bool:
        """Return False for absolute paths in no usual folder, such as `/api/users`."""
        return not path.startswith("/") or path.split("/")[1] in self._top
