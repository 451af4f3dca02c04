"""Random lives of three concurrent pull requests end with the changelog that the authors wrote, entry by entry."""

from __future__ import annotations

from random import Random

import pytest

from tests.merge.lives import Life
from tests.merge.world import World


def play(world: World, seed: int, *, is_whole: bool, steps: int, is_settled: bool) -> None:
    random = Random(seed)
    life = Life(world, random, is_whole=is_whole, has_queue=random.random() < 0.6)
    life.begin()
    life.live(steps)
    if is_settled:
        life.settle()
        life.check_end()
    life.check_costs()


@pytest.mark.parametrize("seed", range(20))
def test_main_has_every_merged_entry_once_and_in_order(world: World, seed: int) -> None:
    """Every tenth life goes on until all is merged, which takes most of the time."""
    play(world, seed, is_whole=False, steps=8, is_settled=seed % 10 == 7)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(200))
def test_main_after_a_long_life_in_which_infx_publishes(world: World, seed: int) -> None:
    play(world, seed, is_whole=True, steps=40, is_settled=True)
