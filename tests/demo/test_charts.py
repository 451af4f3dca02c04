from __future__ import annotations

import pytest

from infx.demo.charts import choose_ticks


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [
        (0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (9.9, [0, 2, 4, 6, 8, 10]),
        (100, [0, 20, 40, 60, 80, 100]),
        (101, [0, 25, 50, 75, 100, 125]),
        (1300, [0, 500, 1000, 1500]),
        (11266, [0, 2500, 5000, 7500, 10000, 12500]),
    ],
)
def test_an_axis_has_round_steps_and_ends_after_its_last_point(largest: float, ticks: list[float]) -> None:
    assert choose_ticks(largest) == pytest.approx(ticks)
