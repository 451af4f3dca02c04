"""The example in `docs/hub.md` runs, and its table has every fault."""

from __future__ import annotations

import re

from infx.hub import FaultKind
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "hub.md").read_text(encoding="utf-8")


def test_the_example_runs() -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(example, "docs/hub.md", "exec"), {})


def test_every_fault_is_described() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == [kind.name for kind in FaultKind]
