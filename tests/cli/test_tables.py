"""Check how tables fit a terminal."""

from __future__ import annotations

from infx.cli.tables import Column, Section, render_table


def test_columns_with_long_texts_share_a_narrow_terminal() -> None:
    columns = (Column(name="state"), Column(name="what", wraps=True), Column(name="fix", wraps=True))
    long, longer = "word " * 30, "word " * 60
    text = render_table(columns, [Section(rows=[("missing", long.strip(), longer.strip())])], width=89)
    first = text.splitlines()[1]
    # 89 characters less `missing` and two gaps of two are 78, so each long column gets 39: 7 words of 5 characters,
    # and the last word without its blank.
    assert first.split("  ") == ["missing", "word " * 7 + "word", "word " * 7 + "word"]


def test_a_short_column_keeps_its_width_next_to_a_long_one() -> None:
    columns = (Column(name="what", wraps=True), Column(name="fix", wraps=True))
    text = render_table(columns, [Section(rows=[("a short text of 26 letters", "word " * 40)])], width=60)
    assert text.splitlines()[1].startswith("a short text of 26 letters  word")
    assert max(map(len, text.splitlines()[1:])) <= 60
