from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.config.paths import paths
from acp_tui.config.sensitive_files import (
    glob_may_match_sensitive,
    holds_secrets,
    reason_for_reading,
    sensitive_reason,
    strongest_reason,
)


@pytest.mark.parametrize(
    "path",
    [
        "/p/.env",
        "/p/.ENV",
        "/p/.env.local",
        "/p/.envrc",
        "/p/prod.env",
        "/home/u/.ssh/id_ed25519",
        "/home/u/.ssh/config",
        "/home/u/.ssh/keys/deep",
        "/p/deploy/id_rsa",
        "/p/certs/server.key",
        "/p/certs/Server.PEM",
        "/p/.git/config",
        "/p/.git/hooks/pre-commit",
        "/p/.git/modules/sub/config",
        "/p/sub/.git",
        "/p/.npmrc",
        "/home/u/.pypirc",
        "/home/u/.netrc",
        "/home/u/.aws/credentials",
        "/home/u/.aws/sso/cache/token.json",
        "/home/u/.config/gcloud/application_default_credentials.json",
        "/home/u/.azure/accessTokens.json",
        "/home/u/.kube/config",
        "/home/u/.docker/config.json",
        "/home/u/.config/gh/hosts.yml",
        "/home/u/.git-credentials",
        "/home/u/.gnupg/private-keys-v1.d/x.key",
        "/etc/shadow",
        "/proc/123/environ",
        "/p/.acp-tui.toml",
        "/p/sub/../.env",
        ".env",
        ".aws/credentials",
    ],
)
def test_files_with_secrets_or_settings_of_programs_are_sensitive(path: str) -> None:
    assert sensitive_reason(path)
    assert sensitive_reason(Path(path))


@pytest.mark.parametrize(
    "path",
    [
        *("/p/.git", "/p/.git/HEAD", "/p/.git/index", "/p/.git/commondir", "/p/.git/objects/info/alternates"),
        *(
            "/p/.git/refs/heads/main",
            "/p/.git/hooks/pre-commit.sample",
            "/p/.GIT/x",
            "/p/sub/.git/info/exclude",
        ),
        *("/p/lib/x/HEAD", "/p/lib/x/commondir", "/p/lib/x/gitdir", "/p/.gi\u200ct/config"),
    ],
)
def test_files_of_a_git_repository_are_sensitive(path: str) -> None:
    assert sensitive_reason(path) == "configures git and can name programs that git runs"


@pytest.mark.parametrize(
    "path",
    [
        *("/p/.bashrc", "/h/.zshrc", "/h/.profile", "/h/.config/fish/config.fish", "/h/.bash_aliases"),
        *("/p/.gitconfig", "/h/.config/git/config", "/h/.config/git/attributes"),
        *(
            "/p/.vscode/tasks.json",
            "/p/.vscode/settings.json",
            "/p/x.code-workspace",
            "/p/.idea/workspace.xml",
        ),
        *(
            "/p/.claude/settings.json",
            "/p/.claude/settings.local.json",
            "/p/.claude/hooks/x.sh",
            "/p/.mcp.json",
        ),
        *("/p/.gemini/settings.json", "/p/.codex/config.toml", "/p/opencode.json", "/p/.cursor/mcp.json"),
        *("/p/.husky/pre-commit", "/p/.githooks/pre-push", "/p/.pre-commit-config.yaml", "/p/lefthook.yml"),
        *("/p/.github/workflows/ci.yml", "/p/.gitlab-ci.yml", "/p/.circleci/config.yml", "/p/Jenkinsfile"),
        *("/p/.devcontainer/devcontainer.json", "/p/.envrc", "/p/mise.toml", "/p/.vimrc", "/p/.exrc"),
        *("/p/.cargo/config.toml", "/p/sitecustomize.py", "/h/.config/autostart/x.desktop", "/h/.tmux.conf"),
        *("/h/.config/systemd/user/x.service", "/h/Library/LaunchAgents/x.plist", "/etc/cron.d/x"),
    ],
)
def test_files_that_programs_run_automatically_are_sensitive(path: str) -> None:
    assert sensitive_reason(path)


def test_only_some_sensitive_files_hold_secrets() -> None:
    assert holds_secrets("/p/.env")
    assert holds_secrets("/p/.git/config")
    assert not holds_secrets("/p/.git/HEAD")
    assert not holds_secrets("/p/.github/workflows/ci.yml")
    assert not holds_secrets("/p/.env.example")


@pytest.mark.parametrize(
    "pattern",
    [".env*", ".e*", ".en?", ".[e]nv", "*.pem", "id_*", "**/.env.*", ".ss[h]/x", "[i][d]_[r][s][a]"],
)
def test_globs_that_may_match_sensitive_files_are_recognised(pattern: str) -> None:
    assert glob_may_match_sensitive(pattern)


@pytest.mark.parametrize("pattern", ["*", "**/*", "*.py", "test_*", "*.json", ".github*", "src/*/x", "[ab]*"])
def test_other_globs_do_not_match_sensitive_files(pattern: str) -> None:
    assert not glob_may_match_sensitive(pattern)


@pytest.mark.parametrize(
    "path",
    [
        "/p/main.py",
        "/p/environment.py",
        "/p/.environment",
        "/p/.env.example",
        "/p/.env.sample",
        "/p/.env.production.template",
        "/p/.env/lib/python3/site.py",  # a virtual environment of that name
        "/p/.gitignore",
        "/p/config",
        "/p/src/config/config",
        "/p/keys.py",
        "/p/id_rsa.pub",
        "/p/.ssh-notes/file",
    ],
)
def test_ordinary_files_are_not_sensitive(path: str) -> None:
    assert sensitive_reason(path) is None


def test_the_reason_why_a_file_is_sensitive() -> None:
    assert sensitive_reason("/p/.git/config") == "configures git and can name programs that git runs"
    assert sensitive_reason("/home/u/.aws/credentials") == "may contain cloud credentials"


def test_files_of_acp_tui_are_sensitive(home: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(home)
    for directory in (paths().config, paths().data, paths().state):
        assert sensitive_reason(directory / "some" / "file") == "belongs to acp-tui itself"
        assert sensitive_reason(directory) == "belongs to acp-tui itself"
    assert sensitive_reason(home.with_name("acp-tui-homely") / "file") is None


def test_files_of_a_worktree_are_those_of_a_project() -> None:
    worktree = paths().data / "worktrees" / "shop-1" / "topic"
    assert sensitive_reason(worktree) is None
    assert sensitive_reason(worktree / "src" / "app.py") is None
    assert sensitive_reason(worktree / ".env") == "may contain passwords and keys"
    for path in (worktree.parent, worktree / ".." / ".." / ".." / "sessions" / "one" / "wire.jsonl"):
        assert sensitive_reason(path) == "belongs to acp-tui itself"


def test_files_of_acp_tui_behind_a_link_are_sensitive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setenv("ACP_TUI_HOME", str(tmp_path / "link"))
    assert sensitive_reason((tmp_path / "real").resolve() / "config" / "config.toml")


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.csv", "/p/data/Customers.CSV", True),
        ("*.csv", "/p/data.csv/file", False),
        ("fixtures/private/*", "/p/fixtures/private/deep/file", True),
        ("fixtures/private/*", "/p/fixtures/public/file", False),
        ("/srv/vault/*", "/srv/vault/x", True),
        ("/srv/vault/*", "/p/srv/vault/x", False),
        ("~/diary.txt", str(Path.home() / "diary.txt"), True),
        ("~/diary.txt", "/elsewhere/diary.txt", False),
        ("~$*", "/p/~$letter.docx", True),
        ("~$*", "/p/letter.docx", False),
        (".env.example", "/p/.env.example", True),
    ],
)
def test_user_patterns_match_a_name_or_the_end_of_a_path(pattern: str, path: str, expected: bool) -> None:
    assert bool(sensitive_reason(path, [pattern])) is expected


def test_the_reason_names_the_matching_user_pattern() -> None:
    assert sensitive_reason("/p/a.csv", ["*.csv"]) == "matches '*.csv' in workspace.sensitive"


@pytest.mark.parametrize(
    "path",
    [
        *("/p/Makefile", "/p/sub/makefile", "/p/GNUmakefile", "/p/conftest.py", "/p/tests/conftest.py"),
        *("/home/u/.local/bin/ls", "/p/crontab", "/home/u/.bash_history", "/home/u/.zsh_history"),
        *("/home/u/.local/share/fish/fish_history", "/home/u/.python_history"),
    ],
)
def test_files_that_builds_and_tests_run_and_histories_are_sensitive(path: str) -> None:
    assert sensitive_reason(path)


@pytest.mark.parametrize("path", ["/p/Makefile.am", "/p/conftest.txt", "/p/local/bin/x", "/p/history.py"])
def test_files_with_similar_names_are_not_sensitive(path: str) -> None:
    assert sensitive_reason(path) is None


def test_a_makefile_is_sensitive_only_if_it_is_written() -> None:
    makefile, secrets = sensitive_reason("/p/Makefile"), sensitive_reason("/p/.env")
    assert reason_for_reading(makefile) is None
    assert reason_for_reading(makefile, secrets) == secrets  # a link to `.env`
    assert strongest_reason(None, makefile) == makefile
    assert reason_for_reading(sensitive_reason("/p/.bashrc"))
