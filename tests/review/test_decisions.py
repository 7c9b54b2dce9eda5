"""Accepting, reverting and undoing parts of changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.review.changed_file import ABSENT, MODE, WHOLE, ChangedFile, ChangePart, FileVersion
from acp_tui.review.decisions import Review
from acp_tui.review.text_change import TextChange, join_lines, split_lines

PATH = Path("/project/file.py")
REGULAR, EXECUTABLE, LINK = 0o100644, 0o100755, 0o120777

contents = st.one_of(
    st.lists(
        st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"\xff\n", b"no end", b"\x00\n", b"}\n"]),
        max_size=40,
    ).map(b"".join),
    st.binary(max_size=20),
)
versions = st.one_of(
    st.just(ABSENT),
    st.builds(FileVersion, contents, st.sampled_from([REGULAR, EXECUTABLE, LINK, 0o100600])),
)


def numbered(count: int, **changed: str) -> bytes:
    """Return numbered lines, of which some are replaced: `_5="x"` replaces the fifth."""
    return "".join(f"{changed.get(f'_{at}', f'line {at}')}\n" for at in range(1, count + 1)).encode()


def review_of(old: FileVersion, now: FileVersion) -> Review:
    review = Review()
    review.update(ChangedFile.between(PATH, old, now))
    return review


def text_file(data: bytes) -> FileVersion:
    return FileVersion(data, REGULAR)


@given(contents)
def test_lines_keep_every_byte(data: bytes) -> None:
    assert join_lines(split_lines(data)) == data


@given(contents, contents)
def test_accepting_all_hunks_gives_the_new_text_and_reverting_them_the_old(old: bytes, new: bytes) -> None:
    accepted = reverted = TextChange.between(old, new)
    while accepted.hunks:
        accepted = accepted.accept(0)
        reverted = reverted.revert(len(reverted.hunks) - 1)
    assert not reverted.hunks
    assert join_lines(accepted.old) == join_lines(accepted.new) == new
    assert join_lines(reverted.old) == join_lines(reverted.new) == old


@given(versions, versions, st.randoms())
def test_reverting_all_parts_in_any_order_gives_the_baseline(
    old: FileVersion, now: FileVersion, random: st.DataObject
) -> None:
    review = review_of(old, now)
    while parts := review.files[PATH].parts:
        review.record(review.revert(PATH, [random.choice(parts)]))  # type: ignore[attr-defined]
    assert review.files[PATH].now.same(old)
    assert review.files[PATH].now.data == old.data


@given(versions, versions)
def test_reverting_everything_gives_the_baseline(old: FileVersion, now: FileVersion) -> None:
    review = review_of(old, now)
    review.record(review.revert_all({PATH: None}))
    assert review.files[PATH].now == old
    assert review.left == 0


@given(versions, versions, st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=6))
def test_undoing_all_decisions_is_an_identity(
    old: FileVersion, now: FileVersion, choices: list[tuple[bool, int]]
) -> None:
    review = review_of(old, now)
    disk = now
    original = review.files[PATH]
    for accept, number in choices:
        if parts := review.files[PATH].parts:
            part = parts[number % len(parts)]
            decision = review.accept(PATH, [part]) if accept else review.revert(PATH, [part])
            for write in decision.writes:
                assert write.expected == disk
                disk = write.wanted
            review.record(decision)
    assert disk == review.files[PATH].now
    while review.decisions:
        for write in review.decisions[-1].undo_writes:
            assert write.expected == disk
            disk = write.wanted
        review.undo()
    assert review.files[PATH] == original
    assert disk == now


@given(versions, versions)
def test_every_decision_is_counted_once(old: FileVersion, now: FileVersion) -> None:
    review = review_of(old, now)
    total = review.left
    for done in range(total):
        assert (review.reviewed, review.left) == (done, total - done)
        part = review.files[PATH].parts[-1]
        decision = review.accept(PATH, [part]) if done % 2 else review.revert(PATH, [part])
        review.record(decision)
    assert (review.reviewed, review.left) == (total, 0)


def test_hunks_far_apart_are_decided_one_by_one() -> None:
    review = review_of(text_file(numbered(40)), text_file(numbered(40, _5="five", _20="twenty", _35="last")))
    assert len(review.files[PATH].parts) == 3
    review.record(review.accept(PATH, [ChangePart("hunk", 1)]))
    review.record(review.revert(PATH, [ChangePart("hunk", 0)]))
    file = review.files[PATH]
    assert file.old.data == numbered(40, _20="twenty")
    assert file.now.data == numbered(40, _20="twenty", _35="last")
    assert file.parts == (ChangePart("hunk", 0),)


def test_some_hunks_are_decided_together() -> None:
    review = review_of(text_file(numbered(40)), text_file(numbered(40, _5="five", _20="twenty", _35="last")))
    review.record(review.accept(PATH, [ChangePart("hunk", 0), ChangePart("hunk", 2)]))
    assert review.files[PATH].old.data == numbered(40, _5="five", _35="last")
    assert (review.reviewed, review.left) == (2, 1)


def test_accepting_writes_nothing_and_reverting_says_what_is_expected_on_disk() -> None:
    old, now = text_file(numbered(9)), text_file(numbered(9, _5="five"))
    review = review_of(old, now)
    assert review.accept(PATH).writes == []
    [write] = review.revert(PATH).writes
    assert (write.expected, write.wanted) == (now, old)


@pytest.mark.parametrize(
    ("old", "now", "kind", "parts"),
    [
        (ABSENT, text_file(b"new\n"), "added", (WHOLE,)),
        (ABSENT, text_file(b""), "added", (WHOLE,)),
        (text_file(b"old\n"), ABSENT, "deleted", (WHOLE,)),
        (text_file(b"a\n"), FileVersion(b"a\n", EXECUTABLE), "mode", (MODE,)),
        (text_file(b"a\n"), FileVersion(b"b\n", EXECUTABLE), "modified", (MODE, ChangePart("hunk", 0))),
        (text_file(b"a\n"), FileVersion(b"target", LINK), "modified", (WHOLE,)),
        (FileVersion(b"a", LINK), FileVersion(b"b", LINK), "modified", (WHOLE,)),
        (text_file(b"\0a"), text_file(b"\0b"), "modified", (WHOLE,)),
        (FileVersion(obstacle="it was too large"), text_file(b"a\n"), "unknown", (WHOLE,)),
    ],
    ids=["new", "empty", "deleted", "mode", "mode and text", "to link", "link", "binary", "unknown"],
)
def test_kinds_of_changes_and_their_parts(
    old: FileVersion, now: FileVersion, kind: str, parts: tuple[ChangePart, ...]
) -> None:
    file = ChangedFile.between(PATH, old, now)
    assert (file.kind, file.parts) == (kind, parts)


def test_reverting_the_executable_bit_keeps_the_other_permissions() -> None:
    review = review_of(text_file(b"a\n"), FileVersion(b"a\n", 0o100711))
    review.record(review.revert(PATH, [MODE]))
    assert review.files[PATH].now.mode == 0o100600


def test_other_permission_bits_are_no_change() -> None:
    assert ChangedFile.between(PATH, text_file(b"a\n"), FileVersion(b"a\n", 0o100600)).done


def test_what_was_accepted_stays_accepted_when_the_file_changes_again() -> None:
    review = review_of(text_file(numbered(40)), text_file(numbered(40, _5="five")))
    review.record(review.accept(PATH))
    accepted = review.files[PATH].old
    now = text_file(numbered(40, _5="five", _30="thirty"))
    review.update(ChangedFile.between(PATH, accepted, now))
    [part] = review.files[PATH].parts
    text = review.files[PATH].text
    assert text is not None
    assert text.excerpt(part.hunk)[1][3] == "thirty\n"


def test_an_undone_acceptance_of_a_file_that_changed_meanwhile_shows_both_changes() -> None:
    review = review_of(text_file(numbered(40)), text_file(numbered(40, _5="five")))
    review.record(review.accept(PATH))
    now = text_file(numbered(40, _5="five", _30="thirty"))
    review.update(ChangedFile.between(PATH, review.files[PATH].old, now))
    review.undo()
    assert len(review.files[PATH].parts) == 2


def test_a_hunk_is_found_again_after_lines_were_inserted_above() -> None:
    shown = TextChange.between(numbered(40), numbered(40, _30="thirty"))
    now = TextChange.between(numbered(40), b"inserted\n" + numbered(40, _30="thirty"))
    assert now.find(shown, 0) == 1


def test_a_hunk_whose_surroundings_changed_is_not_found() -> None:
    shown = TextChange.between(numbered(40), numbered(40, _30="thirty"))
    now = TextChange.between(numbered(40), numbered(40, _30="thirty", _31="mine"))
    assert now.find(shown, 0) is None


def test_a_new_round_counts_from_zero() -> None:
    review = review_of(text_file(numbered(40)), text_file(numbered(40, _5="five", _30="thirty")))
    review.record(review.accept(PATH, [ChangePart("hunk", 0)]))
    review.begin_round()
    assert (review.reviewed, review.left) == (0, 1)
    review.undo()
    assert (review.reviewed, review.left) == (0, 2)
