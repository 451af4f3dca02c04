"""The example in `docs/policy.md` shows how a file overlays the default."""

from __future__ import annotations

import re

from infx import yaml12
from infx.policy.show import parse_effective, render_yaml
from tests.conftest import ROOT


def test_the_example_is_what_the_command_shows() -> None:
    page = (ROOT / "docs/policy.md").read_text(encoding="utf-8")
    own, shown = re.findall(r"(?ms)^```yaml\n(.*?)^```$", page)
    policy = parse_effective(own.encode(), "configs/policy.yaml")
    parts = {name: policy.values[name] for name in yaml12.load(shown.encode(), "x").value}
    assert list(parts) == ["repository", "identities", "sweep", "labels"]
    assert render_yaml(policy, parts, (), with_origin=False) == shown.rstrip("\n")
    assert policy.find_origin(("sweep", "row-minutes")) == ("configs/policy.yaml", 4)
    assert policy.find_origin(("sweep", "job"))[0] == "infx/policy/default.yaml"
