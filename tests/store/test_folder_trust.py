"""Which folders are trusted is remembered in one file, and older files are still read."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING

import pytest

from acp_tui.store.folder_trust import FolderTrust, ServerConsent, TrustedFolder

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_is_decided_at_first(tmp_path: Path) -> None:
    assert FolderTrust(tmp_path).folder(tmp_path) == TrustedFolder()


def test_answers_are_remembered_for_the_real_path(tmp_path: Path) -> None:
    folder, link = tmp_path / "real", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    store = FolderTrust(tmp_path / "state")
    store.trust(link, trusted=True)
    store.allow_agent(link, "helper")
    store.decide_server(link, "x", ServerConsent("digest", allowed=False))
    assert FolderTrust(tmp_path / "state").folder(folder) == TrustedFolder(
        True, "helper", {"x": ServerConsent("digest", allowed=False)}
    )
    assert (tmp_path / "state" / "trusted-folders.json").stat().st_mode & 0o777 == 0o600


def test_the_first_version_of_the_file_allows_its_agents_and_nothing_else(tmp_path: Path) -> None:
    content = {"version": 1, "agents": {str(tmp_path): "helper"}}
    (tmp_path / "trusted-folders.json").write_text(json.dumps(content))
    store = FolderTrust(tmp_path)
    assert store.folder(tmp_path) == TrustedFolder(None, "helper")
    store.trust(tmp_path, trusted=False)
    assert store.folder(tmp_path) == TrustedFolder(False, "helper")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "[" * 100_000,
        '{"folders": []}',
        '{"folders": {"/x": 1}}',
        '{"version": 2, "folders": {"/x": {"trusted": "yes", "agent": 1, "servers": {"a": true}}}}',
    ],
)
def test_a_damaged_file_trusts_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "trusted-folders.json").write_text(content)
    assert FolderTrust(tmp_path).folder(tmp_path / "x") == TrustedFolder()
    assert all(folder == TrustedFolder() for folder in FolderTrust(tmp_path).folders().values())


def test_a_folder_can_be_forgotten(tmp_path: Path) -> None:
    store = FolderTrust(tmp_path / "state")
    store.trust(tmp_path, trusted=True)
    assert store.forget(tmp_path)
    assert not store.forget(tmp_path)
    assert store.folders() == {}


def test_a_folder_is_forgotten_under_its_link_and_its_real_path(tmp_path: Path) -> None:
    store = FolderTrust(tmp_path / "state")
    link = tmp_path / "link"
    link.mkdir()
    store.trust(link, trusted=True)
    link.rmdir()
    link.symlink_to(tmp_path)
    store.trust(tmp_path, trusted=True)
    assert store.forget(link)
    assert store.folders() == {}


@pytest.mark.parametrize("content", ["", "[]"])
def test_a_damaged_file_is_kept_under_another_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "trusted-folders.json").write_text(content)
    FolderTrust(tmp_path).trust(tmp_path, trusted=True)
    (aside,) = tmp_path.glob("trusted-folders.json.corrupt-*")
    assert aside.read_text() == content
    assert FolderTrust(tmp_path).folder(tmp_path).trusted


def test_answers_that_cannot_be_read_are_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderTrust(tmp_path)
    store.trust(tmp_path / "a", trusted=False)

    def fail(*_: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", fail)
        with pytest.raises(OSError, match="Too many open files"):
            store.trust(tmp_path / "b", trusted=True)
    assert store.folder(tmp_path / "a").trusted is False


def test_the_answers_of_a_newer_version_are_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "trusted-folders.json"
    file.write_text('{"version": 3, "folders": {"/x": {"trusted": false, "new": 1}}}')
    with pytest.raises(OSError, match="newer version"):
        FolderTrust(tmp_path).forget(tmp_path)
    assert '"new": 1' in file.read_text()
