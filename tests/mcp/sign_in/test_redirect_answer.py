"""What a pasted text means."""

from __future__ import annotations

import pytest

from acp_tui.mcp.sign_in.browser_round_trip import RedirectAnswer, answer_of_pasted_text

CALLBACK = "http://127.0.0.1:4000/callback"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (
            f"  {CALLBACK}?code=abc%2F1&state=s&iss=https%3A%2F%2Fa.example\n",
            RedirectAnswer("abc/1", "s", "https://a.example"),
        ),
        (f"<{CALLBACK}?code=abc>", RedirectAnswer("abc", "")),
        ("/callback?code=abc&state=s", RedirectAnswer("abc", "s")),
        (
            f"{CALLBACK}?error=access_denied&error_description=No%1b[2J&state=s",
            RedirectAnswer("", "s", None, "access_denied", "No␛[2J"),
        ),
        ("4/0AX4XfWh-abc", RedirectAnswer("4/0AX4XfWh-abc")),
        (CALLBACK, None),
        ("", None),
        ("two words", None),
        ("http://[", None),
    ],
)
def test_pasted_text_is_an_address_or_a_code(text: str, answer: RedirectAnswer | None) -> None:
    assert answer_of_pasted_text(text) == answer


def test_codes_are_not_in_the_representation() -> None:
    assert "abcd" not in repr(answer_of_pasted_text("abcd")) + repr(
        answer_of_pasted_text(f"{CALLBACK}?code=abcd")
    )
