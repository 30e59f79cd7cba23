"""What looks like a secret does not leave; everything else stays as it is."""

from __future__ import annotations

import pytest

from llmc.core.masking import MASK, masked

SECRET = "Zx9" + "kQ7" * 8


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("key ", f"sk-ant-api03-{SECRET}", " end"),
        ("key ", f"sk-proj-{SECRET}", ""),
        ("", f"ghp_{SECRET}", " pushed"),
        ("", f"github_pat_{SECRET}", ""),
        ("", f"glpat-{SECRET}", ""),
        ("", "AKIA" + "ABCDEFGHIJKLMNOP", ""),
        ("", f"AIza{SECRET}{SECRET}", ""),
        ("", f"xoxb-{SECRET}", ""),
        ("", f"eyJ{SECRET}.{SECRET}.{SECRET}", ""),
        ("Authorization: Bearer ", SECRET, ""),
        ("authorization: basic ", SECRET, ""),
        ("x-api-key: ", SECRET, ""),
        ("Cookie: ", f"session={SECRET}; other={SECRET}", ""),
        ("OPENAI_API_KEY=", SECRET, " make test"),
        ('"client_secret": "', SECRET, '"'),
        ("password: ", SECRET, ""),
        ("https://user:", SECRET, "@example.org/repo.git"),
        ("postgres://me:", "p4ssw0rd", "@db:5432/x"),
        ("", f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n{SECRET}\n-----END RSA PRIVATE KEY-----", "\nafter"),
        ("", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}", ""),
    ],
)
def test_secrets_are_masked_and_what_is_around_them_stays(before, secret, after):
    assert masked(f"{before}{secret}{after}") == f"{before}{MASK}{after}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the task is to skip the risk-assessment-of-everything step",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "https://example.org:8080/path@v2",
        "the token limit is 200000 tokens",
        "def token(self) -> str:",
        "password = None",
        "ask-user-question and task-management-system-for-everyone",
        "❯ größer → 日本語",
    ],
)
def test_what_is_no_secret_stays(text):
    assert masked(text) == text


def test_masking_twice_is_masking_once():
    once = masked(f"TOKEN={SECRET} Bearer {SECRET}")
    assert masked(once) == once
