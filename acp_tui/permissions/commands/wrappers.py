"""Finds the command that a wrapper such as `sudo`, `env`, `timeout`, `sh -c` or `eval` runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from acp_tui.permissions.commands.program_arguments import has_option_table

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish"})
_SHELL_HOMES = frozenset(
    {"", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"}
)
_VALUELESS = frozenset({
    *("--", "--preserve-env", "--login", "--non-interactive", "--set-home", "--stdin", "--shell"),
    *("--ignore-environment", "--null", "--no-run-if-empty", "--verbose", "--interactive", "--foreground"),
    *("--background", "--preserve-status", "--append", "--wait", "--fork", "--shared"),
    "--addr-no-randomize",
})  # fmt: skip
_HIDING = frozenset(
    {
        *("bwrap", "capsh", "sg", "start-stop-daemon", "parallel", "su", "runuser", "script", "ssh"),
        *("watch", "trap", "alias", "at", "batch"),
    }
)
# Programs that run another one after a subcommand, as in `uv run pytest` and `aws-vault exec profile -- x`.
_SUBCOMMAND_WRAPPERS = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba"), frozenset({"run"})),
    **dict.fromkeys(("op", "doppler", "infisical", "dotenvx", "toolbox", "distrobox"), frozenset({"run"})),
    **dict.fromkeys(
        ("asdf", "rbenv", "pyenv", "nodenv", "aws-vault", "chamber", "bundle"), frozenset({"exec"})
    ),
    **dict.fromkeys(("npm", "pnpm", "yarn", "mise", "direnv"), frozenset({"exec", "x"})),
}
# Programs that can run code passed as an argument, or run or destroy any file. Only exact rules are
# proposed for them.
_POWERFUL = frozenset({
    *("rm", "find", "awk", "gawk", "sed", "dd", "tar", "rsync", "scp", "tee", "mv", "cp", "ln", "install"),
    *("python", "perl", "ruby", "node", "php", "lua", "deno", "bun", "tclsh", "osascript", "eval", "source"),
    *("", "npx", "uvx", "bunx", "pipx", "vim", "vi", "emacs", "curl", "wget", "chmod", "chown"),
    *("docker", "podman", "kubectl", "fd", "fdfind", "sqlite", "psql", "mysql", "gdb", "lldb", "ed", "ex"),
    *("nvim", "nano", "less", "more", "man", "entr", "hyperfine", "direnv", "nix-shell"),
    *("pypy", "ipython", "tsx", "ts-node", "rscript", "julia", "mawk", "nawk", "pwsh", "groovy", "elixir"),
    *("expect", "socat", "tmux", "screen", "corepack", "crontab"),
})  # fmt: skip
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")
# Programs with subcommands that run any program.
_RUN = frozenset({"run"})
_EXEC = frozenset({"exec", "x", "dlx", "explore", "init", "create"})
_RUNNERS = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba", "go"), _RUN),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bundle", "mise"), _EXEC),
    "nix": frozenset({"run", "shell", "develop"}),
}
Words = tuple[tuple[str, bool], ...]
"""The words of a command, each as its text and whether the text is literal."""


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """The options and arguments of a wrapper. What follows them is the wrapped command."""

    valued: str = ""  # letters of short options that take a value
    long_valued: frozenset[str] = frozenset()
    positionals: int = 0  # how many arguments of the wrapper precede the command
    opaque: frozenset[str] = frozenset()  # options that hide what is run


_PLAIN = _Wrapper()
_WRAPPERS = {
    "sudo": _Wrapper(
        "ugprhtCDRTU", frozenset({"--user", "--group", "--prompt", "--chdir", "--host", "--role", "--type"})
    ),
    "doas": _Wrapper("uC"),
    "env": _Wrapper("uC", frozenset({"--unset", "--chdir"}), opaque=frozenset({"-S", "--split-string"})),
    "nohup": _PLAIN,
    "time": _Wrapper("fo", frozenset({"--format", "--output"})),
    "nice": _Wrapper("n", frozenset({"--adjustment"})),
    "ionice": _Wrapper("cnp", frozenset({"--class", "--classdata"})),
    "timeout": _Wrapper("ks", frozenset({"--kill-after", "--signal"}), positionals=1),
    "gtimeout": _Wrapper("ks", frozenset({"--kill-after", "--signal"}), positionals=1),
    "setsid": _PLAIN,
    "stdbuf": _Wrapper("ioe", frozenset({"--input", "--output", "--error"})),
    "xargs": _Wrapper(
        "ILnPsEadJRS", frozenset({"--max-args", "--max-procs", "--max-chars", "--delimiter", "--arg-file"})
    ),
    "command": _PLAIN,
    "builtin": _PLAIN,
    "exec": _Wrapper("a"),
    **dict.fromkeys(("-", "and", "not", "or"), _PLAIN),  # `-` is from zsh, the others from fish
    "repeat": _Wrapper(positionals=1),
    "noglob": _PLAIN,
    "nocorrect": _PLAIN,
    "caffeinate": _Wrapper("tw"),
    "chroot": _Wrapper(positionals=1, long_valued=frozenset({"--userspec", "--groups"})),
    "busybox": _PLAIN,
    "toybox": _PLAIN,
    "unbuffer": _PLAIN,
    "pkexec": _Wrapper(long_valued=frozenset({"--user"})),
    "run0": _Wrapper("u", frozenset({"--user"})),
    "systemd-run": _Wrapper("pEMuH", frozenset({"--unit", "--property", "--description", "--uid", "--gid"})),
    "strace": _Wrapper("eopsabIOPSuEUX"),
    "ltrace": _Wrapper("eopsaAlnuwx"),
    "unshare": _Wrapper("SGRw", frozenset({"--root", "--wd", "--setuid", "--setgid"})),
    "nsenter": _Wrapper("tSGW", frozenset({"--target", "--setuid", "--setgid"})),
    "taskset": _Wrapper("p", positionals=1),
    "chrt": _Wrapper("TPD", positionals=1),
    "fakeroot": _Wrapper("lisb"),
    "setarch": _Wrapper(positionals=1),
    **dict.fromkeys(("linux32", "linux64", "i386", "i486", "i586", "i686", "x86_64", "uname26"), _PLAIN),
    **dict.fromkeys(("aarch64", "arch", "eatmydata", "fakechroot", "torsocks", "torify", "chronic"), _PLAIN),
    **dict.fromkeys(("ifne", "catchsegv", "dbus-run-session", "daemonize", "cpulimit", "setpriv"), _PLAIN),
    **dict.fromkeys(("gnohup", "gnice", "gtime"), _PLAIN),
    **dict.fromkeys(
        ("setuidgid", "setuser", "envuidgid", "envdir", "faketime", "s6-setuidgid"), _Wrapper(positionals=1)
    ),
    **dict.fromkeys(("proxychains", "proxychains4"), _Wrapper("f")),
    "chpst": _Wrapper("uUbenmdofpclrt/"),
    "softlimit": _Wrapper("admflsrtcpo"),
    "rlwrap": _Wrapper("abCDefFgHlMmopPqsStwz"),
    "numactl": _Wrapper("ICNpmi"),
    "prlimit": _Wrapper("o", frozenset({"--output"})),
    "choom": _Wrapper("n", frozenset({"--adjust"})),
    "cgexec": _Wrapper("g"),
    "trickle": _Wrapper("duwtlLpn"),
    "valgrind": _PLAIN,
    "perf": _Wrapper("eopFcGCt", positionals=1),
    "systemd-inhibit": _PLAIN,
    "aa-exec": _Wrapper("pn"),
    "runcon": _Wrapper("utrl", positionals=1),
    "proot": _Wrapper("rbqwvk0iRS"),
    "flatpak-spawn": _PLAIN,
    "firejail": _PLAIN,
    "gosu": _Wrapper(positionals=1),
    "su-exec": _Wrapper(positionals=1),
    "xvfb-run": _Wrapper("enfs"),
    "flock": _Wrapper("wE", frozenset({"--timeout"}), positionals=1, opaque=frozenset({"-c", "--command"})),
}


def runs_others(name: str) -> bool:
    """Return True if the program is known to run any program or code, or to destroy any file.

    Some of these programs do so only with certain arguments.
    """
    base = name.rpartition("/")[2].lower().rstrip("0123456789.")  # `python3.12` is `python`
    return base in _POWERFUL | SHELLS | _HIDING or base in _WRAPPERS


def prefix_lengths(words: tuple[str, ...]) -> list[int]:
    """Return the prefix lengths, in words, to offer in rules for this command, largest first.

    Prefixes that are known to allow any program to run, or any file to be destroyed, are left out. If the
    options of the program are not known, a prefix contains at least a subcommand.
    """
    if runs_others(words[0]):
        return []
    lengths = {len(words), min(2, len(words)), 1}
    if not has_option_table(words[0]):
        if not words[1:] or not _SUBCOMMAND.fullmatch(words[1]):
            return []
        lengths -= {1}
    runners = _RUNNERS.get(words[0].rpartition("/")[2])
    if len(words) > 1 and words[1].startswith("-"):  # a rule for `git -C` would allow any subcommand
        lengths = {len(words), 1}
    if runners is not None:
        lengths -= {1}
        if not words[1:] or words[1].startswith("-"):
            return []
        if words[1] in runners:
            if not words[2:] or words[2].startswith("-") or runs_others(words[2]):
                return []
            lengths = {len(words), 3}
        elif words[1] == "tool":  # `uv tool run`
            lengths = {len(words)}
    return sorted(lengths, reverse=True)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What a wrapper runs: a script for the shell, or a command within the words passed to `unwrap`.

    The command starts at index `start` and ends before `stop`, or at the last word if `stop` is None.
    """

    start: int = 0
    stop: int | None = None
    script: str | None = None
    open_ended: bool = False  # unknown words follow, as with `xargs`


class UnclearError(Exception):
    """Raised if the wrapped command cannot be determined. The message says why."""


def unwrap(words: Words) -> list[Wrapped]:
    """Return the commands that `words` run through a known wrapper; an empty list if there are none.

    Raises `UnclearError`.
    """
    name = words[0][0].rpartition("/")[2].lower()
    if name == "find":
        return _executed_by_find(words)
    found = _unwrap_one(name, words)
    return [found] if found is not None else []


def _unwrap_one(name: str, words: Words) -> Wrapped | None:
    if name in SHELLS:
        return _script_of_shell(words)
    if name == "eval":
        return _script(words[1:])
    if name in _HIDING and len(words) > 1:
        raise UnclearError(f"what `{name}` runs is not known")
    if name in _SUBCOMMAND_WRAPPERS:
        return _behind_subcommand(_SUBCOMMAND_WRAPPERS[name], words)
    wrapper = _WRAPPERS.get(name)
    return _behind(name, wrapper, words) if wrapper is not None else None


def shell_script(argv: tuple[str, ...]) -> str | None:
    """Return the script of `SHELL -c SCRIPT`, also with `-l` or `--login`; None for any other command.

    The shell must not be fish. It must be written without a directory, or be in one of `_SHELL_HOMES`.
    """
    directory, _, name = argv[0].rpartition("/") if argv else ("", "", "")
    if name not in SHELLS - {"fish"} or directory not in _SHELL_HOMES:
        return None
    if len(argv) == 3 and argv[1] in {"-c", "-lc", "-cl"}:
        return argv[2]
    if len(argv) == 4 and argv[1:3] in {("-l", "-c"), ("--login", "-c")}:
        return argv[3]
    return None


def _behind_subcommand(subcommands: frozenset[str], words: Words) -> Wrapped | None:
    """Return the command after `--` or, if there is no `--`, after the subcommand and its options."""
    texts = [text for text, _ in words]
    at = next((at for at, text in enumerate(texts) if at and not text.startswith("-")), None)
    if at is None or texts[at] not in subcommands:
        return None
    if "--" in texts[at:-1]:
        return Wrapped(start=texts.index("--", at) + 1)
    start = next((place for place in range(at + 1, len(texts)) if not texts[place].startswith("-")), None)
    return Wrapped(start=start) if start is not None else None


def _script(words: Words) -> Wrapped | None:
    if not words:
        return None
    if not all(literal for _, literal in words):
        raise UnclearError("what it evaluates is not known in advance")
    return Wrapped(script=" ".join(text for text, _ in words))


def _script_of_shell(words: Words) -> Wrapped | None:
    """Return the script after a shell's option `-c`; None if there is no script or the shell runs a file.

    Raises `UnclearError` if the shell runs its standard input, or if the script or the name of the file is
    not literal.
    """
    position = 1
    while position < len(words) and words[position][0].startswith(("-", "+")):
        option = words[position][0]
        if not option.startswith("--") and "c" in option[1:]:
            return _script(words[position + 1 : position + 2])
        position += 2 if option in {"-o", "+o", "-O", "+O", "--rcfile", "--init-file"} else 1
        if not option.startswith("--") and option[-1] == "o" and len(option) > 2:
            position += 1  # `-euo pipefail`
    if position >= len(words) or not words[position][1]:
        raise UnclearError(f"what `{words[0][0]}` reads is not known")
    return None


def _executed_by_find(words: Words) -> list[Wrapped]:
    """Return the commands that `find` runs: one for each `-exec`, `-execdir`, `-ok` or `-okdir`."""
    found: list[Wrapped] = []
    stop: int | None = None
    for position in range(len(words) - 1, 0, -1):
        text = words[position][0]
        if text == ";" or (text == "+" and words[position - 1][0] == "{}"):
            stop = position
        elif text in {"-exec", "-execdir", "-ok", "-okdir"}:
            found.append(Wrapped(start=position + 1, stop=stop))
    return found[::-1]


def _behind(name: str, wrapper: _Wrapper, words: Words) -> Wrapped | None:
    """Return the command after the wrapper's own options, arguments and variables; None if there is none."""
    position, own = 1, wrapper.positionals
    if name == "setarch" and words[1:] and words[1][0].startswith("-"):
        own = 0  # the architecture can be omitted if an option comes first
    while position < len(words):
        text, literal = words[position]
        if not literal and not (own or "=" in text):
            raise UnclearError(f"what `{name}` runs is not known in advance")
        if _hides(name, wrapper, text):
            raise UnclearError(f"what `{name} {text}` runs is not known")
        if text.startswith("-") and text != "-":
            position += 2 if _takes_next(wrapper, text) else 1
        elif name in {"env", "sudo", "doas"} and "=" in text:
            position += 1
        elif own:
            own -= 1
            position += 1
        else:
            return Wrapped(start=position, open_ended=name == "xargs")
    return None


def _hides(name: str, wrapper: _Wrapper, option: str) -> bool:
    """Return True if the option makes it unclear which command is run.

    The value of an opaque option is a command. After an unknown long option without `=`, the next word can be
    either the value of the option or the command.
    """
    if option.startswith("--"):
        known = "=" in option or option in wrapper.long_valued | _VALUELESS
        return option.partition("=")[0] in wrapper.opaque or not known
    return option in wrapper.opaque or (name == "env" and option.startswith("-") and "S" in option)


def _takes_next(wrapper: _Wrapper, option: str) -> bool:
    """Return True if the option's value is the next word."""
    if option.startswith("--"):
        return option in wrapper.long_valued
    return (
        len(option) >= 2
        and option[-1] in wrapper.valued
        and not any(c in wrapper.valued for c in option[1:-1])
    )
