from __future__ import annotations

import itertools

import pytest

from infx.changelog.canonicalize import canonicalize
from infx.errors import ProblemsError
from tests.changelog.samples import BASE, CONTEXT, context, entry, link, new

STYLES = [
    "XXX", '"XXX"', "'XXX'", "|\n    XXX", "|-\n    XXX", ">-\n\n    XXX", "!!str XXX", "! XXX", "&a XXX", "\n    XXX", "XXX   ",
    "XXX # later", '"XX\\\n    X"', '"\\u0058XX"', link("XXX"), f'"{link(77)}" # ours', f">-\n    {link(77)}",
]  # fmt: skip
KEYS = ["  pr-link: ", '  "pr-link": ', "  pr-link : ", "  ? pr-link\n  : "]


@pytest.mark.parametrize(("key", "style"), list(itertools.product(KEYS, STYLES)))
def test_any_style_becomes_one_plain_line(key: str, style: str) -> None:
    head = BASE + new("@").replace(b"  pr-link: @", f"{key}{style}".encode())
    assert canonicalize(BASE, head, CONTEXT).head == BASE + new(link(77))


def test_the_rest_of_the_entry_keeps_its_bytes() -> None:
    odd = b"\n- config-keys: [ a,b ] # so\n  pr-link: |-\n    XXX\n  # a remark\n  description:\n  - 'x'\n\n  - y\n"
    assert canonicalize(BASE, BASE + odd, CONTEXT).head == BASE + odd.replace(
        b"  pr-link: |-\n    XXX\n", f"  pr-link: {link(77)}\n".encode()
    )


def test_past_entries_are_not_touched() -> None:
    base = entry("XXX") + new(link("XXX")) + new(f'"{link(3)}"')
    canonical = canonicalize(base, base + new("XXX") + new("XXX"), CONTEXT)
    assert canonical.head == base + new(link(77)) + new(link(77))
    assert [block.line("pr-link") for block in canonical.changed] == [23, 29]
    assert canonicalize(base, canonical.head, CONTEXT).changed == ()


def test_problems_outside_the_link_do_not_stop_canonicalize() -> None:
    head = BASE + new("XXX", text="fix for #123", key="unheard-of", more="  evals: x\n")
    assert canonicalize(BASE, head, CONTEXT).head == head.replace(b"XXX", link(77).encode())


@pytest.mark.parametrize(
    "head",
    [
        BASE.replace(b"old", b"new") + new("XXX"),
        BASE + new("TBD"),
        BASE + new(link(75)),
        BASE + b"\n- {config-keys: [a], description: [b], pr-link: XXX}\n",
        BASE + new("XXX") + b">>>>>>> main\n",
    ],
)
def test_a_head_with_link_problems_is_refused(head: bytes) -> None:
    with pytest.raises(ProblemsError):
        canonicalize(BASE, head, CONTEXT)


def test_placeholders_need_a_number_and_own_links_do_not() -> None:
    with pytest.raises(ProblemsError, match=r"Give --pr\."):
        canonicalize(BASE, BASE + new("XXX"), context(number=None))
    assert canonicalize(BASE, BASE + new(f'"{link(5)}"'), context(number=None)).head == BASE + new(link(5))
