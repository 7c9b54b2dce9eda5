"""Which files are sensitive: those that hold secrets, or that run or steer something by themselves.

A matter of names only, so that a path in a tool call can be judged like a file that was opened. A link
with a harmless name is the caller's concern: it passes both the path as asked and the real one.
"""

from __future__ import annotations

import os.path
import re
from fnmatch import translate
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths

if TYPE_CHECKING:
    from collections.abc import Iterable

# A pattern without a slash is about the file's name, one with a slash about the end of its path.
# `*` crosses slashes, so that `.ssh/*` is everything below. Everything is in lower case.
_PATTERNS: dict[str, tuple[str, ...]] = {
    "may hold passwords and keys of the environment": (
        ".env",
        ".env.*",
        ".env-*",
        ".env_*",
        ".envrc",
        "*.env",
    ),
    "may hold a private key": (
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss"),
        *("*.pem", "*.key", "*.ppk", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.agekey"),
        *("secring.*", ".gnupg", ".gnupg/*", ".age/*"),
    ),
    "belongs to SSH": (".ssh", ".ssh/*"),
    "steers git, which may run programs named in it": (
        *(".git", ".git/config", ".git/config.worktree", ".git/hooks/*"),
        *(".git/modules/*/config", ".git/modules/*/hooks/*", ".git/worktrees/*/config.worktree"),
    ),
    "may hold a registry's password": (
        *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".gem/credentials", ".bundle/config"),
        *(".cargo/credentials", ".cargo/credentials.toml", ".composer/auth.json", ".m2/settings.xml"),
        *(".nuget/nuget.config", ".docker/config.json", "containers/auth.json"),
    ),
    "may hold passwords": (
        *(
            ".netrc",
            "_netrc",
            ".git-credentials",
            ".config/git/credentials",
            ".pgpass",
            ".my.cnf",
            ".htpasswd",
        ),
        *(".password-store", ".password-store/*", ".vault-token", ".terraformrc", "credentials.tfrc.json"),
        *("etc/shadow", "etc/gshadow", "etc/sudoers", ".local/share/keyrings/*", "library/keychains/*"),
    ),
    "may hold credentials of a cloud": (
        *(".aws/*", ".azure/*", ".config/gcloud/*", ".kube/config", ".kube/*.config", "kubeconfig", ".boto"),
        *("application_default_credentials.json", ".oci/config", ".config/doctl/*", ".fly/config.yml"),
        *(".config/rclone/rclone.conf", ".s3cfg"),
    ),
    "may hold a sign-in": (
        *("gh/hosts.yml", ".config/hub", "glab-cli/config.yml", ".claude/.credentials.json"),
        *(".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".local/share/opencode/auth.json"),
    ),
    "holds the environment of a process": ("proc/*/environ",),
    "holds settings of acp-tui": (".acp-tui.toml",),
}

# Templates that are meant to be committed hold no secrets.
_HARMLESS = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults")


def sensitive(path: str | PurePath, extra: Iterable[str] = ()) -> str | None:
    """Why this file deserves a question, in words that follow its name; None when it does not.

    `extra` are the user's own patterns, in the same form; `~` is the home directory.
    """
    text = os.path.normpath(os.fspath(path))
    if _is_ours(text):
        return "belongs to acp-tui itself"
    text = text.lower()
    for pattern in extra:
        if _matches((str(Path(pattern).expanduser()).lower(),), text):
            return f"matches {pattern!r} of the sensitive files in your settings"
    if _matches(_HARMLESS, text):
        return None
    return next((why for why, patterns in _PATTERNS.items() if _matches(patterns, text)), None)


def _matches(patterns: tuple[str, ...], path: str) -> bool:
    names, ends = _compiled(patterns)
    whole = path if path.startswith("/") else f"./{path}"
    return (names.fullmatch(path.rpartition("/")[2]) or ends.fullmatch(whole)) is not None


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Those about names, and those about the ends of paths: one command may name a thousand files."""
    names = [pattern for pattern in patterns if "/" not in pattern]
    ends = [pattern if pattern[0] == "/" else f"*/{pattern}" for pattern in patterns if "/" in pattern]
    some = ["|".join(map(translate, found)) or "(?!)" for found in (names, ends)]
    return re.compile(some[0]), re.compile(some[1])


def _is_ours(path: str) -> bool:
    """Rules and settings decide what an agent may do, so no agent changes them unasked."""
    own = paths()
    return any(
        path == form or path.startswith(f"{form}/") for form in _forms(own.config, own.data, own.state)
    )


@lru_cache(maxsize=8)
def _forms(*directories: Path) -> frozenset[str]:
    """As they are called, and where they are."""
    return frozenset(form for one in directories for form in (str(one), os.path.realpath(one)))
