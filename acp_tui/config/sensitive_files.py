"""Detects sensitive files: files with secrets, and files that programs execute or read their settings from.

Only paths are examined, not the files themselves, so the files need not exist. Links are not resolved:
callers must check both the link and its target.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import Path, PurePath

from acp_tui.config.paths import paths, worktrees_directory

# A pattern without a slash must match the file's name, one with a slash the end of its path. `*` also matches
# slashes, so `.ssh/*` means everything below. All patterns are in lower case.
_SECRETS: dict[str, tuple[str, ...]] = {
    "may contain passwords and keys": (".env", ".env.*", ".env-*", ".env_*", ".envrc", "*.env"),
    "may contain a private key": (
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss"),
        *("*.pem", "*.key", "*.ppk", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.agekey"),
        *("secring.*", ".gnupg", ".gnupg/*", ".age/*"),
    ),
    "belongs to SSH": (".ssh", ".ssh/*"),
    "may contain a password for a package registry": (
        *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".gem/credentials", ".bundle/config"),
        *(".cargo/credentials", ".cargo/credentials.toml", ".composer/auth.json", ".m2/settings.xml"),
        *(".nuget/nuget.config", ".docker/config.json", "containers/auth.json"),
    ),
    "may contain passwords": (
        *(".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".pgpass", ".my.cnf"),
        *(".htpasswd", ".password-store", ".password-store/*", ".vault-token", ".terraformrc"),
        *("credentials.tfrc.json", "etc/shadow", "etc/gshadow", "etc/sudoers", ".local/share/keyrings/*"),
        "library/keychains/*",
    ),
    "may contain cloud credentials": (
        *(".aws/*", ".azure/*", ".config/gcloud/*", ".kube/config", ".kube/*.config", "kubeconfig", ".boto"),
        *("application_default_credentials.json", ".oci/config", ".config/doctl/*", ".fly/config.yml"),
        *(".config/rclone/rclone.conf", ".s3cfg"),
    ),
    "may contain sign-in credentials": (
        *("gh/hosts.yml", ".config/hub", "glab-cli/config.yml", ".claude/.credentials.json"),
        *(".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".local/share/opencode/auth.json"),
    ),
    "contains the environment of a process": ("proc/*/environ",),
    "may contain passwords that were typed": (
        *(".bash_history", ".zsh_history", ".zhistory", ".sh_history", ".ksh_history", ".fish_history"),
        *("fish/fish_history", ".python_history", ".node_repl_history", ".irb_history", ".psql_history"),
        *(".mysql_history", ".sqlite_history", ".rediscli_history", ".mongo_history", ".lesshst"),
    ),
}
# Writing one of these makes something run later, without asking.
_RUNNING: dict[str, tuple[str, ...]] = {
    "runs when a shell or a login session starts": (
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc"),
        *(".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login"),
        *(".logout", ".inputrc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment"),
        *("fish/config.fish", "fish/conf.d/*", "fish/functions/*", "nushell/*.nu", ".config/autostart/*"),
        *(".config/systemd/*", ".config/environment.d/*", "library/launchagents/*", ".tmux.conf"),
        *(".screenrc", ".oh-my-zsh/*", ".zsh/*", ".bashrc.d/*", "tmux/tmux.conf"),
    ),
    "runs when a folder is entered": (
        *(".mise.toml", "mise.toml", ".mise.local.toml", ".autoenv*", ".rtx.toml"),
    ),
    "runs when an interpreter or an editor starts": (
        *("sitecustomize.py", "usercustomize.py", "*.pth", ".pythonrc*", ".pdbrc", ".rprofile", ".irbrc"),
        *(".pryrc", ".gdbinit", ".lldbinit", ".psqlrc", ".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".lvimrc"),
        *(".nvim.lua", ".config/nvim/*", ".vim/*", ".emacs", ".emacs.d/*", ".config/emacs/*"),
        ".dir-locals.el",
    ),
    "contains tasks or settings that can make an editor run programs": (
        *(".vscode/*.json", "*.code-workspace", ".idea/runconfigurations/*", ".idea/workspace.xml"),
        *(".devcontainer.json", ".devcontainer/*", ".zed/*.json", ".cursor/*.json", ".fleet/*.json"),
        *(".helix/*.toml", ".windsurf/*.json", ".kiro/settings/*", ".kiro/hooks/*", ".vs/*.json"),
    ),
    "configures an agent and can name programs that the agent runs": (
        *(".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/*"),
        *(".claude/agents/*", ".claude/commands/*", ".claude/skills/*", ".claude/plugins/*"),
        *(".gemini/settings.json", ".gemini/extensions/*", ".gemini/commands/*", ".qwen/settings.json"),
        *(".codex/config.toml", ".codex/hooks*", ".codex/rules/*", "opencode.json", "opencode.jsonc"),
        *(".opencode/*", ".kimi/*", ".continue/*", ".cline/*", ".clinerules/hooks/*", ".roo/mcp.json"),
        *(".amazonq/*", ".goose/*", ".openhands/*", ".augment/settings*.json", ".copilot/*.json"),
        *("mcp.json", "mcp_settings.json", "crush.json", ".crush.json", ".aider.conf.yml", ".config/crush/*"),
        *("fastagent.config.yaml", "fastagent.secrets.yaml", ".cursor/hooks/*", ".factory/*.json"),
    ),
    "runs on commits and other git operations": (
        *(".husky/*", ".githooks/*", ".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml"),
        *("lefthook.y*ml", ".lefthook.y*ml", "lefthook-local.y*ml", ".lefthook/*", ".gitconfig"),
        *(".config/git/*", ".lfsconfig", "etc/gitconfig"),
    ),
    "runs on the project's CI server": (
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
        *("crontab", "etc/cron*", "spool/cron/*", "etc/systemd/*", "etc/init.d/*", "etc/profile*"),
        *("etc/bash*", "etc/zsh*", "etc/rc.local", "etc/ld.so.preload", "library/launchdaemons/*"),
    ),
    "runs when a program of its name is started": (".local/bin/*",),
    "contains settings of acp-tui": (".acp-tui.toml",),
}
# Ordinary files of a project. Agents read them all the time, and may, but writing one makes something run.
_BUILDING: dict[str, tuple[str, ...]] = {
    "runs when the project is built or tested": ("makefile", "gnumakefile", "conftest.py"),
}
_GIT_REASON = "configures git and can name programs that git runs"
_GIT_DIRECTORY = (".git", ".git/*")
# These files can make git treat the folder around them as a repository.
_BARE_REPOSITORY = ("head", "commondir", "gitdir", "objects/info/alternates", "config.worktree")
_INVISIBLE = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF])
"""Characters that some file systems ignore in names."""

_GLOB = re.compile(r"[*?\[]")
_ONE_LETTER = re.compile(r"\[([a-z0-9])\]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_MIN_FIXED_LETTERS = 2  # in a glob such as `id*`
_MAX_PATTERN_LENGTH = 100
# Names that a glob may match: of files that contain secrets, and of folders for such files.
_NAMES = frozenset(
    pattern.replace("*", "x")
    for patterns in _SECRETS.values()
    for pattern in patterns
    if "/" not in pattern and not pattern.endswith(".json")
) | {".git", ".ssh", ".aws", ".azure", ".gnupg"}

# Templates that are meant to be committed contain no secrets.
_HARMLESS = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults")

_BY_REASON = {**_SECRETS, **_RUNNING, **_BUILDING}
_ALL_SECRETS = tuple(pattern for patterns in _SECRETS.values() for pattern in patterns)
_ALL = tuple(pattern for patterns in _BY_REASON.values() for pattern in patterns)


def sensitive_reason(path: str | PurePath, extra: Iterable[str] = ()) -> str | None:
    """Return why a file is sensitive, as a clause to put after the file's name; None if the file is not.

    `extra` are the user's patterns for names or paths; `~` stands for the home directory.
    """
    text = os.path.normpath(os.fspath(path))
    if _is_ours(text):
        return "belongs to acp-tui itself"
    text = text.lower().translate(_INVISIBLE)
    if why := _user_reason(text, extra):
        return why
    if _matches(_GIT_DIRECTORY, text) or _matches(_BARE_REPOSITORY, text):
        return _GIT_REASON
    if not _matches(_ALL, text) or _matches(_HARMLESS, text):
        return None
    return next((why for why, patterns in _BY_REASON.items() if _matches(patterns, text)), None)


def strongest_reason(*reasons: str | None) -> str | None:
    """Return the first of the reasons that matters for reading, else the first reason, else None."""
    found = [reason for reason in reasons if reason is not None]
    return next((reason for reason in found if reason not in _BUILDING), found[0] if found else None)


def reason_for_reading(*reasons: str | None) -> str | None:
    """Return the first of the reasons why a file is sensitive that matters for reading the file.

    Ordinary files of a project, such as its `Makefile`, are sensitive only because writing them makes
    something run later.
    """
    found = strongest_reason(*reasons)
    return None if found in _BUILDING else found


def holds_secrets(path: str | PurePath, extra: Iterable[str] = ()) -> bool:
    """Return True if the content of this file must not be logged.

    These are files that could contain passwords or keys, files that match `extra`, and acp-tui's own files.
    """
    text = os.path.normpath(os.fspath(path))
    if _is_ours(text):
        return True
    text = text.lower().translate(_INVISIBLE)
    if _user_reason(text, extra) or _matches((".git/config", ".git/modules/*/config"), text):
        return True
    return _matches(_ALL_SECRETS, text) and not _matches(_HARMLESS, text)


def glob_may_match_sensitive(pattern: str) -> bool:
    """Return True if a part of this shell glob could match one of `_NAMES`, such as `.env` or `.ssh`.

    Very general globs such as `*` and very long globs do not count, although they can match such names, too.
    """
    for name in pattern.lower().split("/"):
        if not _GLOB.search(name) or len(name) > _MAX_PATTERN_LENGTH:
            continue
        name = name.replace("[^", "[!")
        fixed = sum(letter.isalnum() for letter in _BRACKETS.sub("", _ONE_LETTER.sub(r"\1", name)))
        if name.startswith(".") or fixed >= _MIN_FIXED_LETTERS:
            dotted = name.startswith(".")
            if any(fnmatchcase(one, name) for one in _NAMES if one.startswith(".") == dotted):
                return True
    return False


def _user_reason(text: str, extra: Iterable[str]) -> str | None:
    for pattern in extra:
        path = Path(os.path.expanduser(pattern))  # noqa: PTH111 - leaves an unknown `~user` as it is, such as `~$*`
        if _matches((str(path).lower(),), text):
            return f"matches {pattern!r} in workspace.sensitive"
    return None


def _matches(patterns: tuple[str, ...], path: str) -> bool:
    names, ends = _compile(patterns)
    whole = path if path.startswith("/") else f"./{path}"
    return (names.fullmatch(path.rpartition("/")[2]) or ends.fullmatch(whole)) is not None


@lru_cache(maxsize=256)
def _compile(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Combine the patterns into one regular expression for names and one for paths, for speed."""
    names = [pattern for pattern in patterns if "/" not in pattern]
    ends = [pattern for pattern in patterns if "/" in pattern and pattern[0] != "/"]
    whole = [pattern for pattern in patterns if pattern[0] == "/"]
    of_names, of_ends, of_whole = ("|".join(map(translate, some)) or "(?!)" for some in (names, ends, whole))
    return re.compile(of_names), re.compile(f"(?s:.*)/(?:{of_ends})|{of_whole}")


def _is_ours(path: str) -> bool:
    """Return True for acp-tui's own files, which contain the rules and settings that restrict agents.

    Git worktrees of conversations are in the data directory, but their files belong to the user's project.
    """
    own = paths()
    return not _is_in_worktree(path, own.data) and any(
        path == directory or path.startswith(f"{directory}/")
        for directory in _with_real_paths(own.config, own.data, own.state)
    )


def _is_in_worktree(path: str, data: Path) -> bool:
    """Return True for conversations' git worktrees, `worktrees/REPOSITORY/NAME`, and all files in them."""
    return any(
        path.startswith(f"{directory}/") and path.removeprefix(f"{directory}/").count("/") >= 1
        for directory in _with_real_paths(worktrees_directory(data))
    )


@lru_cache(maxsize=8)
def _with_real_paths(*directories: Path) -> frozenset[str]:
    """Return each directory's path as given, and with symlinks resolved."""
    return frozenset(path for one in directories for path in (str(one), os.path.realpath(one)))
