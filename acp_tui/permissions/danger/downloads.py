"""Checks for commands that run downloaded or decoded code, or open a remote shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from acp_tui.permissions.commands.wrappers import SHELLS
from acp_tui.permissions.danger.deletion import REMOVERS
from acp_tui.permissions.danger.inline_code import (
    CODE_OPTION,
    INTERPRETER,
    POWERSHELLS,
    code_of,
    runs_its_input,
)
from acp_tui.permissions.danger.steps import Step, find_feeders

if TYPE_CHECKING:
    from acp_tui.permissions.commands.command_line import CommandPart

DOWNLOADERS = frozenset({
    *("curl", "wget", "wget2", "fetch", "aria2c", "axel", "http", "https", "xh", "lynx", "w3m", "ftp"),
    *("lftp", "lwp-request", "lwp-download", "lwp-mirror", "iwr", "irm", "invoke-webrequest"),
    "invoke-restmethod",
})  # fmt: skip
# `GET` and `POST` come with Perl's LWP.
_FEEDERS = DOWNLOADERS | {
    *("nc", "ncat", "netcat", "telnet", "socat", "ssh", "gsutil", "get", "post", "rclone", "ipfs", "dig"),
    "s3cmd",
}
# Programs that download only with one of these arguments.
_FEEDING_ARGUMENTS = {
    "openssl": frozenset({"s_client"}),
    "aws": frozenset({"s3", "s3api"}),
    "gcloud": frozenset({"storage"}),
}
ALL_SHELLS = SHELLS | {"rbash", "rksh", "rzsh", "csh", "tcsh", "yash", "elvish", "nu"} | POWERSHELLS
_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/$$/fd/0"})
# Programs that run a script from the web, with the subcommands after which its address can stand.
_URL_RUNNERS = {
    "deno": frozenset({"run", "serve", "test", "bench", "install", "eval"}),
    "bun": frozenset({"run", "x"}),
    "uv": frozenset({"run"}),
    "pipx": frozenset({"run"}),
    "npx": frozenset[str](),
    "bunx": frozenset[str](),
    "pnpx": frozenset[str](),
    "nu": frozenset[str](),
}
_URL = re.compile(r"(?:git\+)?(?:https?|ftp)://", re.IGNORECASE)
_RUNNERS_ELSEWHERE = frozenset({"ssh", "docker", "podman", "kubectl", "lxc", "nsenter", "chroot"})
_OUTPUT_OPTIONS = frozenset({"--output", "--output-document", "--out"})
_DECODING = {
    "base64": re.compile(r"-\w*[dD]|--decode"),
    "base32": re.compile(r"-\w*d|--decode"),
    "xxd": re.compile(r"-\w*r\w*"),
    "openssl": re.compile(r"-d"),
    "gpg": re.compile(r"-\w*d|--decrypt"),
    "uudecode": re.compile(r".*"),
    "rev": re.compile(r".*"),
    "tr": re.compile(r".*"),
}
_NETWORK_FILE = re.compile(r"/dev/(?:tcp|udp)/")

DOWNLOADED = "it runs what it downloads"
DECODED = "it runs what it decodes"
REMOTE_SHELL = "it opens a shell to the network"
_ONLY_TELLING = frozenset({"--version", "--help", "-V", "-h", "-v"})
"""Options with which an interpreter prints something and ends."""
_SHELL_VALUED = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_PYTHON_VALUED = frozenset({"-W", "-X"})
_OTHER_VALUED = frozenset({"-r", "-I", "--require"})
"""These options of shells, Python and other interpreters take the next word as their value."""


def check_downloads(all_steps: Sequence[Step]) -> str | None:
    """Check for commands that run what they download: `curl … | sh`, `curl -o x … && sh x`."""
    pipelines: set[int] = set()  # whose commands get data from the network
    variables: set[str] = set()  # that contain data from the network
    files: set[str] = set()  # names of downloaded files
    for step in all_steps:
        part = step.part
        fed = any(_downloads(inner) for inner in part.inner)
        if _runs_any(step, files) or (variables and _runs_variable(step, variables)):
            return DOWNLOADED
        if fed and (_runs_words(step) or any(runs_input(Step(inner)) for inner in part.inner)):
            return DOWNLOADED
        # A shell without a file argument runs its input, also if `sudo` or the like starts the shell.
        if pipelines and (runs_input(step) or (part.pipeline in pipelines and _group_runs_input(part))):
            return DOWNLOADED
        if _runs_url(step):
            return DOWNLOADED
        if fed or _feeds(step):
            pipelines.add(part.pipeline)
            variables |= {text.partition("=")[0] for text in part.assignments if fed}
        if step.name == "read" and part.pipeline in pipelines:
            variables |= {text for text in step.operands if text.isidentifier()}
        if part.pipeline in pipelines:
            files |= {_base(path) for path in _files_from(step)} - {"", "null"}
    return None


def check_decoded(all_steps: Sequence[Step]) -> str | None:
    """Check for commands that run what they decode, as in `echo … | base64 -d | sh`."""
    for step in all_steps:
        decoded = any(_decodes(Step(inner)) for inner in step.part.inner)
        if decoded and (_runs_words(step) or step.name in REMOVERS):
            return DECODED
        if runs_input(step) and any(map(_decodes, find_feeders(all_steps, step))):
            return DECODED
    return None


def check_remote_shell(all_steps: Sequence[Step]) -> str | None:
    """Check for commands that connect a shell to the network."""
    for step in all_steps:
        targets = [each.target.text for each in step.part.redirections]
        if step.name in ALL_SHELLS and any(map(_NETWORK_FILE.match, targets)):
            return REMOTE_SHELL
        if step.name in {"nc", "ncat", "netcat"} and (
            re.search(r"[ec]", step.letters) or step.has("--exec", "--sh-exec", "--lua-exec")
        ):
            return REMOTE_SHELL
        if step.name == "socat" and any(
            re.search(r"(?i)\b(?:exec|system):", text) for text in step.arguments
        ):
            return REMOTE_SHELL
        if step.name in {"nc", "ncat", "netcat", "telnet"} and any(
            before.name in ALL_SHELLS for before in find_feeders(all_steps, step)
        ):
            return REMOTE_SHELL
    opened = any(
        _NETWORK_FILE.match(each.target.text)
        for step in all_steps
        if step.name in {"exec", ""}
        for each in step.part.redirections
    )
    return REMOTE_SHELL if opened and _runs_lines(all_steps) else None


def _runs_lines(all_steps: Sequence[Step]) -> bool:
    """Return True if the commands run the lines that they read, as in `while read x; do $x; done`."""
    names = {text for step in all_steps if step.name == "read" for text in step.operands}
    return any(_runs_variable(step, names) for step in all_steps) or any(
        step.name in ALL_SHELLS and runs_input(step) for step in all_steps
    )


def runs_input(step: Step) -> bool:
    """Return True if the step may run its standard input as a script."""
    arguments = step.arguments
    if step.name in {"source", "."}:
        return any(text in _STDIN for text in arguments)
    if step.name in {"iex", "invoke-expression"}:
        return True
    if step.name in POWERSHELLS and arguments[-1:] == ("-",):
        return True
    if (
        step.name in {"at", "batch"}
        or (step.name == "parallel" and not step.operands)
        or (step.name == "crontab" and arguments[-1:] == ("-",))
    ):
        return True
    if step.name in ALL_SHELLS:
        if any(re.match(r"-\w*c", text) for text in arguments):
            return step.part.open_ended  # `xargs sh -c`
        options = re.compile(r"-.*|pipefail|errexit")
        return "-s" in arguments or all(text in _STDIN or options.fullmatch(text) for text in arguments)
    if step.name in _RUNNERS_ELSEWHERE:
        last = [_base(text) for text in arguments if text not in {"-", "-s"}][-1:]
        return bool(last) and last[0] in ALL_SHELLS and len(arguments) > 1
    if INTERPRETER.match(step.name):
        subcommand = step.name in {"deno", "bun"} and arguments[:1] == ("run",)
        words = arguments[1:] if subcommand else arguments
        return _reads_script(step, words) or any(map(runs_its_input, code_of(step)))
    return any(map(runs_its_input, code_of(step)))


def _reads_script(step: Step, words: Sequence[str]) -> bool:
    """Return True if an interpreter with these arguments has neither a script file nor code to run."""
    valued = _PYTHON_VALUED if step.name.startswith(("python", "pypy")) else _OTHER_VALUED
    before = ""
    for word in words:
        if not word.startswith("-") and before not in valued and word not in _STDIN:
            return False
        if word == "-m" or CODE_OPTION.fullmatch(word) or word in _ONLY_TELLING:
            return False
        before = word
    return True


def run_file(step: Step) -> str | None:
    """Return the path of the program or script that the step runs; None if the step contains no such path."""
    first = step.part.words[0].text if step.part.words else ""
    if step.name in ALL_SHELLS | {"source", "."} or INTERPRETER.match(step.name):
        has_code, valued = r"-\w*[ce]$|-m$", _OTHER_VALUED
        if step.name in ALL_SHELLS:
            has_code, valued = r"-\w*c$", _SHELL_VALUED
        elif step.name.startswith(("python", "pypy")):
            valued = _PYTHON_VALUED
        if any(re.match(has_code, text) for text in step.arguments):
            return None
        words = zip(("", *step.arguments), step.arguments, strict=False)
        return next((text for before, text in words if text[:1] not in "-+" and before not in valued), None)
    return first if "/" in first or first.startswith("$") else None


def _runs_any(step: Step, files: set[str]) -> bool:
    path = run_file(step) if files else None
    return path is not None and _base(path) in files


def _runs_variable(step: Step, names: set[str]) -> bool:
    used = re.compile(rf"\$\{{?(?:{'|'.join(map(re.escape, names)) or '(?!)'})\b")
    words = [word.text for word in step.part.words]
    return any(map(used.search, words)) and (_runs_words(step) or used.match(words[0]) is not None)


def _runs_words(step: Step) -> bool:
    """Return True if the step may run one of its words as code, or as the name of a script.

    Examples: `$(curl …)`, `eval …` and `sh …`.
    """
    words = step.part.words
    if words and words[0].text.startswith(("$(", "`", "<(")):
        return True
    return step.name in ALL_SHELLS | {"eval", "source", "."} or INTERPRETER.match(step.name) is not None


def _group_runs_input(part: CommandPart) -> bool:
    return not part.words and any(runs_input(Step(inner)) for inner in part.inner)


def _downloads(part: CommandPart) -> bool:
    return _feeds(Step(part)) or any(map(_downloads, part.inner))


def _feeds(step: Step) -> bool:
    """Return True if the output of the step may come from the network."""
    if step.name in _FEEDERS or _FEEDING_ARGUMENTS.get(step.name, frozenset()) & set(step.arguments):
        return True
    sources = (each.target.text for each in step.part.redirections if "<" in each.operator)
    return bool(step.part.words) and any(map(_NETWORK_FILE.match, sources))


def _runs_url(step: Step) -> bool:
    """Return True for a program that runs a script from the web, as in `deno run https://…`."""
    subcommands = _URL_RUNNERS.get(step.name)
    if subcommands is None:
        return False
    words = [text for text in step.operands if text not in subcommands]
    return bool(words) and _URL.match(words[0]) is not None


def _decodes(step: Step) -> bool:
    pattern = _DECODING.get(step.name)
    if pattern is None:
        return any(_decodes(Step(inner)) for inner in step.part.inner)
    return step.name in {"rev", "tr", "uudecode"} or any(map(pattern.fullmatch, step.arguments))


def _files_from(step: Step) -> list[str]:
    """Return the files that a step writes: by redirection, with `tee`, or as downloads."""
    found = list(step.written)
    if step.name == "tee":
        found += step.operands
    if step.name not in DOWNLOADERS:
        return found
    named: list[str] = []
    for at, text in enumerate(step.arguments):
        option, sign, value = text.partition("=")
        short = re.match(r"-(\w*?)(o|O)", text)
        if option in _OUTPUT_OPTIONS:
            named.append(value if sign else " ".join(step.arguments[at + 1 : at + 2]))
        elif short and (short[2] == "o" or step.name.startswith("wget")):
            named.append(text[short.end() :] or " ".join(step.arguments[at + 1 : at + 2]))
    keeps_name = step.name.startswith(("wget", "aria2c", "axel", "lwp-")) and not named
    if keeps_name or "O" in step.letters or step.has("--remote-name", "--remote-name-all"):
        named += [text.partition("?")[0] for text in step.operands]
    return found + [name for name in named if name != "-"]


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


CHECKS: tuple[Callable[[Sequence[Step]], str | None], ...] = (
    check_downloads,
    check_decoded,
    check_remote_shell,
)
