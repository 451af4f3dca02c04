"""The tokens of the engine: the same prompt always gets the same answer.

A token is a word. A prompt that asks for the result of an addition or a multiplication gets the result, mostly a right one.
"""

from __future__ import annotations

import binascii
import re
from typing import Any, NamedTuple

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
WORDS = tuple(
    first + vowel + second for first in _CONSONANTS for vowel in _VOWELS for second in "lmnrst"
)  # the vocabulary
BLOCK = 16  # tokens of a block of the prefix cache
_TASK = re.compile(r"Question: (?:.*[^0-9])?([0-9]{1,6}) ([+*]) ([0-9]{1,6})\b")
_SHORTEST, _SPREAD = 16, 240  # length of an answer that ends by itself


class Prompt(NamedTuple):
    """A prompt in tokens.

    Attributes:
        size: number of tokens.
        seed: a number that only equal prompts share.
        blocks: a number for each whole block, which only prompts with the same beginning share.
        task: both numbers and the operation of the last question; None without one.
    """

    size: int
    seed: int
    blocks: tuple[int, ...]
    task: tuple[int, str, int] | None


def parse_prompt(value: Any) -> Prompt:
    """Return a prompt: a text, a list with a text, or a list of token ids. Raises ValueError for another form."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], (str, list)):
        value = value[0]
    if isinstance(value, str):
        return _make_prompt(value.split(), value)
    if isinstance(value, list) and value and all(isinstance(token, int) for token in value):
        return _make_prompt([str(token) for token in value], "")
    raise ValueError("prompt must be a text, or a list of token ids")


def parse_messages(value: Any) -> Prompt:
    """Return the prompt of a chat. Raises ValueError for another form."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        raise ValueError("messages must be a list of objects, with at least one message")
    texts = [_read_content(item.get("content")) for item in value]
    return _make_prompt(" ".join(texts).split(), texts[-1])


def _read_content(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        return " ".join(str(part.get("text", "")) for part in value)
    raise ValueError("content must be a text, or a list of parts")


def _make_prompt(words: list[str], text: str) -> Prompt:
    blocks, checksum = [], 0
    whole = len(words) - len(words) % BLOCK
    for start in range(0, whole, BLOCK):
        checksum = binascii.crc32(" ".join(words[start : start + BLOCK]).encode(), checksum)
        blocks.append(checksum)
    seed = binascii.crc32(" ".join(words[whole:]).encode(), checksum)
    tasks = _TASK.findall(text)
    task = (int(tasks[-1][0]), tasks[-1][1], int(tasks[-1][2])) if tasks else None
    return Prompt(len(words), seed, tuple(blocks), task)


class Completion(NamedTuple):
    """The tokens of an answer.

    Attributes:
        size: number of tokens.
        words: the first tokens; the others are made of the seed.
        seed: of the prompt.
        is_whole: whether the answer ends by itself, and not because of a limit.
    """

    size: int
    words: tuple[str, ...]
    seed: int
    is_whole: bool

    def render(self, start: int, end: int) -> str:
        """Return the text of some tokens."""
        return "".join(self._find_word(position) + " " for position in range(start, min(end, self.size)))

    def _find_word(self, position: int) -> str:
        if position < len(self.words):
            return self.words[position]
        mixed = (self.seed ^ (position * 2654435761)) * 2246822519 & 0xFFFFFFFF
        return WORDS[(mixed >> 8) % len(WORDS)]


def make_answer(prompt: Prompt, least: int, most: int, ignores_end: bool, accuracy: float) -> Completion:
    """Return the answer of a prompt.

    least, most: number of tokens. ignores_end: whether the answer has always `most` tokens. accuracy: share of right results.
    """
    words = _solve(prompt, accuracy) if prompt.task else ()
    natural = len(words) or _SHORTEST + prompt.seed % _SPREAD
    size = most if ignores_end else min(max(natural, least), most)
    return Completion(
        size, words, prompt.seed, is_whole=not ignores_end and natural <= most and least <= natural
    )


def _solve(prompt: Prompt, accuracy: float) -> tuple[str, ...]:
    assert prompt.task is not None
    first, operation, second = prompt.task
    result = first + second if operation == "+" else first * second
    if (prompt.seed % 10_007) / 10_007 >= accuracy:
        result += 1
    return (*f"We get {first} {operation} {second} = {result} .".split(), "####", str(result))
