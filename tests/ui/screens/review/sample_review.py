"""A review with sample changes that are on no disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from acp_tui.controller.review import ConversationReview
from acp_tui.review.authorship import YOU, turn_bit
from acp_tui.review.changed_file import ABSENT, ChangedFile, FileVersion
from acp_tui.review.comments import Comment
from acp_tui.session.state import Session
from acp_tui.ui.screens.review.review_screen import ReviewContext, ReviewScreen

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.controller.baseline_tracker import BaselineTracker

CWD = Path("/home/ada/my-project")
PROMPTS = ["Make the login safe", "Forget users after two weeks"]
FIRST, SECOND = turn_bit(1), turn_bit(2)
LOGIN = '''"""Log users in."""

from project.users import find


def login(name, password):
    user = find(name)
    if user = None:
        return None
    return user


def logout(user):
    """Forget the session."""
    user.session = None
    user.save()


def sessions(user):
    return [one for one in SESSIONS if one.user == user]


def remember(user, days=30):
    """Keep the user logged in."""
    user.expires = today() + days
    user.save()
'''
NEW_LOGIN = LOGIN.replace(
    "    if user = None:\n        return None\n",
    '    if user is None or not user.active:\n        raise LoginError(f"unknown user {name}")\n'
    '    if not user.check(password):\n        raise LoginError("the password is wrong")\n',
).replace("days=30", "days=14")


class SampleReview(ConversationReview):
    """Compares with nothing."""

    def __init__(self, *files: ChangedFile) -> None:
        super().__init__(cast("BaselineTracker", SampleBaseline()), CWD)
        for file in files:
            self.model.update(file)

    async def refresh(self, updated: Callable[[], None], first: Path | None = None) -> None:
        updated()


class SampleBaseline:
    """Finds all changes."""

    enabled = True
    complete = True
    is_ready = False


def text(content: str, mode: int = 0o100644) -> FileVersion:
    return FileVersion(content.encode(), mode)


def changed(name: str, old: FileVersion, now: FileVersion, *authors: int) -> ChangedFile:
    """Return a changed file whose hunks have these authors."""
    everyone = 0
    for author in authors:
        everyone |= author
    file = ChangedFile.between(CWD / name, old, now, authors=everyone)
    return replace(file, text=replace(file.text, authors=authors)) if file.text is not None else file


def sample_review() -> SampleReview:
    review = SampleReview(
        changed(
            "docs/logo.png", FileVersion(b"\0" * 4_183, 0o100644), FileVersion(b"\0" * 5_002, 0o100644), FIRST
        ),
        changed("docs/old-notes.md", text("# Notes\n\nNothing here.\n"), ABSENT, YOU),
        changed("run.sh", text("echo hi\n"), text("echo hi\n", 0o100755), SECOND),
        changed("src/errors.py", ABSENT, text("class LoginError(Exception):\n    pass\n"), FIRST),
        changed("src/login.py", text(LOGIN), text(NEW_LOGIN), FIRST | YOU, SECOND),
        changed("src/users.py", text("def find(name):\n"), text("def find(name: str):\n"), FIRST),
    )
    review.model.record(review.model.accept(CWD / "src/users.py"))
    excerpt = ('+        raise LoginError(f"unknown user {name}")',)
    review.comments = [
        Comment(
            str(CWD / "src/login.py"),
            9,
            9,
            excerpt,
            "Do not tell whether the user exists: say the same in both cases.",
        ),
        Comment(str(CWD / "src/errors.py"), 2, 2, ("+    ...",), "Give it a docstring.", outdated=True),
    ]
    return review


def sample_screen(review: SampleReview, first: str = "") -> ReviewScreen:
    context = ReviewContext(
        session=Session(),
        cwd=str(CWD),
        prompts=lambda: PROMPTS,
        edit_file=lambda *_: None,
        save_comments=lambda: None,
        send=lambda _: None,
    )
    return ReviewScreen(review, context, CWD / first if first else None)
