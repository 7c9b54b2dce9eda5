"""The menus that complete what the user types: slash commands, files and MCP resources."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import nsmallest
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.session.attachment import PartialMention, format_mention, partial_mention
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.ui.prompt.attachments import IMAGE_SUFFIXES, Attachments
from acp_tui.ui.prompt.completion_list import Completion, CompletionItem, Menu

if TYPE_CHECKING:
    from acp_tui.session.state import SlashCommand
    from acp_tui.workspace.files.file_listing import ListedFiles


class Match(NamedTuple):
    """A command, and the indexes of the matched characters in its name."""

    command: SlashCommand
    positions: frozenset[int]


def match_commands(commands: Iterable[SlashCommand], typed: str) -> list[Match]:
    """Return the matching commands, best first; equally good ones stay in the agent's order."""
    found = []
    commands = list(commands)
    if any(typed.startswith(f"{command.name} ") for command in commands):
        # The user is typing an argument, unless a longer command name starts with the typed text.
        commands = [command for command in commands if command.name.startswith(typed)]
    for command in commands:
        match = _match_name(command.name, typed)
        if match is not None:
            found.append((match[0], Match(command, frozenset(match[1]))))
    found.sort(key=lambda scored: scored[0])
    return [matched for _, matched in found]


def _match_name(name: str, typed: str) -> tuple[tuple[int, int], Iterable[int]] | None:
    """Return the rank of a match (smaller is better) and the matched positions in the name.

    Return None if there is no match. Takes linear time.
    """
    low, wanted = name.lower(), typed.lower()
    if not wanted:
        return (0, 0), ()
    if low == wanted:
        return (0, 0), range(len(name))
    at = low.find(wanted)
    if at == 0:
        return (1, len(name)), range(len(wanted))
    if at > 0:
        starts_word = not low[at - 1].isalnum()
        return (2 if starts_word else 3, len(name)), range(at, at + len(wanted))
    positions = _positions_in_order(low, wanted)
    return ((4, positions[-1] - positions[0]), positions) if positions else None


def _positions_in_order(text: str, wanted: str, start: int = 0) -> list[int]:
    """Return where the characters of `wanted` occur in a text, in order; empty if one is not found."""
    positions: list[int] = []
    at = start - 1
    for char in wanted:
        at = text.find(char, at + 1)
        if at < 0:
            return []
        positions.append(at)
    return positions


class CommandMenu(Menu):
    """A menu that is open while the typed text may be the start of a command, unless the user closes it."""

    TITLE = "commands"

    def __init__(self) -> None:
        super().__init__()
        self._commands: Sequence[SlashCommand] = ()
        self._server_prompts: Sequence[SlashCommand] = ()
        self._found: list[SlashCommand] = []
        self._typed: str | None = None  # the last search; None if the commands changed since
        self._dismissed = False  # the user closed the menu for the current command

    @property
    def commands(self) -> Sequence[SlashCommand]:
        """The commands of the agent, and after them the prompts of MCP servers."""
        return [*self._commands, *self._server_prompts] if self._server_prompts else self._commands

    @commands.setter
    def commands(self, commands: Sequence[SlashCommand]) -> None:
        self._commands = commands
        self._typed = None

    def set_server_prompts(self, prompts: Sequence[SlashCommand]) -> None:
        """Set the prompts of MCP servers. The name of each prompt is `SERVER:PROMPT`."""
        self._server_prompts = prompts
        self._typed = None

    def server_prompt(self, text: str) -> SlashCommand | None:
        """If the text is the command for an MCP prompt, with or without an argument, return that prompt."""
        typed = f"{text} "
        found = [command for command in self._server_prompts if typed.startswith(f"/{command.name} ")]
        return max(found, key=lambda command: len(command.name), default=None)

    @property
    def selected(self) -> SlashCommand | None:
        """The selected command, if the menu is open."""
        return self._found[self.choices.current] if self.is_open else None

    @property
    def is_complete(self) -> bool:
        """True if a command is typed in full and the user has not selected another command."""
        if self.choices.current == 0 and any(command.name == self._typed for command in self._found):
            return True  # the selected command may differ from the typed one in case only
        return self.selected is not None and self.selected.name == self._typed

    def find_command(self, text: str) -> SlashCommand | None:
        """Return the command if the text is only a slash and the command's name; otherwise None.

        One space after the name is allowed.
        """
        name = text[1:].removesuffix(" ") if text.startswith("/") else ""
        return next((command for command in self.commands if command.name == name), None)

    def update(self, text: str) -> None:
        """Open, narrow or close the menu for the text before the cursor."""
        if not text.startswith("/") or "\n" in text:
            self._dismissed = False
            self.close()
        elif not self._dismissed and not (self.is_open and self._typed == text[1:]):
            self._search(text[1:])

    def _search(self, typed: str) -> None:
        self._typed = typed
        matches = match_commands(self.commands, typed)
        self._found = [match.command for match in matches]
        if matches:
            self.show([_completion_item(match.command, match.positions) for match in matches])
        else:
            self.close()

    def dismiss(self) -> None:
        """Close the menu, and keep it closed while the text is a single line that begins with a slash."""
        self._dismissed = True
        self.close()

    def completion(self, *, final: bool) -> Completion | None:  # noqa: ARG002  # only folders have parts
        """Return the selected command, followed by a space."""
        return Completion((0, 0), f"/{self.selected.name} ") if self.selected is not None else None


def _completion_item(command: SlashCommand, positions: frozenset[int]) -> CompletionItem:
    """Return the command as an item; texts with several lines are put on one line."""
    return CompletionItem(
        f"/{escape_line(command.name)}",
        escape_line(command.hint or ""),
        escape_line(command.description),
        frozenset(position + 1 for position in positions),
    )


if TYPE_CHECKING:
    Filter = Callable[[Sequence[int], Sequence[str], Sequence[str]], list[int]]
    """Gets the indexes, paths and base names of files, and returns the indexes of those that match."""

MAX_HITS = 100
"""Maximum number of matches."""
PATHS_PER_STEP = 2000
ALL, MANY, FEW = 1 << 30, 5000, 1000
"""The numbers of matches after which a pass ends. Passes for poor matches need not find all matches."""


class FileSearch:
    """A search among files. `before` is the previous search, whose matches can be narrowed down."""

    def __init__(self, files: ListedFiles, wanted: str, before: FileSearch | None = None) -> None:
        self.files = files
        self.wanted = wanted.lower()
        self.size = len(files.paths)
        """The number of paths to search; more may have been found since."""
        self.hits: list[int] = []
        """Indexes of the matches so far, best first."""
        self.done = False
        self._found_all = False  # `hits` holds every match
        self._candidates: Sequence[int] = range(self.size)
        if before is not None and before._covers(self):
            self._candidates = before.hits
        self._steps = self._search()

    def _covers(self, later: FileSearch) -> bool:
        """Return True if this search has found all files that the later search can match."""
        return (
            self._found_all
            and self.files is later.files
            and self.size == later.size
            and later.wanted.startswith(self.wanted)
        )

    def step(self) -> bool:
        """Search a few more paths; return False when the search is complete."""
        self.done = next(self._steps, True)
        return not self.done

    def finish(self) -> None:
        """Run all remaining steps."""
        while self.step():
            pass

    def _search(self) -> Iterator[bool]:
        for matches, enough in _passes(self.wanted, self.files.changed):
            found: list[int] = []
            better = self.hits
            known = set(better)
            room = MAX_HITS - len(better)
            count = 0
            for start in range(0, len(self._candidates), PATHS_PER_STEP):
                new = self._filter(matches, self._candidates[start : start + PATHS_PER_STEP], known)
                if new:
                    found = nsmallest(room, [*found, *new], key=self._rank)
                    self.hits = better + found
                    count += len(new)
                yield False
                if count >= enough:
                    break
            if len(self.hits) >= MAX_HITS:
                return
        self._found_all = True

    def _filter(self, matches: Filter, indexes: Sequence[int], known: Collection[int]) -> list[int]:
        files = self.files
        if isinstance(indexes, range):
            part = slice(indexes.start, indexes.stop)
            found = matches(indexes, files.lower[part], files.bases[part])
        else:
            found = matches(indexes, [files.lower[n] for n in indexes], [files.bases[n] for n in indexes])
        if known or files.missing:
            return [n for n in found if n not in known and files.paths[n] not in files.missing]
        return found

    def _rank(self, index: int) -> tuple[bool, bool, bool, int, int]:
        """Return a file's sort key: changed files first, then name matches, word starts, short paths."""
        files, base = self.files, self.files.bases[index]
        at = base.find(self.wanted)
        inside_word = at > 0 and base[at - 1].isalnum()
        is_unchanged = files.paths[index] not in files.changed
        return is_unchanged, at < 0, inside_word, len(files.lower[index]), index


def _passes(wanted: str, changed: Collection[str]) -> Iterator[tuple[Filter, int]]:
    """Yield the filter of each pass, and the number of matches after which the pass ends.

    The best kind of match comes first. If the typed text contains a slash, the first pass compares the text
    with the start of the path, otherwise with the start of the base name. Without typed text, the first pass
    finds changed files.
    """
    if not wanted:
        folded = {path.lower() for path in changed}
        yield lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if p in folded], MANY
        yield lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if _at_top(p)], MANY
        yield lambda ids, _, __: list(ids), MAX_HITS
        return
    if "/" in wanted:
        yield (
            lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if p.startswith(wanted)],
            MANY,
        )
    else:
        yield (
            lambda ids, _, bases: [n for n, b in zip(ids, bases, strict=True) if b.startswith(wanted)],
            ALL,
        )
        yield lambda ids, _, bases: [n for n, b in zip(ids, bases, strict=True) if wanted in b], MANY
    yield lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if wanted in p], MANY
    matches = _in_order(wanted)
    yield lambda ids, paths, _: [n for n, p in zip(ids, paths, strict=True) if matches(p)], FEW


def _at_top(path: str) -> bool:
    return path.find("/", 0, -1) < 0


def _in_order(wanted: str) -> Callable[[str], re.Match[str] | None]:
    """Return a function that checks in linear time if a path has the wanted characters in this order."""
    return re.compile("".join(f"[^{re.escape(char)}]*+{re.escape(char)}" for char in wanted), re.DOTALL).match


class FileHit(NamedTuple):
    """A matching path, and the indexes of its matched characters."""

    path: str
    positions: frozenset[int]


def locate_match(path: str, wanted: str) -> FileHit:
    """Return a path with the indexes of the characters that match `wanted`."""
    low, wanted = path.lower(), wanted.lower()
    start = 0 if "/" in wanted else path.rfind("/", 0, -1) + 1
    for offset in (start, 0):
        at = low.find(wanted, offset)
        if at >= 0:
            return FileHit(path, frozenset(range(at, at + len(wanted))))
    positions = _positions_in_order(low, wanted, start) or _positions_in_order(low, wanted)
    return FileHit(path, frozenset(positions))


SLICE_SECONDS = 0.004
"""After this many seconds, the search pauses so that other events, such as key presses, are handled."""
FIRST_RESULTS_SECONDS = 0.05
"""If a search takes longer than this, the matches found so far are shown."""
RETRY_SECONDS = 0.05
"""Seconds before the search is repeated while the list of files is still growing."""
MAX_RESOURCES = 20
"""The maximum number of resources in the menu."""


class FileMenu(Menu):
    """A menu that searches files in the background, so that many files do not delay typing."""

    TITLE = "files"

    def __init__(self, attachments: Attachments) -> None:
        super().__init__()
        self.display = False  # hidden even before it is mounted, at first use
        self.get_index: Callable[[], ListedFiles] | None = None
        """Returns the files found so far. While it is None, the menu stays closed."""
        self.images_refused = ""
        """Why images cannot be attached; empty if they can."""
        self._attachments = attachments
        self._mention: PartialMention | None = None
        self._row = 0
        self._search: FileSearch | None = None
        self._resources: list[str] = []  # matching resources, as `SERVER:URI`; shown above the files
        self._dismissed = False

    @property
    def is_open(self) -> bool:
        """True while the menu is visible or a search for it runs."""
        return self.display or (
            self._mention is not None and self._search is not None and not self._search.done
        )

    def update(self, row: int, before: str, *, typed: bool) -> None:
        """Update the menu for `before`, the part of the line before the cursor.

        `typed` is false if only the cursor moved.
        """
        mention = partial_mention(before) if self.get_index is not None and self.is_mounted else None
        if mention is None:
            self.cancel()
            self._dismissed = False
            return
        if self._mention is None and not typed:
            return  # the cursor only passes a mention
        if self._mention is not None and (row, mention.start) != (self._row, self._mention.start):
            self._dismissed = False
        same = self._mention is not None and self._mention.name == mention.name and self._row == row
        self._mention, self._row = mention, row
        if not self._dismissed and not same:
            self._start(mention.name)

    def _start(self, name: str) -> None:
        assert self.get_index is not None
        self._search = FileSearch(self.get_index(), name, self._search)
        self._resources = self._matching_resources(name)
        # Pass the function, not a coroutine, which would never be awaited if the worker were cancelled before
        # it starts. Textual's annotations do not accept the function.
        self.run_worker(self._search_files, exclusive=True, group="files")  # type: ignore[arg-type]

    def _matching_resources(self, wanted: str) -> list[str]:
        """Return the resources whose names contain the typed text; none before anything is typed."""
        low = wanted.lower()
        found = [name for name in self._attachments.resources if low in name.lower()] if low else []
        return sorted(found, key=lambda name: not name.lower().startswith(low))[:MAX_RESOURCES]

    async def _search_files(self) -> None:
        """Search, and repeat the search while the list of files is still growing."""
        while (search := self._search) is not None:
            search_start = slice_start = perf_counter()
            shown = False
            while search.step():
                if perf_counter() - slice_start > SLICE_SECONDS:
                    await asyncio.sleep(0)
                    slice_start = perf_counter()
                if not shown and search.hits and slice_start - search_start > FIRST_RESULTS_SECONDS:
                    self._show(search)
                    shown = True
            self._show(search)
            if search.files.complete and search.size == len(search.files.paths):
                return
            await asyncio.sleep(RETRY_SECONDS)
            self._search = FileSearch(search.files, search.wanted)

    def _show(self, search: FileSearch) -> None:
        paths = search.files.paths
        if search.hits or self._resources:
            resources = [CompletionItem(escape_invisible_line(name), "resource") for name in self._resources]
            files = [self._completion_item(paths[index], search.wanted) for index in search.hits]
            self.show([*resources, *files])
        else:
            self.close()
            self.screen.refresh_bindings()  # `is_open` may have changed

    def _completion_item(self, path: str, wanted: str) -> CompletionItem:
        refusal = self.images_refused if self._is_refused(path) else ""
        shown = escape_invisible_line(path)
        matched = locate_match(path, wanted).positions if shown == path else frozenset[int]()
        return CompletionItem(
            shown, description=refusal, matched=matched, disabled=bool(refusal), is_path=True
        )

    def _is_refused(self, path: str) -> bool:
        return bool(self.images_refused) and path.lower().endswith(IMAGE_SUFFIXES)

    @property
    def _selected(self) -> str | None:
        """The selected path or resource; None if nothing matches. Finishes the search first."""
        search = self._search
        if self._mention is None or search is None:
            return None
        if not search.done:  # the key came before the results
            search.finish()
            self._show(search)
        current = self.choices.current
        if current < len(self._resources):
            return self._resources[current]
        index = current - len(self._resources)
        return search.files.paths[search.hits[index]] if index < len(search.hits) else None

    @property
    def is_complete(self) -> bool:
        """True if the selected item is typed in full, or if nothing matches the mention.

        Also true if the mention names an existing file and the first item is selected.
        """
        selected, mention = self._selected, self._mention
        if selected is None or mention is None:
            return True
        if self.choices.current == 0 and mention.name and self._attachments.exists(mention.name):
            return True  # typed in full, even if a changed file is listed above it
        return selected.removesuffix("/") == mention.name.removesuffix("/")

    def completion(self, *, final: bool) -> Completion | None:
        """Return the text to insert for the selected item: its mention and a space.

        If `final` is false, a folder gets no space, so that the user can complete the path further. Return
        None if no item is selected, or if the selected file cannot be attached.
        """
        path, mention = self._selected, self._mention
        if path is None or mention is None:
            return None
        if self._is_refused(path):
            self.notify(self.images_refused, severity="warning", markup=False)
            return None
        start = (self._row, mention.start)
        if path.endswith("/") and not final:
            return Completion(start, format_mention(path, mention.lines).removesuffix('"'))
        return Completion(start, f"{self._attachments.add_mention(path, mention.lines)} ")

    def dismiss(self) -> None:
        """Close the menu, and keep it closed until the user starts to type another mention."""
        self._dismissed = True
        self._stop()

    def cancel(self) -> None:
        """Close the menu, and forget the mention that is being typed, if any."""
        if self._mention is not None:
            self._mention = None
            self._stop()

    def _stop(self) -> None:
        self._search = None
        self.workers.cancel_group(self, "files")
        self.close()
        self.screen.refresh_bindings()
