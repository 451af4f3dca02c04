from __future__ import annotations

import pytest

from infx.changelog.merge import MergeRefusedError, is_main, resolve
from tests.changelog.samples import BASE, LINKS, entry, link, new

MINE = new("XXX", text='"mine"')
MAIN = BASE + new(link(80), text='"theirs"')


def merged(ancestor: bytes, one: bytes, other: bytes, *versions: bytes, number: int | None = None) -> bytes:
    return resolve(ancestor, one, other, versions, LINKS, number=number).data


@pytest.mark.parametrize("number", [None, 77])
def test_main_goes_first_whatever_side_it_is(number: int | None) -> None:
    expected = MAIN + (MINE if number is None else new(link(77), text='"mine"'))
    assert merged(BASE, BASE + MINE, MAIN, MAIN, number=number) == expected
    assert merged(BASE, MAIN, BASE + MINE, MAIN, number=number) == expected


def test_without_a_known_main_the_checked_out_side_goes_first() -> None:
    assert merged(BASE, BASE + MINE, MAIN) == BASE + MINE + new(link(80), text='"theirs"')
    assert merged(BASE, MAIN, BASE + MINE) == MAIN + MINE


@pytest.mark.parametrize(
    ("one", "other", "versions", "expected"),
    [
        (MAIN, BASE + MINE, [MAIN], True),
        (BASE + MINE, MAIN, [MAIN], False),
        (MAIN, BASE + MINE, [MAIN + new(link(90))], True),  # main has moved on since
        (MAIN + MINE, BASE + new("YYY"), [MAIN], True),  # commits replayed on main
        (MAIN, BASE + MINE, [BASE, MAIN], True),  # the remote's branch is behind the local one
        (MAIN, MAIN + MINE, [MAIN], True),
        (BASE + MINE, BASE + new("YYY"), [BASE], None),
        (BASE + MINE, BASE + new("YYY"), [], None),
        (BASE, BASE, [BASE], None),
    ],
)
def test_main_is_recognized_by_content(
    one: bytes, other: bytes, versions: list[bytes], expected: bool | None
) -> None:
    assert is_main(one, other, versions) is expected


def test_the_remotes_branch_counts_before_the_local_branch() -> None:
    """Pull with an own entry on the local base branch: the published entries go first."""
    local = BASE + MINE
    assert is_main(local, MAIN, [MAIN, local]) is False


def test_an_entry_that_main_contains_is_not_repeated() -> None:
    landed = BASE + new(link(77), text='"mine"') + new(link(80))
    assert merged(BASE, BASE + MINE, landed, landed) == landed
    assert merged(BASE, BASE + MINE + new("XXX", text='"more"'), landed, landed) == landed + new(
        "XXX", text='"more"'
    )


def test_each_entry_of_main_matches_one_entry_of_the_other_side() -> None:
    landed = BASE + new(link(77), text='"mine"')
    assert merged(BASE, BASE + MINE + MINE, landed, landed, number=77) == landed + new(
        link(77), text='"mine"'
    )


def test_the_same_text_with_two_numbers_is_two_entries() -> None:
    main = BASE + new(link(80), text='"mine"')
    assert merged(BASE, BASE + new(link(77), text='"mine"'), main, main) == main + new(
        link(77), text='"mine"'
    )
    assert merged(BASE, BASE + MINE, main, main, number=77) == main + new(link(77), text='"mine"')


def test_a_deliberate_repeat_of_an_old_entry_survives() -> None:
    repeat = b"\n" + BASE
    assert merged(BASE, BASE + repeat, MAIN, MAIN) == MAIN + repeat


@pytest.mark.parametrize(
    ("base", "main_end", "separator"),
    [(BASE[:-1], b"", b"\n\n"), (BASE, b"\n", b""), (BASE, b"  \n", b"\n"), (BASE, b"", b"\n")],
)
def test_the_seam(base: bytes, main_end: bytes, separator: bytes) -> None:
    """Keep main's bytes, whatever their end, and add one empty line."""
    complete = base if base.endswith(b"\n") else base + b"\n"
    main = complete + new(link(80)) + main_end
    if base is not BASE:
        main = main[:-1]
    assert merged(base, complete + MINE, main, main) == main + separator + MINE[1:]


def test_bytes_of_an_entry_are_kept() -> None:
    odd = b"\n- config-keys: [ a,b ] # so\n  description:\n  - 'x'\n\n  - y\n  pr-link:   XXX   # later\n# last words\n"
    assert merged(BASE, BASE + odd, MAIN, MAIN) == MAIN + odd
    assert merged(BASE, (BASE + odd)[:-1], MAIN, MAIN) == MAIN + odd


@pytest.mark.parametrize("style", ['"XXX"', "'XXX'", "|-\n    XXX", "XXX # later", link("XXX")])
def test_links_become_canonical_where_the_number_is_known(style: str) -> None:
    assert merged(BASE, BASE + new(style), MAIN, MAIN, number=77) == MAIN + new(link(77))


def test_another_number_is_left_alone() -> None:
    assert merged(BASE, BASE + new(link(75)), MAIN, MAIN, number=77) == MAIN + new(link(75))


def test_a_second_commit_is_replayed_on_the_first() -> None:
    """Rebase: the ancestor contains the branch's first entry, and main has another entry before it."""
    first, second = MINE, new("XXX", text='"second"')
    assert merged(BASE + first, MAIN + first, BASE + first + second, MAIN) == MAIN + first + second


def test_a_correction_and_an_append_are_combined() -> None:
    base = entry("TBD")
    corrected, appended = entry(link(9)), base + MINE
    assert merged(base, corrected, appended, corrected) == corrected + MINE
    assert merged(base, appended, corrected, appended) == corrected + MINE


@pytest.mark.parametrize(
    ("ancestor", "one", "other"),
    [
        (BASE + MINE, BASE + MINE + new(link(80)), BASE),  # a revert
        (BASE, BASE + MINE, BASE.replace(b"old", b"new")),  # an edit
        (BASE, MAIN, entry(link(11), text='"old one"')),  # a link that needed no correction
        (BASE, MAIN, BASE.replace(b"old", b"new") + MINE),
        (BASE, MAIN, BASE + b"\n- broken: [\n"),
        (BASE, MAIN, BASE + b"\n# remark\n" + entry()),
        (BASE, MAIN, BASE + b"\n<<<<<<< HEAD\n" + entry() + b"=======\n>>>>>>> x\n"),
        (BASE + MINE, MAIN + MINE, BASE + MINE + new("YYY")),  # main is unknown, and more than an append
    ],
)
def test_a_merge_of_more_than_two_appends_is_refused(ancestor: bytes, one: bytes, other: bytes) -> None:
    versions = () if ancestor.startswith(BASE + MINE) and one.startswith(MAIN) else (one,)
    with pytest.raises(MergeRefusedError):
        resolve(ancestor, one, other, versions, LINKS)


def test_main_may_edit_past_entries() -> None:
    edited = BASE.replace(b"old", b"new") + new(link(80))
    assert merged(BASE, BASE + MINE, edited, edited) == edited + MINE


def test_an_entry_reworded_while_it_is_replayed() -> None:
    first, reworded, second = MINE, new("XXX", text='"better"'), new("XXX", text='"second"')
    assert merged(BASE + first, MAIN + reworded, BASE + first + second, MAIN) == MAIN + reworded + second


def test_both_sides_may_have_added_the_file() -> None:
    assert merged(
        b"", entry("XXX"), entry(link(80), text='"other"'), entry(link(80), text='"other"')
    ) == entry(link(80), text='"other"') + new("XXX")


@pytest.mark.parametrize(
    "rewritten",
    [
        b"",  # taken back
        new("XXX", text='"reworded"'),
        new(link(77)),
        MINE + MINE.replace(b"new", b"second"),
        MINE.replace(b"new", b"first") + MINE,
    ],
)
def test_a_replayed_commit_may_change_its_own_entries(rewritten: bytes) -> None:
    main = BASE + new(link(80), text='"theirs"')
    resolved = resolve(BASE + MINE, main + MINE, BASE + rewritten, [main], LINKS)
    assert resolved.data == main + rewritten


def test_a_replayed_commit_may_not_change_merged_entries() -> None:
    main = BASE + MINE + new(link(80))
    with pytest.raises(MergeRefusedError):
        resolve(BASE + MINE, main + MINE, BASE.replace(b"old", b"new") + MINE, [main], LINKS)
    with pytest.raises(MergeRefusedError):  # main has merged the entry since
        resolve(BASE + MINE, main, BASE, [main], LINKS)


def test_a_replayed_link_becomes_canonical_if_the_number_is_known() -> None:
    reworded = new("XXX", text='"reworded"')
    data = merged(BASE + MINE, MAIN + MINE, BASE + reworded, MAIN, number=77)
    assert data == MAIN + new(link(77), text='"reworded"')
