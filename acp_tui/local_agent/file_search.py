"""Lists and searches the files of a folder, as a program of its own: it reads a request and prints an answer.

A pattern of a model can keep Python's regular expressions busy for hours, and nothing in the same process can
stop them. This process can be killed, and an alarm ends it if the agent is gone.

What git ignores is left out. Git is asked with an empty repository as its own and the folder as its work
tree: the settings of a hostile repository have no effect, so they cannot start a program.

It runs with `python -I -S` and imports only the standard library, so that it starts quickly.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

MAX_SECONDS = 60
MAX_ENTRIES = 300
MAX_LINES = 200
MAX_LINES_PER_FILE = 30
MAX_FILE_BYTES = 5_000_000
MAX_LINE = 240
"""The maximum length of a printed line; a longer one is cut around the match."""
MAX_NESTED = 200
"""The maximum number of nested repositories to look into. Git does not enter them by itself."""

# Only if git is missing: folders that hardly anyone wants to search.
_SKIPPED = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".tox"})
_BINARY_SNIFF_BYTES = 8000  # as git does
_MAX_EXCLUDE_BYTES = 100_000
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def main() -> None:
    """Answer the request on standard input. Exits with 2 if the request cannot be carried out."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that temporary folders are removed
    signal.alarm(MAX_SECONDS)  # has no handler: it ends the process even in a regular expression
    request = json.load(sys.stdin)
    folder, prefix, name = request["folder"], request["prefix"], request["name"]
    try:
        os.chdir(folder)
    except OSError as error:
        _fail(f"Cannot open {prefix or folder}: {error.strerror}.")
    if os.getcwd() != folder:  # noqa: PTH109 - no link may have been put into the path in the meantime
        _fail(f"{prefix or folder} was replaced by a link.")
    matches = glob_filter(request["glob"])
    if request["pattern"] is not None:
        search(request["pattern"], prefix, [name] if name else find_files(folder), matches)
    elif request["glob"]:
        _print_limited((prefix + file for file in find_files(folder) if matches(file)), "files")
    else:
        _print_limited(list_folder(folder), "entries")


def _fail(message: str) -> NoReturn:
    print(message)
    sys.exit(2)


def _print_limited(names: Iterable[str], what: str) -> None:
    every = list(names)
    for name in every[:MAX_ENTRIES]:
        _print(name)
    if not every:
        print(f"[no {what}]")
    if len(every) > MAX_ENTRIES:
        print(f"[{len(every) - MAX_ENTRIES} more {what}; name a subfolder or a narrower pattern]")


def _print(text: str) -> None:
    print(text.encode(errors="replace").decode())


# ------------------------------------------------------------------ search


def search(pattern: str, prefix: str, files: Iterable[str], matches: Callable[[str], bool]) -> None:
    """Print the lines in which a match begins, under the name of their file."""
    try:
        expression = re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        _fail(
            f"{pattern!r} is not a valid regular expression: {error}. Put a backslash before literal signs."
        )
    lines = found = too_large = 0
    for file in files:
        if not matches(file):
            continue
        text = _read_text(file)
        if text is None:
            too_large += 1
            continue
        hits = list(itertools.islice(_matching_lines(expression, text), MAX_LINES_PER_FILE + 1))
        if not hits:
            continue
        found += 1
        lines += len(hits)
        _print(prefix + file)
        for number, line in hits[:MAX_LINES_PER_FILE]:
            _print(f"{number:>6}: {line}")
        if len(hits) > MAX_LINES_PER_FILE:
            print("        [more lines in this file]")
        if lines >= MAX_LINES:
            print(f"[stopped after {lines} lines; search for something narrower or in a subfolder]")
            return
        sys.stdout.flush()
    if not found:
        print("[no matches]")
    if too_large:
        print(f"[not searched: {too_large} files larger than {MAX_FILE_BYTES // 1_000_000} MB]")


def _matching_lines(expression: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    number, counted, end = 1, 0, -1
    for match in expression.finditer(text):
        if match.start() <= end:  # on a line that has been yielded
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        end = len(text) if end < 0 else end
        number += text.count("\n", counted, start)
        counted = start
        yield number, _cut(text[start:end].rstrip("\r"), match.start() - start)


def _cut(line: str, position: int) -> str:
    if len(line) <= MAX_LINE:
        return line
    first = max(0, min(position - MAX_LINE // 3, len(line) - MAX_LINE))
    before, after = "…" if first else "", "…" if first + MAX_LINE < len(line) else ""
    return before + line[first : first + MAX_LINE] + after


def _read_text(name: str) -> str | None:
    """Return the text of a file; empty if it cannot be read or is binary, None if it is too large."""
    try:
        file = os.open(name, _READ_FLAGS)
    except OSError:
        return ""
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return ""
        if status.st_size > MAX_FILE_BYTES:
            return None
        data = os.read(file, MAX_FILE_BYTES)
    except OSError:
        return ""
    finally:
        os.close(file)
    return "" if b"\0" in data[:_BINARY_SNIFF_BYTES] else data.decode(errors="replace")


# ------------------------------------------------------------------ files


def find_files(folder: str) -> list[str]:
    """Return the paths of all files below a folder that git does not ignore, relative to the folder."""
    git = _find_git()
    if git is None:
        return sorted(_walk(folder))
    files, waiting, nested = [], [""], 0
    while waiting:
        inner = waiting.pop()
        for name in _list_with_git(git, Path(folder, inner)):
            if not name.endswith("/"):
                files.append(inner + name)
            elif nested < MAX_NESTED and name != "./":
                nested += 1
                waiting.append(inner + name)
    return sorted(files)


def list_folder(folder: str) -> list[str]:
    """Return the names in a folder that git does not ignore, folders with a slash and links with a sign."""
    shown: dict[str, str] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                shown[entry.name] = f"{entry.name} -> {Path(entry.path).readlink()}"
            elif entry.name != ".git":
                shown[entry.name] = entry.name + "/" * entry.is_dir()
    git = _find_git()
    ignored = set(_run_git(git, Path(folder), _CHECK_IGNORE, list(shown))) if git else set()
    # If all are ignored, so is the folder, but the model has asked for it.
    return sorted(text for name, text in shown.items() if name not in ignored or len(ignored) == len(shown))


_LIST = ("ls-files", "-z", "--others", "--exclude-standard")
_CHECK_IGNORE = ("check-ignore", "-z", "--stdin", "--no-index")


def _find_git() -> str | None:
    git = shutil.which("git")
    return git if git and Path(git).is_absolute() else None  # the folder may hold a program named git


def _list_with_git(git: str, folder: Path) -> list[str]:
    return _run_git(git, folder, _LIST) or _run_git(git, folder, _LIST, top=folder)  # ignored as a whole


def _run_git(
    git: str, folder: Path, words: Sequence[str], names: Sequence[str] = (), top: Path | None = None
) -> list[str]:
    """Run git with an empty repository of its own, and return the names that it prints."""
    top = top or next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), folder)
    with tempfile.TemporaryDirectory(prefix="acp-tui-") as own:
        for part in ("objects", "refs", "info"):
            Path(own, part).mkdir()
        Path(own, "HEAD").write_text("ref: refs/heads/none\n")
        Path(own, "info", "exclude").write_bytes(_own_excludes(top))
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if name in os.environ}
        done = subprocess.run(
            [git, "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", *words],
            cwd=folder,
            env={**kept, "GIT_DIR": own, "GIT_WORK_TREE": str(top), "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            input=b"".join(os.fsencode(name) + b"\0" for name in names),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def _own_excludes(top: Path) -> bytes:
    """Return the content of the repository's `info/exclude`: ignore patterns that are not committed."""
    try:
        file = os.open(top / ".git" / "info" / "exclude", _READ_FLAGS)
    except OSError:
        return b""
    try:
        return os.read(file, _MAX_EXCLUDE_BYTES) if stat.S_ISREG(os.fstat(file).st_mode) else b""
    finally:
        os.close(file)


def _walk(folder: str) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        folders[:] = set(folders) - _SKIPPED
        yield from (str(Path(path, name).relative_to(folder)) for name in names)


# ------------------------------------------------------------------ globs


def glob_filter(glob: str | None) -> Callable[[str], bool]:
    """Return a function that says whether a path matches, with `*`, `?`, `[…]`, `{a,b}` and `**`.

    A pattern without a slash is about the file's name, in any folder.
    """
    if not glob:
        return lambda _path: True
    whole = "/" in glob
    try:
        expression = re.compile(_glob_expression(glob.removeprefix("./").removeprefix("/")))
    except re.error:
        _fail(f"{glob!r} is not a valid pattern for file names.")
    return lambda path: bool(expression.fullmatch(path if whole else path.rpartition("/")[2]))


_GLOB_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|\{[^{}/]*\}|.", re.DOTALL)


def _glob_expression(glob: str) -> str:
    expression = ""
    for part in _GLOB_PARTS.findall(glob):
        if part == "**/":
            expression += "(?:.*/)?"
        elif part == "**":
            expression += ".*"
        elif part == "*":
            expression += "[^/]*"
        elif part == "?":
            expression += "[^/]"
        elif len(part) > 1 and part[0] == "[":
            inner = part[1:-1].replace("\\", r"\\").replace("[", r"\[")
            expression += "[" + ("^" + inner[1:] if inner.startswith("!") else inner) + "]"
        elif len(part) > 1 and part[0] == "{":
            expression += "(?:" + "|".join(map(_glob_expression, part[1:-1].split(","))) + ")"
        else:
            expression += re.escape(part)
    return expression


if __name__ == "__main__":
    main()
