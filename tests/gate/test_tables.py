"""docs/sweeps.md shows the gate's rules. `INFX_REFRESH=1` writes its tables again."""

from __future__ import annotations

import os
import re
import string

import pytest

from infx.gate.decision import Reason
from infx.gate.other_rules import DISPATCH, DISPATCH_FOR_PULL, PUSH
from infx.gate.rules import PULL_REQUEST, GateRule
from infx.policy.load import default_policy
from tests.conftest import ROOT
from tests.gate.tables import fill_tables

PAGE = ROOT / "docs" / "sweeps.md"
REFRESH = os.environ.get("INFX_REFRESH") == "1"  # read now: tests see no INFX_ variables
TABLES = {
    "pull-request": PULL_REQUEST,
    "dispatch-for-pull": DISPATCH_FOR_PULL,
    "dispatch": DISPATCH,
    "push": PUSH,
}


def test_the_page_shows_the_rules() -> None:
    page = PAGE.read_text(encoding="utf-8")
    wanted = fill_tables(page, default_policy())
    if REFRESH:
        PAGE.write_text(wanted, encoding="utf-8")
        return
    assert wanted == page, "INFX_REFRESH=1 pytest tests/gate/test_tables.py writes the tables again"


def test_every_label_and_reason_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    labels = default_policy().labels
    for name in (*labels.primary, *labels.modifiers):
        assert f"`{name}`" in page
    elsewhere = {Reason.MERGE_GROUP, Reason.COMMENT, Reason.OTHER_EVENT}  # they have no table
    for reason in set(Reason) - elsewhere:
        assert f"`{reason}`" in page


def test_every_command_on_the_page_exists() -> None:
    from infx.cli import COMMANDS

    for command in re.findall(r"(?:^|`)infx ([a-z-]+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        assert command in COMMANDS


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_a_table_ends_with_a_rule_that_always_holds(rules: tuple[GateRule, ...]) -> None:
    assert rules[-1].reason is Reason.READY
    assert len({rule.reason for rule in rules}) == len(rules)


OWN_CLAUSES = {"how", "inputs_problem"}  # names in braces that infx fills with its own clauses


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_no_clause_begins_with_a_name(rules: tuple[GateRule, ...]) -> None:
    """A clause may become a sentence, and labels, logins, files and options must keep their case."""
    for rule in rules:
        first = rule.words.split(" ")[0]
        assert re.fullmatch(r"[a-z]+|GitHub", first) or first in {f"{{{name}}}" for name in OWN_CLAUSES}, (
            rule.words
        )


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_sentences_are_well_formed(rules: tuple[GateRule, ...]) -> None:
    """`words` is a clause that can follow `No sweep:`; `fix` is full sentences."""
    for rule in rules:
        assert not rule.words.endswith(".")
        assert rule.fix == "" or rule.fix.rstrip("`")[-1] in ".}", rule.reason
        names = [
            name for _, name, _, _ in string.Formatter().parse(rule.words + rule.fix) if name is not None
        ]
        assert all(re.fullmatch(r"[a-z_]+", name) for name in names)
