"""The question whether to keep, merge or discard a worktree, and the question that confirms discarding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from acp_tui.console.quantities import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acp_tui.workspace.git.worktrees.unmerged_work import WorktreeStatus
    from acp_tui.workspace.git.worktrees.worktree import Worktree

    Action = Literal["keep", "fast-forward", "squash", "discard"]

MAX_NAMES = 200
"""The maximum number of commits or files that one list names."""


@dataclass(frozen=True, slots=True)
class FinishAnswer:
    """An answer that the user can choose, and the resulting action."""

    label: str
    action: Action
    grants: bool = False  # accepted only after the whole text was on the screen


@dataclass(frozen=True, slots=True)
class FinishQuestion:
    """What the dialog shows: a question about a worktree, and the answers. Implements `GuardedQuestion`."""

    title: str
    text: str
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    answers: tuple[FinishAnswer, ...]
    position: tuple[int, int] = (1, 1)
    main_fact: str = ""
    close_label: str = "back"


def finish_question(
    worktree: Worktree,
    status: WorktreeStatus,
    *,
    problem: str = "",
    git_output: Sequence[str] = (),
    is_open: bool = True,
) -> FinishQuestion:
    """Return the question whether to keep, merge or discard a worktree.

    Args:
        worktree: The worktree.
        status: Its status.
        problem: Why the last merge failed.
        git_output: The lines that git and its hooks printed then.
        is_open: Whether a conversation is open in the worktree, which ends with it.
    """
    warnings = [text for text in (problem, status.obstacle) if text]
    if status.behind and not status.obstacle:
        newer = pluralize(status.behind, "new commit")
        warnings.append(f"{worktree.target} has {newer}. The merge adds one commit on top of it.")
    facts = [
        *_labelled("git says", git_output),
        ("worktree", str(worktree.path)),
        ("branch", worktree.branch),
    ]
    return FinishQuestion(
        title="What should happen to the worktree?",
        text=_consequences(worktree, status, is_open=is_open),
        facts=(*facts, *_contents(status)),
        warnings=tuple(warnings),
        answers=(*_answers(worktree, status, is_open=is_open),),
        close_label="back to the conversation" if is_open else "back",
    )


def discard_question(worktree: Worktree, status: WorktreeStatus) -> FinishQuestion:
    """Return the question that confirms the deletion of everything in a worktree."""
    return FinishQuestion(
        title="Discard the worktree?",
        text=f"This deletes the branch {worktree.branch} and everything listed here. It cannot be undone.",
        facts=(*_contents(status),),
        warnings=(),
        answers=(
            FinishAnswer("Do not discard anything", "keep"),
            FinishAnswer(f"Discard {_summary(status)}", "discard", grants=True),
        ),
    )


def _contents(status: WorktreeStatus) -> Iterator[tuple[str, str]]:
    """Yield labels and values for the commits and files that are only in the worktree."""
    yield from _list("commits", status.commits)
    yield from _list("changed", status.changed)
    yield from _list("untracked", status.untracked)
    yield from _list("ignored", status.ignored)


def committed_files(status: WorktreeStatus) -> list[str]:
    """Return the names of the files that are committed before a merge."""
    return [*status.changed, *status.untracked]


def _consequences(worktree: Worktree, status: WorktreeStatus, *, is_open: bool) -> str:
    if not status.is_mergeable:
        ends = "ends the conversation" if is_open else "deletes its branch as well"
        return f"Discarding the worktree {ends}."
    ends = "ends the conversation and removes" if is_open else "removes"
    return (
        f"A merge updates {worktree.target} and the files in the folder where that branch is checked out. "
        f"Merging or discarding {ends} the worktree."
    )


def _answers(worktree: Worktree, status: WorktreeStatus, *, is_open: bool) -> Iterator[FinishAnswer]:
    yield FinishAnswer(f"Keep the worktree{', and resume the session later' if is_open else ''}", "keep")
    if status.is_mergeable:
        target, commits = worktree.target, len(status.commits)
        files = pluralize(len(committed_files(status)), "file")
        if not status.behind:
            how = f"fast-forward by {pluralize(commits + status.is_dirty, 'commit')}"
            if status.is_dirty:
                how = f"commit {files}, then {how}" if commits else f"commit {files}"
            yield FinishAnswer(f"Merge into {target}: {how}", "fast-forward")
        if status.behind or commits:
            yield FinishAnswer(f"Merge into {target} as one commit", "squash")
    yield FinishAnswer("Discard the worktree …", "discard")


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


def _summary(status: WorktreeStatus) -> str:
    """Return what is only in the worktree, such as "2 commits and 3 files". `status` must have changes."""
    files = len(status.changed) + len(status.untracked)
    parts = [pluralize(len(status.commits), "commit")] if status.commits else []
    parts += [pluralize(files, "file")] if files else []
    parts += ["the ignored files"] if status.ignored else []
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
