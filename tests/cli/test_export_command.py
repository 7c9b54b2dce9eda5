"""`acp-tui export`: the session, the format and the output file."""

from __future__ import annotations

import json
import resource
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.cli import main
from acp_tui.config.paths import paths
from acp_tui.store.session_folder import SessionFolder, create_session_folder
from tests.support.recordings import WIRELOGS, records

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = next(path for path in WIRELOGS if path.stem == "claude-code-edit")


@pytest.fixture
def folder() -> SessionFolder:
    recorded = create_session_folder(
        paths().data, agent="demo", title="Demo agent", cwd="/p", command=["demo"]
    )
    for record in records(RECORDED):
        recorded.log.append(record.at, record.direction, record.frame)
    recorded.close()
    return recorded


def test_a_session_is_found_by_id_folder_or_file(
    folder: SessionFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    for session in (folder.id, folder.id[:-3], str(folder.path), str(folder.path / "wire.jsonl")):
        assert main(["export", session]) == 0
        out = capsys.readouterr().out
        assert "**Agent:** Demo agent" in out
        assert f"**Session:** {folder.id}" in out
        assert "I wrote the file." in out


def test_recordings_of_other_tools_are_exported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(RECORDED), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["session"]["cwd"] == "/ws/project"


@pytest.mark.parametrize(
    ("name", "start"), [("a.md", "# "), ("a.html", "<!DOCTYPE html>"), ("a.JSON", '{\n "format": 1')]
)
def test_the_format_follows_the_suffix_of_the_file(
    name: str, start: str, tmp_path: Path, folder: SessionFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    assert main(["export", folder.id, "-o", str(file)]) == 0
    assert file.read_text().startswith(start)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert capsys.readouterr().out == ""


def test_a_format_option_overrides_the_suffix(tmp_path: Path, folder: SessionFolder) -> None:
    file = tmp_path / "a.txt"
    assert main(["export", folder.id, "--html", "--theme", "light", "-o", str(file)]) == 0
    assert "color-scheme:light" in file.read_text()


def test_html_uses_the_theme_of_the_settings(
    home: Path, folder: SessionFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config").mkdir(parents=True)
    config = home / "config" / "config.toml"
    config.write_text('theme = "light"\n')
    assert main(["export", folder.id, "--html"]) == 0
    assert "color-scheme:light" in capsys.readouterr().out
    assert main(["export", folder.id, "--html", "--theme", "nord"]) == 0
    assert "color-scheme:dark" in capsys.readouterr().out
    config.write_text('theme = "gone"\n')
    assert main(["export", folder.id, "--html"]) == 0
    shown = capsys.readouterr()
    assert "color-scheme:dark" in shown.out
    assert 'No theme "gone"; using "dark" instead.' in shown.err


@pytest.mark.parametrize("name", ["wire.jsonl", "meta.json", "new.md"])
def test_a_recording_is_never_overwritten(
    name: str, folder: SessionFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert folder.path is not None
    before = (folder.path / "wire.jsonl").read_bytes()
    assert main(["export", folder.id, "--md", "-o", str(folder.path / name)]) == 2
    assert "belongs to a recorded session" in capsys.readouterr().err
    assert (folder.path / "wire.jsonl").read_bytes() == before
    assert not (folder.path / "new.md").exists()


def test_an_unknown_suffix_needs_a_format_option(
    folder: SessionFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", folder.id, "-o", str(tmp_path / "a.txt")]) == 2
    assert "--md, --html, --json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing"], 'There is no session "nothing"'),
        ([str(RECORDED), "--html", "--theme", "none"], 'No theme "none"'),
        ([str(RECORDED), "-o", "/dev/null/x.md"], "Cannot write /dev/null/x.md"),
    ],
)
def test_errors_are_reported_in_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *words]) in (1, 2)
    assert sentence in capsys.readouterr().err


def test_contents_of_sensitive_files_are_left_out(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text('[workspace]\nsensitive = ["*.vault"]\n')
    content = [{"type": "diff", "path": f"/p/a.{kind}", "newText": f"the {kind}"} for kind in ("vault", "md")]
    update = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Write", "content": content}
    params = {"sessionId": "s", "update": update}
    frame = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    log = tmp_path / "recorded.jsonl"
    log.write_text(json.dumps({"t": 1, "dir": "received", "frame": frame}) + "\n")
    assert main(["export", str(log)]) == 0
    out = capsys.readouterr().out
    assert "the md" in out
    assert "the vault" not in out


def test_a_full_disk_leaves_the_old_export_unchanged(tmp_path: Path, folder: SessionFolder) -> None:
    file = tmp_path / "talk.html"
    file.write_text("the old export")
    command = [sys.executable, "-m", "acp_tui", "export", folder.id, "-o", str(file)]

    def limit_file_size() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run(command, preexec_fn=limit_file_size, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr == f"acp-tui: Cannot write {file}: File too large.\n"
    assert file.read_text() == "the old export"
    assert [path.name for path in tmp_path.glob("*talk*")] == ["talk.html"]


def test_an_export_keeps_the_mode_of_the_file_it_replaces(tmp_path: Path, folder: SessionFolder) -> None:
    file = tmp_path / "talk.md"
    file.touch(mode=0o644)
    assert main(["export", folder.id, "-o", str(file)]) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_an_export_can_go_to_a_device(folder: SessionFolder) -> None:
    assert main(["export", folder.id, "--md", "-o", "/dev/null"]) == 0
