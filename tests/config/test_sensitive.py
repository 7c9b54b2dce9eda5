from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.config.paths import paths
from acp_tui.config.sensitive import sensitive


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
def test_files_that_hold_secrets_or_steer_programs_are_sensitive(path: str) -> None:
    assert sensitive(path)
    assert sensitive(Path(path))


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
        "/p/.github/workflows/ci.yml",
        "/p/.git/hooks/pre-commit.sample",
        "/p/.git/HEAD",
        "/p/config",
        "/p/src/config/config",
        "/p/keys.py",
        "/p/id_rsa.pub",
        "/p/.ssh-notes/file",
    ],
)
def test_other_files_are_not(path: str) -> None:
    assert sensitive(path) is None


def test_it_says_why_in_words() -> None:
    assert sensitive("/p/.git/config") == "steers git, which may run programs named in it"
    assert sensitive("/home/u/.aws/credentials") == "may hold credentials of a cloud"


def test_our_own_files_are_sensitive_wherever_they_are(home: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(home)
    for directory in (paths().config, paths().data, paths().state):
        assert sensitive(directory / "some" / "file") == "belongs to acp-tui itself"
        assert sensitive(directory) == "belongs to acp-tui itself"
    assert sensitive(home.with_name("acp-tui-homely") / "file") is None


def test_our_own_files_are_recognised_by_their_real_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setenv("ACP_TUI_HOME", str(tmp_path / "link"))
    assert sensitive((tmp_path / "real").resolve() / "config" / "config.toml")


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
        (".env.example", "/p/.env.example", True),
    ],
)
def test_the_users_patterns_are_about_a_name_or_the_end_of_a_path(
    pattern: str, path: str, expected: bool
) -> None:
    assert bool(sensitive(path, [pattern])) is expected


def test_a_pattern_of_the_user_is_named() -> None:
    assert sensitive("/p/a.csv", ["*.csv"]) == "matches '*.csv' of the sensitive files in your settings"
