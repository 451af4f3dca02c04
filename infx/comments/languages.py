"""Texts of the bot in the languages of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infx.policy.model import Language

Words = Mapping[Language, str]


def words(english: str, chinese: str) -> Words:
    """Return a text in both languages."""
    return {Language.ENGLISH: english, Language.CHINESE: chinese}


def join_inline(texts: Words, languages: Sequence[Language], separator: str = " · ") -> str:
    """Join the texts of all languages on one line."""
    return separator.join(texts[language] for language in languages)


def join_sections(texts: Words, languages: Sequence[Language]) -> str:
    """Join the texts of all languages as sections with a rule between them."""
    return "\n\n---\n\n".join(texts[language].strip() for language in languages) + "\n"
