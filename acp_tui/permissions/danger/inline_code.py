"""Checks code that a command line passes to an interpreter, as in `python3 -c …`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.permissions.danger.protected_paths import describe_precious

if TYPE_CHECKING:
    from acp_tui.permissions.danger.steps import Step

INTERPRETER = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|php|lua|luajit|osascript|deno|bun|tclsh|pwsh)[\d.]*$"
)
_CODE_OPTIONS = re.compile(r"-\w*[ceErRp]|--(?:eval|execute|print|run)")
_ATTACHED_CODE = re.compile(r"(?>-\w*?[ceErRp]|--(?:eval|execute|print|run)=)(.*\W.*)", re.DOTALL)
_MAX_CODE = 64 * 1024

BOMB = "it is a fork bomb"
_FORKS_FOREVER = re.compile(
    r"\bfork\b(?:\(\))?+\s*+(?:;|\{\s*+\})?+\s*+while"
    r"|(?:\bwhile\b|\bloop\b|\bforever\b|for\s*\(\s*;\s*;\s*\))[^\n]{0,40}\s?[^\n]{0,80}fork\b"
)
_DOWNLOADS = re.compile(
    r"urlopen|urlretrieve|https?://|requests\.get|file_get_contents|LWP|open-uri|fetch\s*\("
)
_RUNS_TEXT = re.compile(r"\b(?:exec|eval|execfile|Function|instance_eval|loadstring|load)\b\s*[(\s]")
_RUNS_COMMANDS = re.compile(
    r"\b(?:system|popen|exec\w*|spawn\w*|subprocess|Popen|shell_exec|passthru|qx|do shell script|Command)\b"
    r"|`|%x"
)
_REMOVES_TREES = re.compile(
    r"\b(?:rmtree|rm_rf|rm_r|remove_tree|remove_entry\w*|rmSync|rmdirSync|rimraf|removeSync|emptyDirSync|removedirs"
    r"|unlink\w*|os\.remove|Deno\.remove\w*|File\.delete|removeall|remove_dir_all)\b",
    re.IGNORECASE,
)
_DECODES = re.compile(
    r"b64decode|fromhex|unhexlify|decompress|decode64|base64_decode|\batob\b|['\"]base64['\"]|unpack"
)
_HOME_IN_CODE = re.compile(
    r"expanduser\(\s*['\"]~/?['\"]\s*\)\s*[),]|Path\.home\(\)\s*[),]|homedir\(\)\s*[),]|Dir\.home\s*[),]"
    r"|ENV\[['\"]HOME['\"]\]\s*[),]|environ\[['\"]HOME['\"]\]\s*[),]|process\.env\.HOME\s*[),]"
)
_TEXT = re.compile(r"'([^'\n]{0,400})'|\"([^\"\n]{0,400})\"")
_WHOLE_ARGUMENT = re.compile(r"[(\[\s]\s?(?:'/'|\"/\")(?:[),\]\s;]|$)")
_SOCKET = re.compile(r"\bsocket\b|\bTCPSocket\b|\bfsockopen\b|\bnet\.connect\b|\bSocket\b")
_GIVES_SHELL = re.compile(r"/bin/(?:ba|z|da)?sh|\bpty\.spawn\b|cmd\.exe")
_PUNCTUATION = str.maketrans(dict.fromkeys("'\"`,()[]{};", " "))


def code_of(step: Step) -> list[str]:
    """Return the code that an interpreter gets in arguments or here-documents; empty for other programs."""
    words = step.arguments
    if step.name in {"awk", "gawk", "mawk"}:
        return step.operands[:1]
    if not INTERPRETER.match(step.name):
        return []
    found = [words[at + 1] for at, text in enumerate(words[:-1]) if _CODE_OPTIONS.fullmatch(text)]
    found += words[1:2] if words[:1] == ("eval",) else ()  # deno
    if not found and all(text == "-" for text in step.operands):
        found += step.part.input
    # Not before: other options match too, such as `-MFile::Path`, although the code comes from the input.
    found += [match[1] for text in words if (match := _ATTACHED_CODE.fullmatch(text))]
    return [text[:_MAX_CODE] for text in found]


def check_code(code: str) -> tuple[str | None, str | None]:
    """Return why the code is dangerous, and the words in which to look for dangerous shell commands.

    The reason is None if nothing dangerous is found in the code itself. The words are the code without
    quotes, brackets, commas and semicolons. They are None if there is a reason, or if the code runs no
    commands.
    """
    if _FORKS_FOREVER.search(code):
        return BOMB, None
    if _DOWNLOADS.search(code) and _RUNS_TEXT.search(code):
        return "it runs what it downloads", None
    if _DECODES.search(code) and _RUNS_TEXT.search(code):
        return "it runs what it decodes", None
    if _SOCKET.search(code) and _GIVES_SHELL.search(code):
        return "it opens a shell to the network", None
    if _REMOVES_TREES.search(code):
        if _HOME_IN_CODE.search(code):
            return "it deletes the home directory", None
        for found in _TEXT.finditer(code):
            path = found[1] or found[2] or ""
            if path == "/" and not _WHOLE_ARGUMENT.search(code, max(0, found.start() - 2), found.end() + 1):
                continue  # as in `"/".join(…)`
            if what := describe_precious(path):
                return f"it deletes {what}", None
    return None, code.translate(_PUNCTUATION) if _RUNS_COMMANDS.search(code) else None
