"""How long the copies for reverting and rewinding take in a large repository.

    python -m tests.benchmarks.large_tree

The repository has 100,000 tracked files. The goals are 1 s for the baseline and 0.5 s for the checkpoint of a
turn that changed ten files.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from time import perf_counter

from tests.workspace.projects import git, repository, taken

FILES = 100_000


async def measure(folder: Path) -> None:
    """Print the times of a baseline and of three checkpoints."""
    files = {f"part{number // 100}/file{number}.py": f"number = {number}\n" for number in range(FILES)}
    project = repository(folder / "project", files)
    git(project, "repack", "-a", "-d", "--quiet")
    git(project, "update-index", "--refresh")  # as the user's next command would: the files are older than it
    start = perf_counter()
    baseline = await taken(project)
    print(f"baseline: {perf_counter() - start:.2f} s, {baseline.totals.files:,} files")
    for turn in range(3):
        for number in range(10):
            (project / f"part{number}/file{number * 100}.py").write_text(f"turn = {turn}\n", encoding="utf-8")
        start = perf_counter()
        checkpoint = await baseline.checkpoint()
        print(f"checkpoint: {perf_counter() - start:.2f} s, {len(checkpoint.files)} changed files")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder)))


if __name__ == "__main__":
    main()
