"""Secret patterns: what looks like a secret in text is masked, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_tui.store.secret_patterns import MASK, is_secret_name, redact_text
from tests.support.talk import properties

TOKENS = [
    "sk-ant-api03-abcDEF_123-xyz",
    "sk-proj-" + "a" * 24,
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "gho_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0abcdefghij_xyz",
    "glpat-abcdefghij1234567890",
    "xoxb-123456789012-abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "hf_" + "abcdefghijklmnopqrstuvwxyz",
    "npm_" + "a1b2" * 9,
    "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "cio" + "aB3dE6gH" * 4,
    "secret_" + "aB3dE6gH" * 5 + "abc",
    "ops_eyJ" + "zaWduSW5BZGRyZXNz" * 4,
    "fw_" + "3ZaB3dE6gHaB3dE6gHaB3d",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    "around", ["{}", "key {} end", '"{}"', "a\n{}\nb", r"escaped\n{}\"", "({})", "x={};"]
)
def test_tokens_are_masked(token: str, around: str) -> None:
    assert redact_text(around.format(token)) == around.format(MASK)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("password=hunter2 and more", "password=[redacted] and more"),
        ("PASSWORD='two words' x", "PASSWORD='[redacted]' x"),
        ("/callback?code=SplxlOBeZQQYbYS6&state=a", "/callback?code=[redacted]&state=a"),
        ("code=4/0AX4XfWh-abc1&grant_type=x", "code=[redacted]&grant_type=x"),
        ("'code_verifier': '" + "a1-b" * 11 + "'", "'code_verifier': '[redacted]'"),
        ("client_assertion=e30.e30.c2ln&x", "client_assertion=[redacted]&x"),
        ('db_passwd = "a\\"b c" # x', 'db_passwd = "[redacted]" # x'),
        ("AWS_SECRET_ACCESS_KEY=abc/def+g\nB=1", "AWS_SECRET_ACCESS_KEY=[redacted]\nB=1"),
        ("GITHUB_TOKEN=abc", "GITHUB_TOKEN=[redacted]"),
        ("https://x/?token=abc12345&page=2", "https://x/?token=[redacted]&page=2"),
        ('{"api_key": "abc12345", "n": 1}', '{"api_key": "[redacted]", "n": 1}'),
        (r"{\"client_secret\": \"abc\", \"n\": 1}", r"{\"client_secret\": \"[redacted]\", \"n\": 1}"),
        ("{'password': 'x y'}", "{'password': '[redacted]'}"),
        ('password="cut off', 'password="[redacted]'),
        ("run --api-key zzz --fast", "run --api-key [redacted] --fast"),
        ("curl -H 'Authorization: Bearer abcdef' x", "curl -H 'Authorization: Bearer [redacted]' x"),
        ("authorization: Basic dXNlcg==", "authorization: Basic [redacted]"),
        ("BEARER a1b2c3d4e5", "BEARER [redacted]"),
        ("postgres://me:p4ss@db/x", "postgres://me:[redacted]@db/x"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nrest",
            "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nrest",
        ),
        ('{"auths":{"r.io":{"auth":"dXNlcjpwYXNzd29yZA=="}}}', '{"auths":{"r.io":{"auth":"[redacted]"}}}'),
        ("<password>two words</password>", "<password>[redacted]</password>"),
        ("<Password>hunter</Password>", "<Password>[redacted]</Password>"),
        ("define( 'DB_PASSWORD', 'hunter' );", "define( 'DB_PASSWORD', '[redacted]' );"),
        ('define("AUTH_KEY", "it\'s % long")', 'define("AUTH_KEY", "[redacted]")'),
        ("machine a.b\n  login me\n  password pw", "machine a.b\n  login me\n  password [redacted]"),
        ("-----BEGIN PRIVATE KEY-----\ncut", "-----BEGIN PRIVATE KEY-----[redacted]"),
    ],
)
def test_values_after_a_secret_name_are_masked(text: str, redacted: str) -> None:
    assert redact_text(text) == redacted
    assert redact_text(redacted) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "connect(token=token, password=$PASSWORD)",
        "api_key = get_key()",
        "password=<your password>",
        '{"password": null, "inputTokens": 1200, "token": true}',
        "total_tokens=123456789",
        "the risk-management-of-everything1 and a task-1234567890",
        "bearer tokens are used here",
        "tokenizer=sentencepiece2",
        "https://example.org:8080/@scope/name",
        "git@github.com:owner/name.git",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        "--token --verbose",
        "<password>${db.password}</password>",
        "define('WP_DEBUG', 'false'); define('DB_NAME', 'shop');",
        "MTBF and ODBC: fw_update, secret_sauce, cio, ops_team",
        "sk-learn, through the night -- 6 = 2*3",
    ],
)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert redact_text(text) is text or redact_text(text) == text


@properties
@given(before=st.text(), token=st.sampled_from(TOKENS), after=st.text())
def test_a_token_between_spaces_is_masked_in_any_text(before: str, token: str, after: str) -> None:
    assert token not in redact_text(f"{before} {token} {after}")


@properties
@given(st.text(alphabet="abdhlmr \n.,()[]{}0123456789é漢🙂"))
def test_text_that_no_pattern_can_match_is_returned_as_it_is(text: str) -> None:
    assert redact_text(text) is text


@pytest.mark.parametrize(
    "name",
    [
        "API_KEY",
        "OPENAI_KEY",
        "GITHUB_TOKEN",
        "X-Api-Key",
        "Authorization",
        "apiKey",
        "DB_PWD",
        "Cookie",
        "PGPASSWORD",
    ],
)
def test_secret_names_are_recognised(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["PATH", "PWD", "OLDPWD", "MAX_TOKENS", "GIT_AUTHOR_NAME", "MONKEY", "TOKENIZERS_PARALLELISM", "Accept"],
)
def test_other_names_are_not_secret(name: str) -> None:
    assert not is_secret_name(name)
