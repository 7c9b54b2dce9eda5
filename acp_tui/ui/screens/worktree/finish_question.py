"""The questions what becomes of a worktree, and whether it may be discarded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.workspace.git.worktrees.status import WorktreeStatus
    from acp_tui.workspace.git.worktrees.worktree import Worktree

    Action = Literal["keep", "fast-forward", "squash", "discard"]

MAX_NAMES = 200
"""The maximum number of names in one list."""


@dataclass(frozen=True, slots=True)
class FinishAnswer:
    """An answer, and what to do then."""

    label: str
    action: Action
    grants: bool = False


@dataclass(frozen=True, slots=True)
class FinishQuestion:
    """What the dialog shows. Implements `GuardedQuestion`."""

    title: str
    text: str
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    answers: tuple[FinishAnswer, ...]
    position: tuple[int, int] = (1, 1)
    main_fact: str = ""
    close_label: str = "back to the conversation"


def finish_question(
    worktree: Worktree, status: WorktreeStatus, *, problem: str = "", said: Sequence[str] = ()
) -> FinishQuestion:
    """Return the question what becomes of a worktree.

    `problem` is why the last answer failed, and `said` is what git and its hooks said then.
    """
    warnings = [text for text in (problem, status.obstacle) if text]
    if status.behind and not status.obstacle:
        newer = count(status.behind, "new commit")
        warnings.append(f"{worktree.target} has {newer}, so it cannot be fast-forwarded")
    facts = [*_labelled("git says", said), ("worktree", str(worktree.path)), ("branch", worktree.branch)]
    return FinishQuestion(
        title="What should become of the worktree?",
        text=_consequences(worktree, status),
        facts=(*facts, *losses(status)),
        warnings=tuple(warnings),
        answers=(*_answers(worktree, status),),
    )


def discard_question(worktree: Worktree, status: WorktreeStatus) -> FinishQuestion:
    """Return the question whether everything in a worktree may be deleted."""
    return FinishQuestion(
        title="Discard the worktree?",
        text=f"The branch {worktree.branch} and these files are deleted. You cannot undo this.",
        facts=(*losses(status),),
        warnings=(),
        answers=(
            FinishAnswer("Do not discard anything", "keep"),
            FinishAnswer(f"Discard {_sum(status)}", "discard", grants=True),
        ),
        close_label="back",
    )


def losses(status: WorktreeStatus) -> Iterator[tuple[str, str]]:
    """Yield labels and values that say what is only in the worktree."""
    yield from _list("commits", status.commits)
    yield from _list("changed", status.changed)
    yield from _list("untracked", status.untracked)
    yield from _list("ignored", status.ignored)


def committed_files(status: WorktreeStatus) -> list[str]:
    """Return the names of the files that a merge commits first."""
    return [*status.changed, *status.untracked]


def count(number: int, noun: str) -> str:
    """Return a number with its noun, such as "2 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _consequences(worktree: Worktree, status: WorktreeStatus) -> str:
    if not status.is_mergeable:
        return "The conversation ends if you discard it."
    return (
        f"A merge updates {worktree.target}, also where it is checked out. "
        "The conversation ends if you merge or discard the worktree, which is then removed."
    )


def _answers(worktree: Worktree, status: WorktreeStatus) -> Iterator[FinishAnswer]:
    yield FinishAnswer("Keep it, and resume the session later", "keep")
    if status.is_mergeable:
        target, commits = worktree.target, len(status.commits)
        files = count(len(committed_files(status)), "file")
        if not status.behind:
            how = f"fast-forward by {count(commits + status.is_dirty, 'commit')}"
            if status.is_dirty:
                how = f"commit {files}, then {how}" if commits else f"commit {files}"
            yield FinishAnswer(f"Merge into {target}: {how}", "fast-forward")
        if status.behind or commits:
            yield FinishAnswer(f"Merge into {target} as one commit", "squash")
    yield FinishAnswer("Discard it …", "discard")


def _list(label: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    shown = names[:MAX_NAMES]
    more = [f"… and {len(names) - MAX_NAMES:,} more"] if len(names) > MAX_NAMES else []
    if names:
        yield label, f"{len(names):,}"
        yield from (("", name) for name in (*shown, *more))


def _labelled(label: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        yield label, line
        label = ""


def _sum(status: WorktreeStatus) -> str:
    """Return what would be lost in a few words: "2 commits and 3 files". There is something."""
    files = len(status.changed) + len(status.untracked)
    parts = [count(len(status.commits), "commit")] if status.commits else []
    parts += [count(files, "file")] if files else []
    parts += ["the ignored files"] if status.ignored else []
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
