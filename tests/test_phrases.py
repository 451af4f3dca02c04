from __future__ import annotations

from infx.phrases import count, join_some, join_words


def test_a_count_uses_the_singular_only_for_1() -> None:
    assert [count(number, "row") for number in (0, 1, 2, 2000)] == ["0 rows", "1 row", "2 rows", "2,000 rows"]
    assert [count(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]


def test_words_are_joined_with_commas_and_a_last_word() -> None:
    assert [join_words(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert join_words(("a", "b"), "or") == "a or b"
    assert [join_words(("a", "b", "c"), limit=limit) for limit in (3, 2, 1)] == [
        "a, b and c",
        "a, b and 1 more",
        "a and 2 more",
    ]
    assert join_words(["x"] * 3000, limit=1) == "x and 2,999 more"


def test_a_long_list_is_cut_and_the_remaining_words_are_counted() -> None:
    assert [join_some(["a", "b", "c"][:number], 2) for number in range(4)] == [
        "",
        "a",
        "a, b",
        "a, b and 1 more",
    ]
    assert join_some(["x"] * 3000, 1, separator="; ") == "x and 2,999 more"
