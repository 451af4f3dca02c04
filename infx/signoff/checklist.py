"""Compare the current checklist with a reviewer's copy.

Items are matched by their words. Case, spacing, formatting, moved links and small changes of wording do not
matter; a negation does.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from infx.codeowners import LOGIN
from infx.errors import InfxError
from infx.markdown import BlockKind, MarkdownBlock, parse_markdown
from infx.phrases import count
from infx.records import record

MAX_TASKS = 200  # of one comment; the longest real checklist has 17
MAX_WORDS = 200  # of one item that are compared

# Share of an item's words that a task must keep: with the same bold lead, without a lead, with another lead.
_SAME_LEAD, _NO_LEAD, _OTHER_LEAD = 0.45, 0.7, 0.85

_WORD = r"[a-z0-9]+(?:['’][a-z]+)?|[\u3400-\u9fff]"
_DENIALS = r"\b(?:not|no|never|cannot|without|except|unless|nor|\w+n['’]t)\b|~~|[不没未无非]"
_ADDRESS = r"https?://\S+"
_NUMBERED = re.compile(
    r"(?:items?|checks?|no\.?|nos\.?|第)?\s*#?"
    r"(?P<numbers>\d+(?:\s*(?:,|;|/|&|\+|-|–|—|and|to|、|，|和|至|到)\s*(?:and\s+)?#?\d+)*)"
    r"\s*(?:项)?\s*(?:[:：.)](?!\d)|\s[-–—]|—)\s*(?P<reason>.+)",  # 10:30 is a time
    re.IGNORECASE | re.DOTALL,
)
_RANGE = r"(?<!\d)(\d+)\s*(?:-|–|—|to|至|到)\s*(\d+)"


class ItemState(StrEnum):
    CHECKED = "checked"
    REWORDED = "reworded"  # checked, but negated where the template is not, or the reverse
    EXPLAINED = "explained"  # left open, with a reason
    OPEN = "open"  # left open without a reason
    CONFLICTING = "conflicting"  # present twice, checked once
    MISSING = "missing"


@record
class Item:
    """One item of the template."""

    number: int  # from 1 in reading order, nested items included
    text: str
    lead: str  # the bold words at its start

    @property
    def name(self) -> str:
        return self.lead.rstrip(".:：。") or _shorten(self.text)


@record
class ItemMatch:
    """An item of the template, and its state in a comment."""

    item: Item
    state: ItemState
    line: int | None = None  # in the comment; None when missing
    detail: str = ""  # the reason of an explained item, or the words of a reworded one


def parse_template(text: str, phrase: str) -> str:
    """Return the part of the checklist document that a reviewer pastes.

    This is the first code fence that starts with the phrase, else everything from the paragraph with the phrase.
    Raises InfxError if the document has neither.
    """
    from markdown_it import MarkdownIt

    source = re.sub(r"\r\n?", "\n", text)
    lines = source.split("\n")
    for token in MarkdownIt("commonmark").parse(source):
        if token.type == "fence" and starts_with_phrase(token.content, phrase):
            return token.content
        if token.type == "inline" and token.map and starts_with_phrase(token.content, phrase):
            return "\n".join(lines[token.map[0] :])
    raise InfxError(f"The checklist document has no paragraph that starts with {phrase!r}.")


def starts_with_phrase(text: str, phrase: str) -> bool:
    return _plain(text).startswith(_plain(phrase))


def has_phrase(text: str, phrase: str) -> bool:
    """Return whether the phrase occurs anywhere, so that a malformed sign-off still gets an explanation."""
    return _plain(phrase) in _plain(text)


def _plain(words: str) -> str:
    return " ".join(re.sub(r"[*_`]", "", words).split()).casefold()


def parse_items(template: str) -> tuple[Item, ...]:
    """Return the items of a template. Raises InfxError for a template without items."""
    # An empty checklist must not pass.
    tasks = [block for block in parse_markdown(template) if block.is_task]
    if not tasks:
        raise InfxError("The checklist has no items.")
    return tuple(
        Item(number=number, text=block.text, lead=block.lead) for number, block in enumerate(tasks, start=1)
    )


def compare_checklist(items: Sequence[Item], comment: str) -> tuple[ItemMatch, ...]:
    """Return each item of the template with its state in the comment, in the template's order."""
    blocks = parse_markdown(comment)
    tasks = [block for block in blocks if block.is_task]
    if len(tasks) > MAX_TASKS:
        raise InfxError(f"The comment has {count(len(tasks), 'task item')}; at most {MAX_TASKS} are read.")
    pairs = _assign(items, tasks)
    return tuple(_judge(item, pairs.get(item.number, []), blocks) for item in items)


def _assign(items: Sequence[Item], tasks: Sequence[MarkdownBlock]) -> dict[int, list[MarkdownBlock]]:
    """Return each item's tasks: the best match, and further copies with almost the same words."""
    scored = [
        (score, -abs(item.number - place), item, index)
        for place, (index, task) in enumerate(enumerate(tasks), start=1)
        for item in items
        if (score := _score(item, task)) > 0
    ]
    scored.sort(key=lambda entry: (-entry[0], -entry[1], entry[2].number, entry[3]))
    pairs: dict[int, list[MarkdownBlock]] = {}
    used: set[int] = set()
    for _, _, item, index in scored:
        if index not in used and item.number not in pairs:
            pairs[item.number] = [tasks[index]]
            used.add(index)
    for score, _, item, index in scored:
        if index not in used and score >= 0.95:
            pairs[item.number].append(tasks[index])
            used.add(index)
    return pairs


def _score(item: Item, task: MarkdownBlock) -> float:
    """Return how well a task matches an item, from 0 (no match) to 1.

    The score depends mostly on the share of the item's words that the task has in order.
    """
    import difflib

    item_words, task_words = _words(item.text), _words(task.text)
    if item_words == task_words:
        return 1.0
    matcher = difflib.SequenceMatcher(None, item_words, task_words, autojunk=False)
    common = sum(block.size for block in matcher.get_matching_blocks())
    coverage = common / max(len(item_words), 1)
    leads = _words(item.lead), _words(task.lead)
    if leads[0] and leads[0] == leads[1]:
        least, bonus = _SAME_LEAD, 0.25
    else:
        least, bonus = (_OTHER_LEAD if all(leads) else _NO_LEAD), 0.0
    if coverage < least:
        return 0.0
    return min(0.6 * coverage + 0.15 * common / max(len(task_words), 1) + bonus, 0.99)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", re.sub(_ADDRESS, " ", text)).casefold()
    return re.findall(_WORD, plain)[:MAX_WORDS]


def _denials(text: str) -> Counter[str]:
    return Counter(re.findall(_DENIALS, unicodedata.normalize("NFKC", text).casefold()))


def _judge(item: Item, tasks: Sequence[MarkdownBlock], blocks: Sequence[MarkdownBlock]) -> ItemMatch:
    if not tasks:
        return ItemMatch(item=item, state=ItemState.MISSING)
    task = tasks[0]
    if len({copy.checked for copy in tasks}) > 1:
        return ItemMatch(item=item, state=ItemState.CONFLICTING, line=task.line)
    if task.checked:
        same = _denials(item.text) == _denials(task.text)
        state, detail = (ItemState.CHECKED, "") if same else (ItemState.REWORDED, task.text)
    else:
        detail = _find_explanation(item, task, blocks)
        state = ItemState.EXPLAINED if detail else ItemState.OPEN
    return ItemMatch(item=item, state=state, line=task.line, detail=detail)


def _find_explanation(item: Item, task: MarkdownBlock, blocks: Sequence[MarkdownBlock]) -> str:
    """Return the reason for an open box: under the item, by number or name elsewhere, or after its words."""
    for block in blocks:
        if block.is_task or block.kind is BlockKind.HEADING:
            continue
        if block.depth and task.item in {block.item, block.parent} and _is_reason(block.text):
            return " ".join(block.text.split())
        for line in block.text.split("\n"):
            text = f"{block.ordinal}. {line}" if block.ordinal and line == block.text else line
            if reason := _find_reason_in(line=text, item=item):
                return reason
    return _find_appended_reason(item, task)


def _find_reason_in(line: str, item: Item) -> str:
    line = line.strip()
    if (match := _NUMBERED.match(line)) and item.number in _parse_numbers(match["numbers"]):
        return match["reason"].strip() if _is_reason(match["reason"]) else ""
    name = item.name.casefold()
    if item.lead and line.casefold().startswith(name):
        tail = line[len(name) :].lstrip()
        reason = tail.lstrip(":：-–—. ")
        if tail[:1] in set(":：-–—.") and _is_reason(reason):
            return reason
    return ""


def _find_appended_reason(item: Item, task: MarkdownBlock) -> str:
    """Return the words that the reviewer added after the item's own words."""
    tail = task.text[max(task.text.rfind(":"), task.text.rfind("："), 0) :]
    match = re.search(r"(?:\s[-–—]+\s|[:：(（]|\n)\s*(.+)$", tail, re.DOTALL)
    if match and _is_reason(match[1]) and not set(_words(match[1])) & set(_words(item.text[-60:])):
        return " ".join(match[1].strip(" ()（）").split())
    return ""


def _parse_numbers(text: str) -> set[int]:
    numbers = {int(word) for word in re.findall(r"\d+", text)}
    if max(numbers) > MAX_TASKS:  # a date
        return set()
    for first, last in re.findall(_RANGE, text):
        numbers.update(range(int(first), min(int(last), int(first) + MAX_TASKS) + 1))
    return numbers


def _is_reason(text: str) -> bool:
    """Return whether a text has enough words to explain something: "n/a" and "done" do not."""
    return len(_words(text)) >= 3 or len(re.findall(r"[a-z]{3,}", text.casefold())) >= 2


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:57] + "..."


def find_signature(comment: str) -> str | None:
    """Return the login on the `Signed:` line; None if that line is missing or empty."""
    for block in parse_markdown(comment):
        for line in block.text.split("\n"):
            if match := re.fullmatch(rf"signed\s*[:：]\s*@?({LOGIN})\W*", line.strip(), re.IGNORECASE):
                return match[1]
    return None


def fill_signature(template: str, login: str) -> str:
    """Return the template with a login after `Signed:`."""
    return re.sub(
        r"(?im)^(signed\s*[:：])[ \t]*@?[\w<>-]*[ \t]*$", lambda line: f"{line[1]} {login}".rstrip(), template
    )
