"""The address of a sign-in: what is refused, and what the user is warned about."""

from __future__ import annotations

import pytest

from acp_tui.mcp.sign_in.interaction import check_authorization_url


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://auth.example.com/authorize?state=1", ()),
        ("http://localhost:8000/authorize", ()),
        ("http://127.0.0.1:8000/authorize", ()),
        ("https://xn--pple-43d.com/authorize", ("imitate another one", "аpple.com")),
        ("https://аpple.com/authorize", ("imitate another one",)),
        ("https://10.0.0.7/authorize", ("IP address instead of a name",)),
        ("https://[2001:db8::1]/authorize", ("IP address instead of a name",)),
        ("https://github.com@evil.example/authorize", ("The host is evil.example",)),
    ],
)
def test_suspicious_hosts_are_warned_about(url: str, words: tuple[str, ...]) -> None:
    checked = check_authorization_url("github", url)
    assert len(checked.warnings) == (1 if words else 0)
    assert all(word in checked.warnings[0] for word in words)


@pytest.mark.parametrize(
    "url",
    [
        "http://auth.example.com/authorize",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https://auth.example.com/\x1b[2J",
        "https://auth.example.com/a b",
        "https://auth\u200b.example.com/authorize",
        "https://evil.example\\@auth.example.com/authorize",
    ],
)
def test_addresses_that_are_not_opened(url: str) -> None:
    with pytest.raises(ValueError):
        check_authorization_url("github", url)
