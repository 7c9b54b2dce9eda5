"""Full disks and crashes during a write: the old content stays, and no temporary file is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acp_tui.errors import Refusal
from acp_tui.workspace.files.file_access import FileAccess
from acp_tui.workspace.files.open_folder import Roots

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE_LIMITED = """
import resource, sys
from pathlib import Path
from acp_tui.errors import Refusal
from acp_tui.workspace.files.file_access import FileAccess
from acp_tui.workspace.files.open_folder import Roots

path = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
with FileAccess(Roots(path.parent)).prepare_writing(str(path)) as writing:
    try:
        writing.write("x" * 1_000_000)
    except Refusal as refusal:
        print(refusal.code, refusal.message)
"""

KILLED = """
import os, sys, time
from pathlib import Path
from acp_tui.workspace.files.file_access import FileAccess
from acp_tui.workspace.files.open_folder import Roots

def hang(*_, **__):
    print("reached", flush=True)
    time.sleep(600)

setattr(os, sys.argv[2], hang)
path = Path(sys.argv[1])
with FileAccess(Roots(path.parent)).prepare_writing(str(path)) as writing:
    writing.write("new" * 100_000)
"""

KILLED_REVERT = """
import os, sys, time
from pathlib import Path
from acp_tui.workspace.baseline.file_change import FileContent
from acp_tui.workspace.baseline.restore import replace_if_unchanged

real = getattr(os, sys.argv[2])

def hang(*words, **more):
    if sys.argv[3] == "after":
        real(*words, **more)
    print("reached", flush=True)
    time.sleep(600)

setattr(os, sys.argv[2], hang)
path = Path(sys.argv[1])
now = FileContent(b"agent", path.stat().st_mode)
replace_if_unchanged(path, FileContent(b"original" * 100_000, now.mode), now, 5_000_000)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 256 KiB and return its folder."""
    folder = tmp_path.resolve() / "disk"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux may mount a small disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting is not permitted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_full_disk_keeps_the_old_content(small_disk: Path) -> None:
    (small_disk / "file").write_text("old")
    files = FileAccess(Roots(small_disk))
    with files.prepare_writing(str(small_disk / "file")) as writing:
        with pytest.raises(Refusal) as refused:
            writing.write("x" * 1_000_000)
        assert refused.value.message == (
            f"{small_disk / 'file'} cannot be written: the disk is full; nothing was changed"
        )
        assert refused.value.code == -32603
        assert (small_disk / "file").read_text() == "old"
        assert names(small_disk) == ["file"]
        writing.write("fits again")
    assert (small_disk / "file").read_text() == "fits again"


def test_exceeding_the_file_size_limit_keeps_the_old_content(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "file"
    path.write_text("old")
    before = names(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", SIZE_LIMITED, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        f"-32603 {path} cannot be written: it would exceed the file size limit; nothing was changed\n"
    )
    assert path.read_text() == "old"
    assert names(tmp_path) == before


@pytest.mark.parametrize("moment", ["fchmod", "fsync", "rename"])
def test_a_crash_during_a_write_keeps_the_old_content(tmp_path: Path, moment: str) -> None:
    path = tmp_path.resolve() / "file"
    path.write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), moment], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "reached\n"
        child.kill()
    assert child.returncode == -signal.SIGKILL
    assert path.read_text() == "old"


@pytest.mark.parametrize("moment", ["fchmod", "fsync", "rename"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_during_a_revert_leaves_the_old_or_the_new_content(
    tmp_path: Path, moment: str, when: str
) -> None:
    path = tmp_path.resolve() / "file"
    path.write_text("agent")
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_REVERT, str(path), moment, when], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "reached\n"
        child.kill()
    assert child.returncode == -signal.SIGKILL
    done = (moment, when) == ("rename", "after")
    assert path.read_text() == ("original" * 100_000 if done else "agent")


def can_make_unnamed_files(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except (AttributeError, OSError):
        return False
    return True


@pytest.mark.parametrize("moment", ["fchmod", "fsync"])
def test_a_crash_during_a_write_leaves_no_temporary_file(tmp_path: Path, moment: str) -> None:
    if not can_make_unnamed_files(tmp_path):
        pytest.skip("this file system does not support O_TMPFILE")
    path = tmp_path.resolve() / "file"
    path.write_text("old")
    before = names(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), moment], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "reached\n"
        child.kill()
    assert names(tmp_path) == before


def test_files_are_written_without_o_tmpfile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS and some file systems do not support O_TMPFILE."""
    from acp_tui.workspace.files import atomic_write

    monkeypatch.setattr(atomic_write, "_O_TMPFILE", 0)
    path = tmp_path.resolve() / "sub" / "file"
    for content in ("first", "second"):
        with FileAccess(Roots(tmp_path)).prepare_writing(str(path)) as writing:
            writing.write(content)
        assert path.read_text() == content
        assert names(path.parent) == ["file"]
