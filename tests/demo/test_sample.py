"""The sample project that the demo works in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from acp_tui.demo.sample import is_sample, make_project
from acp_tui.demo.sample_files import BUG, FIX

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


def test_its_tests_fail_until_the_bug_is_repaired(sample: Path) -> None:
    broken = _run(sample, "-m", "unittest")
    assert broken.returncode == 1
    assert "FAILED (failures=2)" in broken.stderr
    module = sample / "basket.py"
    module.write_text(module.read_text().replace(BUG, FIX))
    repaired = _run(sample, "-m", "unittest")
    assert repaired.returncode == 0
    assert "Ran 7 tests" in repaired.stderr


def test_its_checker_says_the_same_in_colour(sample: Path) -> None:
    checked = _run(sample, "check.py")
    assert checked.returncode == 1
    assert "\x1b[31m✘\x1b[0m test_the_discount_is_in_percent" in checked.stdout
    assert "2 of 7 failed" in checked.stdout


def test_each_is_a_copy_of_its_own(sample: Path) -> None:
    (sample / "basket.py").unlink()
    other = make_project()
    assert other != sample
    assert other.is_absolute()
    assert (other / "basket.py").exists()


def test_it_is_a_clean_repository_without_any_configuration(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neither a configuration that makes every commit fail nor a repository around us may matter.
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


def test_it_is_made_without_git_too(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    project = make_project()
    assert is_sample(project)
    assert not (project / ".git").exists()


def test_copies_nobody_touched_for_long_go_away(home: Path) -> None:
    old, recent = make_project(), make_project()
    for entry in (old.parent, *old.parent.rglob("*")):
        os.utime(entry, (0, 0), follow_symlinks=False)
    for entry in (recent.parent, recent):
        os.utime(entry, (0, 0))  # files in it were touched later
    make_project()
    assert not old.parent.exists()
    assert recent.exists()


def test_another_folder_is_not_taken_for_it(tmp_path: Path, sample: Path) -> None:
    assert is_sample(sample)
    assert not is_sample(tmp_path)
    (tmp_path / "basket.py").write_text("print('a basket of my own')\n")
    assert not is_sample(tmp_path)
    renamed = sample.rename(sample.with_name("mine"))
    assert not is_sample(renamed)


def test_the_client_can_make_one_without_loading_the_sdk() -> None:
    script = (
        "import sys; import acp_tui.demo.sample; sys.exit('acp' in sys.modules or 'pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
