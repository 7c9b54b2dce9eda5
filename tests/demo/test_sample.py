"""The sample project of the demo agent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from acp_tui.demo.sample_project import BUG, FIX, is_sample, make_project

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_the_projects_tests_fail_until_the_bug_is_fixed(sample: Path) -> None:
    broken = _run(sample, "-m", "unittest")
    assert broken.returncode == 1
    assert "FAILED (failures=2)" in broken.stderr
    module = sample / "basket.py"
    module.write_text(module.read_text().replace(BUG, FIX))
    fixed = _run(sample, "-m", "unittest")
    assert fixed.returncode == 0
    assert "Ran 7 tests" in fixed.stderr


def test_the_projects_checker_prints_results_in_colour(sample: Path) -> None:
    checked = _run(sample, "check.py")
    assert checked.returncode == 1
    assert "\x1b[31m✘\x1b[0m test_the_discount_is_in_percent" in checked.stdout
    assert "2 of 7 failed" in checked.stdout


def test_each_call_creates_a_new_copy(sample: Path) -> None:
    (sample / "basket.py").unlink()
    other = make_project()
    assert other != sample
    assert other.is_absolute()
    assert (other / "basket.py").exists()


def test_the_repository_does_not_depend_on_git_settings(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # These settings would make every commit fail, or go to another repository.
    config = tmp_path / "gitconfig"
    config.write_text("[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /nonexistent\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    project = make_project()
    monkeypatch.delenv("GIT_DIR")
    git = shutil.which("git")
    assert git is not None
    log = subprocess.run(
        [git, "log", "--format=%an %s"], cwd=project, check=True, capture_output=True, text=True
    )
    assert log.stdout == "acp-tui demo A basket with a bug\n"
    status = subprocess.run([git, "status", "--porcelain"], cwd=project, check=True, capture_output=True)
    assert status.stdout == b""
    assert not (tmp_path / "elsewhere").exists()


def test_without_git_the_project_has_no_repository(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    project = make_project()
    assert is_sample(project)
    assert not (project / ".git").exists()


def test_old_unused_copies_are_removed(home: Path) -> None:
    old, recent = make_project(), make_project()
    for entry in (old.parent, *old.parent.rglob("*")):
        os.utime(entry, (0, 0), follow_symlinks=False)
    for entry in (recent.parent, recent):
        os.utime(entry, (0, 0))  # its files are recent
    make_project()
    assert not old.parent.exists()
    assert recent.exists()


def test_other_folders_are_not_mistaken_for_the_sample(tmp_path: Path, sample: Path) -> None:
    assert is_sample(sample)
    assert not is_sample(tmp_path)
    (tmp_path / "basket.py").write_text("print('a basket of my own')\n")
    assert not is_sample(tmp_path)
    renamed = sample.rename(sample.with_name("mine"))
    assert not is_sample(renamed)


def test_creating_the_project_does_not_load_the_sdk() -> None:
    script = (
        "import sys, acp_tui.demo.sample_project; sys.exit('acp' in sys.modules or 'pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
