from __future__ import annotations

import pytest

from infx.changelog.links import Meaning, PullLinks, Reference
from tests.changelog.samples import LINKS, link


@pytest.mark.parametrize(
    ("text", "meaning", "number"),
    [
        ("XXX", Meaning.PLACEHOLDER, None),
        (" XXX\n", Meaning.PLACEHOLDER, None),
        (link("XXX"), Meaning.PLACEHOLDER, None),
        (link(77), Meaning.CANONICAL, 77),
        (link(123456), Meaning.CANONICAL, 123456),
        ("xxx", Meaning.WORD, None),
        ("TBD", Meaning.WORD, None),
        ("0", Meaning.WORD, None),
        (link("TBD"), Meaning.WORD, None),
        (link("new/feat-x"), Meaning.WORD, None),
        ("#77", Meaning.MISSHAPEN, 77),
        ("PR #77", Meaning.MISSHAPEN, 77),
        ("gh-77", Meaning.MISSHAPEN, 77),
        ("acme/bench#77", Meaning.MISSHAPEN, 77),
        ("github.com/acme/bench/pull/77", Meaning.MISSHAPEN, 77),
        ("https://www.github.com/acme/bench/pull/77", Meaning.MISSHAPEN, 77),
        (link("077"), Meaning.MISSHAPEN, 77),
        (link("#77"), Meaning.MISSHAPEN, 77),
        (link("/?77"), Meaning.MISSHAPEN, 77),
        (link("#\uff17\uff17"), Meaning.UNREADABLE, None),
        (link("77#discussion_r12"), Meaning.MISSHAPEN, 77),
        (link("77?diff=split"), Meaning.MISSHAPEN, 77),
        (link("77/commits/0123abc"), Meaning.MISSHAPEN, 77),
        ("https://github.com/old-acme/bench/pull/77", Meaning.MISSHAPEN, 77),
        ("other/bench#77", Meaning.FOREIGN, None),
        ("https://gitlab.com/acme/bench/pull/77", Meaning.FOREIGN, None),
        ("https://github.com/acme/bench-2/pull/77", Meaning.FOREIGN, None),
        ("XXX1", Meaning.UNREADABLE, None),
        ("77 or 78", Meaning.UNREADABLE, None),
        ("v77", Meaning.UNREADABLE, None),
        ("n/a", Meaning.UNREADABLE, None),
        ("https://github.com/acme/bench/commit/77", Meaning.UNREADABLE, None),
        ("9" * 30, Meaning.UNREADABLE, None),
        # Numbers that GitHub would not accept, so that their pull request is unknown.
        *(
            (form.format(number), Meaning.UNREADABLE, None)
            for form in ("{}", "#{}", "PR {}", "pull/{}", "https://github.com/acme/bench/pull/{}")
            for number in ("٧٧", "７５", "7７", "⑦", "⁷⁷", "𝟕𝟕", "七", "ⅶ", "½", "%37%37", "%377")
        ),
        # Invisible characters are not part of the number, but other tools could not read the link.
        *(
            (link(77).replace("/", f"/{char}", 1) + char, Meaning.MISSHAPEN, 77)
            for char in "\u200b\u200d\u00ad\ufeff\u202e\u2060\u00a0\u3000\u3164\ufe0f\u180b\u17b5\U000e0020\U000e0100"
        ),
        ("7\u200b7", Meaning.MISSHAPEN, 77),
        ("X\u200bXX", Meaning.WORD, None),
        ("https://\u200bgitlab.com/acme/bench/pull/77", Meaning.FOREIGN, None),
    ],
)
def test_the_meaning_of_a_value(text: str, meaning: Meaning, number: int | None) -> None:
    reference = LINKS.read(text)
    assert (reference.meaning, reference.number) == (meaning, number)


def test_without_a_repository_every_repository_of_the_server_counts() -> None:
    links = PullLinks(server="https://github.com", repository=None, placeholders=("XXX",))
    assert links.read("https://github.com/any/name/pull/5") == Reference(meaning=Meaning.CANONICAL, number=5)
    assert links.read("https://github.com/any/name/pull/XXX") == Reference(meaning=Meaning.PLACEHOLDER)
    assert links.read("https://github.com/any/name/pull/5/files") == Reference(
        meaning=Meaning.MISSHAPEN, number=5
    )
    assert links.read("https://example.com/any/name/pull/5").meaning is Meaning.FOREIGN
    assert links.read("https://github.com/<owner>/<name>/pull/5").meaning is Meaning.FOREIGN


def test_placeholders_and_server_come_from_the_policy() -> None:
    links = PullLinks(server="https://git.example.com", repository="a/b", placeholders=("TBD", "PENDING"))
    assert links.accepted == [
        "TBD",
        "https://git.example.com/a/b/pull/TBD",
        "PENDING",
        "https://git.example.com/a/b/pull/PENDING",
    ]
    assert links.read("XXX").meaning is Meaning.WORD
