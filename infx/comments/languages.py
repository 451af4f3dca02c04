"""The bot's words in the languages of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infx.policy.model import Language

Words = Mapping[Language, str]


def words(english: str, chinese: str) -> Words:
    """Return the same words in both languages."""
    return {Language.ENGLISH: english, Language.CHINESE: chinese}


def join_inline(said: Words, languages: Sequence[Language], separator: str = " · ") -> str:
    """Return the words of all languages on one line."""
    return separator.join(said[language] for language in languages)


def join_sections(said: Words, languages: Sequence[Language]) -> str:
    """Return the texts of all languages below each other, with a rule between."""
    return "\n\n---\n\n".join(said[language].strip() for language in languages) + "\n"
