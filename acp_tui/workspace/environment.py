"""The environment of the client's terminals, and what in a wished one deserves a second look."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
# Nobody turns the pages of `git log` here; it would wait for ever.
_NO_PAGER = {"PAGER": "cat", "GIT_PAGER": "cat"}
# Ours speak of our own terminal.
_OURS = {"COLUMNS", "LINES", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMCAP", "WINDOWID", "TMUX", "STY"}

# Variables that make a harmless program run or load something else.
_SUSPICIOUS = re.compile(
    r"""
      LD_.* | DYLD_.* | GCONV_PATH | GLIBC_TUNABLES | LOCPATH | OPENSSL_(CONF|MODULES|ENGINES)
    | PATH | IFS | SHELL | SHELLOPTS | BASHOPTS | BASH_ENV | BASH_FUNC_.*
    | ENV | ZDOTDIR | PS4 | PROMPT_COMMAND
    | PYTHON(PATH|HOME|STARTUP|INSPECT|USERBASE|WARNINGS|BREAKPOINT|PYCACHEPREFIX)
    | NODE_OPTIONS | NODE_PATH | npm_config_.* | RUBYOPT | RUBYLIB | PERL5OPT | PERL5LIB | PERLLIB | PERL5DB
    | PHPRC | PHP_INI_SCAN_DIR | LUA_INIT.* | LUA_C?PATH.* | R_PROFILE.* | JULIA_LOAD_PATH | ERL_.*FLAGS
    | (_JAVA|JDK_JAVA|JAVA_TOOL|MAVEN|GRADLE)_(OPTIONS|OPTS) | CLASSPATH | DOTNET_STARTUP_HOOKS
    | RUSTC(_WORKSPACE)?_WRAPPER | RUSTC | CARGO_BUILD_RUSTC.* | GOFLAGS | CC | CXX | LD | MAKEFLAGS
    | GIT_(SSH|SSH_COMMAND|ASKPASS|PROXY_COMMAND|EXTERNAL_DIFF|EXEC_PATH|TEMPLATE_DIR|DIR|CONFIG.*)
    | SSH_ASKPASS | SUDO_ASKPASS | LESSOPEN | LESSCLOSE
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Commands of their own, unless they say "do not bother anybody".
_PROGRAMS = re.compile(r"(GIT_)?(PAGER|EDITOR|SEQUENCE_EDITOR)|VISUAL|MANPAGER|BROWSER|SYSTEMD_PAGER")
_HARMLESS = {"", "cat", "true", ":", "less", "more", "false", "/bin/cat", "/bin/true", "/usr/bin/cat"}


def suspicious_environment(env: Mapping[str, str]) -> list[str]:
    """The variables among these that can make a harmless command do something else, such as `LD_PRELOAD`."""
    return [
        name
        for name, value in env.items()
        if _SUSPICIOUS.fullmatch(name) or (_PROGRAMS.fullmatch(name) and value not in _HARMLESS)
    ]


def terminal_environment(wished: Mapping[str, str]) -> dict[str, str]:
    """Our own environment, made fit for a terminal of the client, and what the agent wishes beside it."""
    ours = {name: value for name, value in os.environ.items() if name not in _OURS}
    return {**ours, **_TERMINAL, **_NO_PAGER, **wished}
