"""Splits texts into the words that are indexed and searched for."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_CJK = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")


def plain(text: str) -> str:
    """Return a text in lower case without accents, the form in which words are compared."""
    lower = text.lower()
    if lower.isascii():
        return lower
    decomposed = _ACCENTS.sub("", unicodedata.normalize("NFD", lower))
    return unicodedata.normalize("NFC", decomposed)


def words_of(plain_text: str) -> list[str]:
    """Split a text made by `plain` into words: runs of letters and digits.

    Each common Chinese, Japanese or Korean character is a separate word, because such texts often have no
    spaces.
    """
    if not plain_text.isascii():
        plain_text = _CJK.sub(r" \1 ", plain_text)
    return _WORD.findall(plain_text)


def is_cjk(word: str) -> bool:
    """Return True if a word is a single common Chinese, Japanese or Korean character."""
    return _CJK.fullmatch(word) is not None
