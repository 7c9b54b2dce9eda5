"""The questions about a worktree when its conversation is closed: keep it, merge it, or discard it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from textual.widgets import Static

from acp_tui.console import pluralize
from acp_tui.errors import UserError
from acp_tui.guarded_question import GuardedAnswer, GuardedQuestion
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import BoxDialog
from acp_tui.ui.schema_form.editors import TextEditor

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.dialogs.base_screen import BaseScreen
    from acp_tui.ui.widgets.bar import Hint
    from acp_tui.workspace.git.worktree import Worktree
    from acp_tui.workspace.git.worktree_finishing import WorktreeStatus


if TYPE_CHECKING:
    Action = Literal["keep", "fast-forward", "squash", "discard"]
MAX_LISTED = 6
"""The maximum number of files that the dialog for the commit message names."""
MAX_OUTPUT_LINES = 100
"""The maximum number of lines that are shown of the output of git and its hooks."""
MAX_NAMES = 200
"""The maximum number of commits or files that one list names."""


class FinishDecision(NamedTuple):
    """What the user chose to do with a worktree, and what has been done."""

    to_remove: WorktreeStatus | None  # remove the worktree if it still has this status; None: keep it
    merged: str = ""  # says what was merged


class FinishDialogs:
    """The dialogs that ask whether to keep, merge or discard a worktree. A merge is done at once."""

    def __init__(
        self, screen: BaseScreen, worktree: Worktree, *, proposal: str = "", is_open: bool = True
    ) -> None:
        """Create the dialogs.

        Args:
            screen: The screen below the dialogs.
            worktree: The worktree.
            proposal: The commit message that is proposed.
            is_open: Whether a conversation is open in the worktree, which ends with it.
        """
        self._screen = screen
        self._worktree = worktree
        self._proposal = proposal
        self._is_open = is_open

    async def ask(self, status: WorktreeStatus) -> FinishDecision | None:
        """Ask until the user decides. Return None if the user closes the dialog. Raises `UserError`.

        A worktree that is unchanged is to be removed without a question.
        """
        from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen

        problem, output = "", list[str]()
        while not status.is_unchanged:
            question = finish_question(
                self._worktree, status, problem=problem, git_output=output, is_open=self._is_open
            )
            index = await self._screen.ask(GuardedQuestionScreen(question))
            problem, output = "", []
            if index is None:
                return None
            action = question.answers[index].action
            if action == "keep":
                return FinishDecision(None)
            if action == "discard":
                if await self.confirm_discard(status):
                    return FinishDecision(status)
                continue
            try:
                if merged := await self._merge(status, action):
                    return FinishDecision(await asyncio.to_thread(current_status, self._worktree), merged)
            except UserError as error:
                problem, output = str(error), _output_lines(error)
                status = await asyncio.to_thread(current_status, self._worktree)
        return FinishDecision(status)

    async def confirm_discard(self, status: WorktreeStatus) -> bool:
        """Ask whether to delete everything in the worktree, which must not be unchanged."""
        from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen

        question = discard_question(self._worktree, status)
        index = await self._screen.ask(GuardedQuestionScreen(question))
        return index is not None and question.answers[index].action == "discard"

    async def _merge(self, status: WorktreeStatus, action: Action) -> str:
        """Ask for the commit message, if there is a commit to make, and merge.

        Return a sentence that says what was merged; an empty string if the user cancelled.
        """
        from acp_tui.workspace.git.worktree_finishing import MergePlan, merge_worktree

        message = ""
        if status.is_dirty or action == "squash":
            answer = await self._ask_message(status, action)
            if answer is None:
                return ""
            message = answer
        self._screen.notify(f"Merging into {self._worktree.target} …", timeout=3, markup=False)
        plan = MergePlan(squash=action == "squash", message=message)
        return await asyncio.to_thread(merge_worktree, self._worktree, plan, status)

    async def _ask_message(self, status: WorktreeStatus, action: Action) -> str | None:

        title = f"Merge into {self._worktree.target}"
        summary = _commit_summary(status, squash=action == "squash")
        return await self._screen.ask(CommitMessageDialog(title, summary, self._proposal))


def carry_out(worktree: Worktree, decision: FinishDecision | None, *, merged: str = "") -> str:
    """Remove a worktree, or keep it. Return a sentence that says what was done. Blocks.

    Without a decision, only an unchanged worktree is removed. `merged` says what was merged so far.
    """
    from acp_tui.workspace.git.worktree_finishing import remove_worktree

    kept = f"The worktree on the branch {worktree.branch} was kept ({worktree.path})."
    try:
        status = current_status(worktree)
        to_remove = decision.to_remove if decision is not None else status if status.is_unchanged else None
        if to_remove is None:
            return kept
        if to_remove != status:
            return f"{merged} {kept} It has changed since you were asked.".strip()
        was_chosen = decision is not None and (bool(decision.merged) or not status.is_unchanged)
        remove_worktree(worktree, finished=was_chosen)
    except UserError as error:
        return f"{merged} {error} {kept}".strip()
    if merged:
        return f"{merged} The worktree was removed."
    unchanged = " Nothing had changed in it." if status.is_unchanged else ""
    return f"The worktree on the branch {worktree.branch} was removed.{unchanged}"


def current_status(worktree: Worktree) -> WorktreeStatus:
    """Return what a worktree holds now, read from git. Blocks."""
    from acp_tui.workspace.git.worktree_finishing import worktree_status

    return worktree_status(worktree)


def _commit_summary(status: WorktreeStatus, *, squash: bool) -> str:
    """Return a sentence that says what will be committed."""

    files = committed_files(status)
    more = f" and {len(files) - MAX_LISTED} more" if len(files) > MAX_LISTED else ""
    names = f"{pluralize(len(files), 'file')}: {', '.join(files[:MAX_LISTED])}{more}" if files else ""
    if not squash:
        return f"Commits {names}"
    commits = pluralize(len(status.commits), "commit") if status.commits else ""
    return f"Makes one commit of {' and '.join(part for part in (commits, names) if part)}"


def _output_lines(error: UserError) -> list[str]:
    """Return the last lines that git and its hooks printed, if these lines say more than the error itself."""
    output = str(getattr(error, "output", ""))
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-MAX_OUTPUT_LINES:] if len(lines) > 1 or (lines and lines[0] not in str(error)) else []


@dataclass(frozen=True, slots=True)
class FinishAnswer(GuardedAnswer):
    """An answer that the user can choose, and the resulting action."""

    action: Action = "keep"


def finish_question(
    worktree: Worktree,
    status: WorktreeStatus,
    *,
    problem: str = "",
    git_output: Sequence[str] = (),
    is_open: bool = True,
) -> GuardedQuestion[FinishAnswer]:
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
    return GuardedQuestion(
        title="What should happen to the worktree?",
        text=_consequences(worktree, status, is_open=is_open),
        facts=(*facts, *_contents(status)),
        warnings=tuple(warnings),
        answers=(*_answers(worktree, status, is_open=is_open),),
        close_label="back to the conversation" if is_open else "back",
    )


def discard_question(worktree: Worktree, status: WorktreeStatus) -> GuardedQuestion[FinishAnswer]:
    """Return the question that confirms the deletion of everything in a worktree."""
    return GuardedQuestion(
        title="Discard the worktree?",
        text=f"This deletes the branch {worktree.branch} and everything listed here. It cannot be undone.",
        facts=(*_contents(status),),
        answers=(
            FinishAnswer("Do not discard anything", "keep"),
            FinishAnswer(f"Discard {_summary(status)}", "discard", grants=True),
        ),
        close_label="back",
    )


class Loss(NamedTuple):
    """The work of one agent that would be deleted."""

    agent: str
    worktree: Worktree
    status: WorktreeStatus


def discard_several_question(kept: str, losses: Sequence[Loss]) -> GuardedQuestion[FinishAnswer]:
    """Return the question that confirms the deletion of several worktrees.

    `kept` is the agent whose worktree stays; empty for none.
    """
    facts: list[tuple[str, str]] = []
    for agent, worktree, status in losses:
        summary = "nothing has changed" if status.is_unchanged else _summary(status)
        facts += [("discarded", f"{agent}: {summary}"), ("branch", worktree.branch), *_contents(status)]
    names = ", ".join(loss.agent for loss in losses)
    next_step = " Then acp-tui asks about the worktree to keep." if kept else ""
    return GuardedQuestion(
        title=f"Keep {kept} and discard the rest?" if kept else "Discard the work of all agents?",
        text=(
            f"This ends the conversations with {names}, and deletes their worktrees and branches with"
            f" everything listed here. It cannot be undone.{next_step}"
        ),
        facts=tuple(facts),
        answers=(
            FinishAnswer("Do not discard anything", "keep"),
            FinishAnswer(f"Discard {names}", "discard", grants=True),
        ),
        close_label="back",
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


class CommitMessageDialog(BoxDialog[str]):
    """Asks for a commit message. The result is never an empty string; it is None if the user cancelled."""

    CSS = """
    CommitMessageDialog #summary { height: auto; max-height: 8; color: $text-muted; }
    CommitMessageDialog TextEditor {
        height: auto; min-height: 3; max-height: 12; margin: 1 0; background: $panel;
    }
    """
    WIDTH = 76
    BINDINGS: ClassVar = keys.bindings("commit")
    AUTO_FOCUS = "TextEditor"

    def __init__(self, title: str, summary: str, message: str) -> None:
        """`summary` says what will be committed; `message` is what the input contains at first."""
        super().__init__(title)
        self._summary = summary
        self._message = message

    def content(self) -> ComposeResult:
        yield Static(self._summary, markup=False, id="summary")
        yield TextEditor(self._message, multiline=True)

    def hints(self) -> list[Hint]:
        names = ("commit.save", "commit.newline", "commit.close")
        save, newline, close = (keys.bound_keys(self, name).split()[0] for name in names)
        return [(save, "commit"), (newline, "new line"), (close, "back")]

    def action_newline(self) -> None:
        """Insert a line break."""
        self.query_one(TextEditor).newline()

    def action_save(self) -> None:
        """Close the dialog with the message as its result. If the message is empty, only ring the bell."""
        if message := self.query_one(TextEditor).text.strip():
            self.dismiss(message)
        else:
            self.app.bell()
