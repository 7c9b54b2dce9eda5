"""A row of `kind_table`: the description of one kind of entry."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from acp_tui.entry_kinds.plain_text import text_lines

if TYPE_CHECKING:
    from acp_tui.entry_kinds.blocks import Block
    from acp_tui.session.state import Content, Entry, Session


Spacing = Literal["paragraph", "compact", "tight", "remark"]
"""When an entry asks for a blank line above and below it. Two entries are separated if either asks for one.

`paragraph`: always. `compact`: unless the entry starts folded. `tight` and `remark`: never. A remark comments
on the entry above, so that entry is separated from the remark only if its spacing is `paragraph`.
"""


class TextContext(NamedTuple):
    """What the plain text and the export of an entry depend on, besides the entry."""

    session: Session
    cwd: str = ""  # paths below it are shown relative to it
    thoughts: bool = True  # False: plain text counts the lines of a thought instead of showing them


def _never(*_: Any) -> bool:
    return False


def _none(*_: Any) -> None:
    return None


def _one_line(*_: Any) -> int:
    return 1


@dataclass(frozen=True, kw_only=True)
class EntryKind:
    """One kind of entry. Each field that is a function takes an entry of this kind as its first argument."""

    title: str
    """The name of the kind for users, e.g. as the title of the screen that shows one entry."""
    renderer: Callable[[Any, Any], Any]
    """Makes the body of an entry for a `DrawContext`. Usually `Imported`, to load screen libraries late."""
    blocks: Callable[[Any, TextContext], Iterable[Block]]
    """What Markdown and HTML exports show. If there are none, the entry is not exported."""

    plain_text: Callable[[Any, TextContext], Iterable[str]] | None = None
    """The lines that `sessions show` prints, if they differ from the blocks as plain text."""
    search_text: Callable[[Any, Session], Iterable[str]] | None = None
    """The texts in which a search looks for matches, if they differ from the plain text."""
    is_markdown: bool = False
    """Whether the searched texts are Markdown, whose marks (such as `**`) a search ignores."""
    progress: Callable[[Any], str | None] = _none
    """The line that `acp-tui exec` prints when an entry is added. None or empty to print nothing."""
    progress_updates: bool = False
    """Whether `exec` prints the `progress` line again when an update of the entry changes that line."""

    warning: Callable[[Any], tuple[str, str] | None] = _none
    """A fault in what the agent sent: a sentence and details, listed by `exec`. None if there is none."""

    foldable: bool = False
    """Whether the key that folds all entries folds entries of this kind, too."""
    starts_folded: Callable[[Any], bool] = _never
    """Whether the entry is folded until the user unfolds it."""

    code: Callable[[Any], list[str] | None] = _none
    """The code that the user can copy from the entry. None if the entry has no code."""
    location: Callable[[Any], tuple[str, int | None] | None] = _none
    """The file and line that the user can open in an editor. None if the entry has no file."""
    media: Callable[[Any], Content | None] = _none
    """The image, audio or file that the user can open. None if the entry has none."""
    transcript: Callable[[Any], str | None] = _none
    """The key, in `Session.subagents`, of the subagent whose transcript the user can open, or None."""
    opens_transcript: bool = False
    """Whether, on entries of this kind, the fold key opens the subagent's transcript."""
    landmark: Literal["prompt", "tool"] | None = None
    """Which keys move the cursor to the entry: those for prompts, those for tool calls, or neither (None)."""
    is_error: Callable[[Any], bool] = _never
    """Whether the keys for errors move the cursor to the entry."""

    spacing: Spacing = "paragraph"
    estimated_height: Callable[[Any, int], int] = _one_line
    """Estimates the height in rows of an entry that has not been drawn, from the width in columns."""
    is_running: Callable[[Any], bool] = _never
    """Whether the entry's first line shows a growing duration and therefore is redrawn from time to time."""
    shown_in: Callable[[Any, Session], Entry | None] = _none
    """The entry that contains this entry, if any. The container is drawn again when this entry changes."""
    dims_when_withdrawn: bool = True
    """Whether the entry is dimmed once the agent no longer has it in its context."""

    @property
    def can_fold(self) -> bool:
        """Whether entries of this kind have a short form."""
        return self.foldable or self.starts_folded is not _never

    def lines(self, entry: Entry, context: TextContext) -> Iterable[str]:
        """Return the lines of an entry as plain text. If there are none, the entry is not printed."""
        return (
            text_lines(self.blocks(entry, context))
            if self.plain_text is None
            else self.plain_text(entry, context)
        )

    def searched_text(self, entry: Entry, session: Session) -> str:
        """Return the text in which a search looks for matches in an entry."""
        if self.search_text is None:
            return "\n".join(self.lines(entry, TextContext(session)))
        return "\n".join(self.search_text(entry, session))


class Imported:
    """A function that is imported by `load` or by its first call, to avoid a circle of imports."""

    def __init__(self, name: str) -> None:
        """`name` is the function to import, in the form `module:function`."""
        self._name = name
        self._function: Callable[..., Any] | None = None

    def load(self) -> Callable[..., Any]:
        if self._function is None:
            module, _, name = self._name.partition(":")
            self._function = getattr(importlib.import_module(module), name)
        assert self._function is not None
        return self._function

    def __call__(self, *arguments: Any) -> Any:
        return self.load()(*arguments)
