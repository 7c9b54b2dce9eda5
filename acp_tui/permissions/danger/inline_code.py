"""Checks code that a command line passes to an interpreter, as in `python3 -c …`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acp_tui.permissions.danger.protected_paths import (
    WORKSPACE,
    describe_system_or_home_path,
    describe_workspace,
)

if TYPE_CHECKING:
    from acp_tui.permissions.danger.steps import Step

INTERPRETER = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|php|lua|luajit|osascript|deno|bun|tclsh)[\d.]*$"
)
POWERSHELLS = frozenset({"pwsh", "powershell", "pwsh.exe", "powershell.exe"})
CODE_OPTION = re.compile(r"-\w*[ceErRp]|--(?:eval|execute|print|run)")
_ATTACHED_CODE = re.compile(r"(?>-\w*?[ceErRp]|--(?:eval|execute|print|run)=)(.*\W.*)", re.DOTALL)
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
_POWERSHELL_CODE = re.compile(r"[-/](?:c(?:ommand)?|e|ec|enc|encodedcommand)", re.IGNORECASE)
_POWERSHELL_DOWNLOADS = re.compile(
    r"\b(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod|downloadstring|downloadfile|net\.webclient)\b",
    re.IGNORECASE,
)
_POWERSHELL_RUNS = re.compile(r"\b(?:iex|invoke-expression|scriptblock)\b", re.IGNORECASE)
_READS_INPUT = re.compile(
    r"\$_\b|\$\d|<STDIN>|<>|\bstdin\b|\bSTDIN\b|\bARGF\b|\bgets\b|readFileSync\(\s*0|/dev/stdin|\binput\("
    r"|\bprint\s*\|"
)
_RUNS_READ = re.compile(
    r"(?<![.\w])(?:system|popen|exec\w*|spawn\w*|eval|shell_exec|passthru|loadstring)\b"
    r"|\bos\.(?:system|popen)|child_process|\bsubprocess\b|instance_eval"
    r"|\|\s*[\"'](?:/\S*/)?(?:ba|z|da|k)?sh\b|\|\s*getline"
)
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
_WHOLE_ARGUMENT = re.compile(r"[(\[\s]\s?(?:'(?:/|\.\.?|\*)'|\"(?:/|\.\.?|\*)\")(?:[),\]\s;]|$)")
_HERE_IN_CODE = re.compile(r"(?:getcwd\(\)|Path\.cwd\(\)|process\.cwd\(\)|Dir\.pwd)\s*[),;]")
_SOCKET = re.compile(r"\bsocket\b|\bTCPSocket\b|\bfsockopen\b|\bnet\.connect\b|\bSocket\b")
_GIVES_SHELL = re.compile(r"/bin/(?:ba|z|da)?sh|\bpty\.spawn\b|cmd\.exe")
_PUNCTUATION = str.maketrans(dict.fromkeys("'\"`,()[]{};", " "))


def runs_its_input(code: str) -> bool:
    """Return True if code may run what it reads from the standard input, as `awk '{system($0)}'` does."""
    return _READS_INPUT.search(code) is not None and _RUNS_READ.search(code) is not None


def code_of(step: Step) -> list[str]:
    """Return the code that an interpreter gets in arguments or here-documents; empty for other programs."""
    words = step.arguments
    if step.name in _AWKS:
        return step.operands[:1]
    if step.name in POWERSHELLS:
        at = next((at for at, text in enumerate(words) if _POWERSHELL_CODE.fullmatch(text)), None)
        return [" ".join(words[at + 1 :])[:_MAX_CODE]] if at is not None else []
    if not INTERPRETER.match(step.name):
        return []
    found = [words[at + 1] for at, text in enumerate(words[:-1]) if CODE_OPTION.fullmatch(text)]
    found += words[1:2] if words[:1] == ("eval",) else ()  # deno
    if not found and all(text == "-" for text in step.operands):
        found += step.part.input
    # Not before: other options match too, such as `-MFile::Path`, although the code comes from the input.
    found += [match[1] for text in words if (match := _ATTACHED_CODE.fullmatch(text))]
    return [text[:_MAX_CODE] for text in found]


def check_code(code: str, folder: str = "", roots: tuple[str, ...] = ()) -> tuple[str | None, str | None]:
    """Return why the code is dangerous, and the words in which to look for dangerous shell commands.

    The code runs in `folder`, and `roots` are the folders of the workspace.

    The reason is None if nothing dangerous is found in the code itself. The words are the code without
    quotes, brackets, commas and semicolons. They are None if there is a reason, or if the code runs no
    commands.
    """
    if _FORKS_FOREVER.search(code):
        return BOMB, None
    if _DOWNLOADS.search(code) and _RUNS_TEXT.search(code):
        return "it runs what it downloads", None
    if _POWERSHELL_DOWNLOADS.search(code) and _POWERSHELL_RUNS.search(code):
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
            if path in {"/", ".", "..", "*"} and not _WHOLE_ARGUMENT.search(
                code, max(0, found.start() - 2), found.end() + 1
            ):
                continue  # as in `"/".join(…)`
            if what := describe_system_or_home_path(path) or describe_workspace(path, folder, roots):
                return f"it deletes {what}", None
        if folder in roots and _HERE_IN_CODE.search(code):
            return f"it deletes {WORKSPACE}", None
    return None, code.translate(_PUNCTUATION) if _RUNS_COMMANDS.search(code) else None
