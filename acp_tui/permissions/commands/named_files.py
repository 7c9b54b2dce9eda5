"""Finds the sensitive files that a command names, even by a glob, in a variable, or within inline code.

The module is not a sandbox: it misses files that a command finds by itself, and files with computed names.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from acp_tui.config.sensitive_files import glob_may_match_sensitive, reason_for_reading
from acp_tui.permissions.danger.inline_code import code_of

if TYPE_CHECKING:
    from acp_tui.permissions.commands.command_line import CommandLine
    from acp_tui.permissions.danger.steps import Step
    from acp_tui.permissions.subject import PathContext, Target

_MAX_PATH = 4096
_MAX_WORDS = 1000
_MAX_CODE_TEXTS = 200
_LEAVING_OUT = re.compile(r"--?\w*(?:exclude|ignore)")
# Options whose value is the next word: a pattern for paths, or paths that are excluded.
_PATTERN_OPTIONS = frozenset(
    {"--exclude", "--exclude-dir", "--ignore-dir", "--ignore-glob", "--ignore-path", "--ignore-pattern"}
)
_PATTERN_OPTIONS_OF = {
    "find": {"-path", "-ipath", "-wholename", "-iwholename"},
    "tree": {"-I", "-P"},
    "zip": {"-x"},
    "rg": {"-g", "--glob"},
    # In other programs, `--ignore` may be short for `--ignore-case`.
    **{name: {"--ignore"} for name in ("ag", "ls", "pytest", "flake8")},
}
# Programs that change or run their arguments. Others may name `.git` or `HEAD` without a risk.
_WRITERS = frozenset(
    {
        *("rm", "rmdir", "unlink", "mv", "cp", "ln", "install", "rsync", "tee", "dd", "mkdir", "touch"),
        "shred",
        *("truncate", "chmod", "chown", "unzip", "sed", "perl", "ed", "patch", "mkfifo", "trash", "rimraf"),
    }
)
_REVISION = re.compile(r"(?:.*/)?(?:[A-Z]+_)?HEAD(?:[~^@].*)?", re.IGNORECASE)  # or the program `head`
_ADDRESS = re.compile(r"(?:https?|wss?|ftps?|ssh|git)://")
_TEXT_IN_CODE = re.compile(r"'([^'\n]{1,300})'|\"([^\"\n]{1,300})\"")
_ATTACHED = re.compile(r"-[A-Za-z]([^-].*)", re.DOTALL)
_ATTACHED_DOT_FILE = re.compile(r"-[A-Za-z]{2,}([./].*)", re.DOTALL)  # `-rf.npmrc`
_PATHSPEC_MAGIC = re.compile(r":\([a-z,]*\)")  # `git diff ':(top)FILE'`
_PIECES = re.compile(r"[^\w./~*?\[\]!^@%+-]+")


def sensitive_files(
    given: str | tuple[str, ...],
    line: CommandLine,
    steps: Iterable[Step],
    directory: Target,
    context: PathContext,
) -> Iterator[str]:
    """Yield a clause for each sensitive file that a command names: "it names .env, which …".

    Of each word, only the first sensitive file is named. About `_MAX_WORDS` words are checked.

    Args:
        given: The command.
        line: The command, parsed.
        steps: The commands that run, with their words expanded.
        directory: Where the command runs.
        context: The folders of the conversation.
    """
    seen: set[str] = set()
    for step in steps:
        for word, writes in islice(_words(step), _MAX_WORDS):
            for path in _paths_in(word):
                if path in seen or not _counts(path, step, writes=writes):
                    continue
                seen.add(path)
                if why := _why(path, step.folder or directory.path, context, writes=writes):
                    yield f"it names {path}, which {why}"
                    break
        if len(seen) > _MAX_WORDS:
            return
    if line.problem and isinstance(given, str):
        for path in islice(dict.fromkeys(_PIECES.split(given[: 64 * _MAX_PATH])), _MAX_WORDS):
            if path in seen or "." not in path or posixpath.basename(path) == ".git":
                continue
            if why := _why(path, directory.path, context):
                yield f"it names {path}, which {why}"


def _why(path: str, folder: str, context: PathContext, *, writes: bool = False) -> str | None:
    if not writes and "/" not in path and context.repository_of(folder) == folder:
        # Every relative path in a git directory would be sensitive. Check only the name itself.
        folder = "/"
    why = context.target(path, folder).sensitive
    if why := why if writes else reason_for_reading(why):
        return why
    return "may match a sensitive file" if glob_may_match_sensitive(path) else None


def _words(step: Step) -> Iterator[tuple[str, bool]]:
    """Yield each word that may name a file, and whether the command may write that file."""
    for text in step.written:
        yield text, True
    for each in step.part.redirections:
        if "<<" not in each.operator and ">" not in each.operator:
            yield each.target.text, False
    writes = step.name in _WRITERS
    if step.name in {"sed", "perl"}:
        writes = "i" in step.letters or step.has("--in-place")
    pattern_options = _PATTERN_OPTIONS | _PATTERN_OPTIONS_OF.get(step.name, set())
    before = ""
    for position, word in enumerate(step.part.words):
        is_program = position == 0 and "/" not in word.text  # such as `crontab`: found in PATH
        if before not in pattern_options and not is_program:
            yield word.text, writes
        before = word.text
    for text in step.part.input:
        for piece in text.split():
            yield piece, False
    for code in code_of(step):
        for found in islice(_TEXT_IN_CODE.finditer(code), _MAX_CODE_TEXTS):
            yield found[1] or found[2], False


def _counts(path: str, step: Step, *, writes: bool) -> bool:
    """Return whether a path must be checked for being sensitive.

    A `.git` or `HEAD` that is only read is not checked: `.git` is usually the value of an option that
    excludes paths, and `HEAD` is usually a revision.
    """
    if writes:
        return True
    name = posixpath.basename(path.rstrip("/"))
    return name != ".git" and not (_REVISION.fullmatch(path) and (step.name == "git" or "/" not in path))


def _paths_in(word: str) -> Iterator[str]:
    """Yield the paths that a word may contain, as in `@FILE`, `-d@FILE`, `-TFILE`, `name=FILE` or `A:B`."""
    if word.startswith("!") or _LEAVING_OUT.match(word) or len(word) > _MAX_PATH or "\n" in word:
        return
    found = [word.partition("=")[2].partition("@")[2], word.partition("=")[2], word.rpartition("@")[2]]
    # Drop what follows `;`, as in `-F file=@FILE;type=…`. Without an `@`, the last item is the word itself.
    found = [path.partition(";")[0] for path in found if path != word]
    if attached := _ATTACHED.fullmatch(word):
        found.append(attached[1])
    if attached := _ATTACHED_DOT_FILE.fullmatch(word):
        found.append(attached[1])
    if ":" in word and "://" not in word:
        found += _PATHSPEC_MAGIC.sub("", word).split(":")[:4]
    if not _ADDRESS.match(word):
        found.append(word)
    for path in dict.fromkeys(found):
        plain = path.strip("'\"<>")
        if plain and not plain.startswith("-"):
            yield plain
