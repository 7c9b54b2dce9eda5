"""Which files are sensitive: those that hold secrets, and those that run or steer something by themselves.

A matter of names only, so that a path in a tool call can be judged like a file that was opened. A link
with a harmless name is the caller's concern: it passes both the path as asked and the real one.
"""

from __future__ import annotations

import os.path
import re
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths

if TYPE_CHECKING:
    from collections.abc import Iterable

# A pattern without a slash is about the file's name, one with a slash about the end of its path.
# `*` crosses slashes, so that `.ssh/*` is everything below. Everything is in lower case.
_SECRETS: dict[str, tuple[str, ...]] = {
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
}
# Whoever writes one of these has something run later, without a question.
_RUNNING: dict[str, tuple[str, ...]] = {
    "runs when a shell or a session starts": (
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc"),
        *(".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login"),
        *(".logout", ".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment"),
        *("fish/config.fish", "fish/conf.d/*", "fish/functions/*", "nushell/*.nu", ".config/autostart/*"),
        *(
            ".config/systemd/*",
            ".config/environment.d/*",
            "library/launchagents/*",
            ".tmux.conf",
            ".screenrc",
        ),
        *(".oh-my-zsh/*", ".zsh/*", ".bashrc.d/*", "tmux/tmux.conf"),
    ),
    "runs when a folder is entered": (
        ".mise.toml",
        "mise.toml",
        ".mise.local.toml",
        ".autoenv*",
        ".rtx.toml",
    ),
    "runs when an interpreter or an editor starts": (
        *("sitecustomize.py", "usercustomize.py", "*.pth", ".pythonrc*", ".pdbrc", ".rprofile", ".irbrc"),
        *(".pryrc", ".gdbinit", ".lldbinit", ".psqlrc", ".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".lvimrc"),
        *(
            ".nvim.lua",
            ".config/nvim/*",
            ".vim/*",
            ".emacs",
            ".emacs.d/*",
            ".config/emacs/*",
            ".dir-locals.el",
        ),
    ),
    "holds tasks and settings that an editor runs": (
        *(".vscode/*.json", "*.code-workspace", ".idea/runconfigurations/*", ".idea/workspace.xml"),
        *(".devcontainer.json", ".devcontainer/*", ".zed/*.json", ".cursor/*.json", ".fleet/*.json"),
        *(".helix/*.toml", ".windsurf/*.json", ".kiro/settings/*", ".kiro/hooks/*", ".vs/*.json"),
    ),
    "steers an agent, which may run programs named in it": (
        *(".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/*"),
        *(".claude/agents/*", ".claude/commands/*", ".claude/skills/*", ".claude/plugins/*"),
        *(".gemini/settings.json", ".gemini/extensions/*", ".gemini/commands/*", ".qwen/settings.json"),
        *(".codex/config.toml", ".codex/hooks*", ".codex/rules/*", "opencode.json", "opencode.jsonc"),
        *(".opencode/*", ".kimi/*", ".continue/*", ".cline/*", ".clinerules/hooks/*", ".roo/mcp.json"),
        *(".amazonq/*", ".goose/*", ".openhands/*", ".augment/settings*.json", ".copilot/*.json"),
        *("mcp.json", "mcp_settings.json", "crush.json", ".crush.json", ".aider.conf.yml", ".config/crush/*"),
        *("fastagent.config.yaml", "fastagent.secrets.yaml", ".cursor/hooks/*", ".factory/*.json"),
    ),
    "runs at commits and other uses of git": (
        *(".husky/*", ".githooks/*", ".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml"),
        *("lefthook.y*ml", ".lefthook.y*ml", "lefthook-local.y*ml", ".lefthook/*", ".gitconfig"),
        *(".config/git/*", ".lfsconfig", "etc/gitconfig"),
    ),
    "runs on the server that builds the project": (
        *(".github/workflows/*", ".github/actions/*", ".gitlab-ci.yml", ".gitlab/ci/*", ".circleci/*"),
        *(".travis.yml", "azure-pipelines*.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".drone.yml"),
        *(".woodpecker.y*ml", ".woodpecker/*", ".buildkite/*", "appveyor.yml", ".appveyor.yml"),
        *(".teamcity/*", ".cirrus.yml", ".forgejo/workflows/*", ".gitea/workflows/*", ".semaphore/*"),
        *("buildspec.y*ml", "cloudbuild.y*ml"),
    ),
    "runs when packages are installed or built": (
        *(".pnpmfile.cjs", ".yarn/plugins/*", ".yarn/releases/*", ".cargo/config", ".cargo/config.toml"),
        *(".mvn/*", ".gradle/init.gradle", ".gradle/init.d/*", ".gradle/gradle.properties", "pip.conf"),
        *(".condarc", ".gemrc", ".config/pip/*", ".distutils.cfg", ".pydistutils.cfg"),
    ),
    "runs at set times or when the system starts": (
        *(
            "etc/cron*",
            "spool/cron/*",
            "etc/systemd/*",
            "etc/init.d/*",
            "etc/profile*",
            "etc/bash*",
            "etc/zsh*",
        ),
        *("etc/rc.local", "etc/ld.so.preload", "library/launchdaemons/*"),
    ),
    "holds settings of acp-tui": (".acp-tui.toml",),
}
_GIT = "steers git, which may run programs named in it"
_OF_GIT = (".git", ".git/*")
# They, too, make git take the folder around them for a repository of its own.
_MAKING_REPOSITORIES = ("head", "commondir", "gitdir", "objects/info/alternates", "config.worktree")
_INVISIBLE = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF])
"""Characters that some file systems ignore in names."""

_GLOB = re.compile(r"[*?\[]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_FEWEST_FIXED = 2  # letters of a glob such as `id*`
_MAX_PATTERN = 100
# Names that a glob may stand for: of files that hold secrets, and of folders that hold nothing else.
_NAMES = frozenset(
    pattern.replace("*", "x")
    for patterns in _SECRETS.values()
    for pattern in patterns
    if "/" not in pattern and not pattern.endswith(".json")
) | {".git", ".ssh", ".aws", ".azure", ".gnupg"}

# Templates that are meant to be committed hold no secrets.
_HARMLESS = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults")

_BY_REASON = {**_SECRETS, **_RUNNING}
_ALL_SECRETS = tuple(pattern for patterns in _SECRETS.values() for pattern in patterns)
_ALL = tuple(pattern for patterns in _BY_REASON.values() for pattern in patterns)


def sensitive_reason(path: str | PurePath, extra: Iterable[str] = ()) -> str | None:
    """Why this file deserves a question, in words that follow its name; None when it does not.

    `extra` are the user's own patterns, in the same form; `~` is the home directory.
    """
    text = os.path.normpath(os.fspath(path))
    if _is_ours(text):
        return "belongs to acp-tui itself"
    text = text.lower().translate(_INVISIBLE)
    if why := _of_user(text, extra):
        return why
    if _matches(_OF_GIT, text) or _matches(_MAKING_REPOSITORIES, text):
        return _GIT
    if not _matches(_ALL, text) or _matches(_HARMLESS, text):
        return None
    return next((why for why, patterns in _BY_REASON.items() if _matches(patterns, text)), None)


def holds_secrets(path: str | PurePath, extra: Iterable[str] = ()) -> bool:
    """May this file hold passwords or keys, so that what is in it belongs in no log?"""
    text = os.path.normpath(os.fspath(path))
    if _is_ours(text):
        return True
    text = text.lower().translate(_INVISIBLE)
    if _of_user(text, extra) or _matches((".git/config", ".git/modules/*/config"), text):
        return True
    return _matches(_ALL_SECRETS, text) and not _matches(_HARMLESS, text)


def glob_may_match_sensitive(pattern: str) -> bool:
    """May this glob of the shell stand for a sensitive file? One for nearly everything is not meant."""
    for name in pattern.lower().split("/"):
        if not _GLOB.search(name) or len(name) > _MAX_PATTERN:
            continue
        name = name.replace("[^", "[!")
        fixed = sum(letter.isalnum() for letter in _BRACKETS.sub("", name))
        if name.startswith(".") or fixed >= _FEWEST_FIXED:
            dotted = name.startswith(".")
            if any(fnmatchcase(one, name) for one in _NAMES if one.startswith(".") == dotted):
                return True
    return False


def _of_user(text: str, extra: Iterable[str]) -> str | None:
    for pattern in extra:
        if _matches((str(Path(pattern).expanduser()).lower(),), text):
            return f"matches {pattern!r} of the sensitive files in your settings"
    return None


def _matches(patterns: tuple[str, ...], path: str) -> bool:
    names, ends = _compiled(patterns)
    whole = path if path.startswith("/") else f"./{path}"
    return (names.fullmatch(path.rpartition("/")[2]) or ends.fullmatch(whole)) is not None


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Those about names, and those about the ends of paths: one command may name a thousand files."""
    names = [pattern for pattern in patterns if "/" not in pattern]
    ends = [pattern for pattern in patterns if "/" in pattern and pattern[0] != "/"]
    whole = [pattern for pattern in patterns if pattern[0] == "/"]
    of_names, of_ends, of_whole = ("|".join(map(translate, some)) or "(?!)" for some in (names, ends, whole))
    return re.compile(of_names), re.compile(f"(?s:.*)/(?:{of_ends})|{of_whole}")


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
