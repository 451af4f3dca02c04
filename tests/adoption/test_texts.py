"""Check single texts of the files that `infx init` makes."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from infx import yaml12
from infx.adoption.answers import Pin
from infx.adoption.text import render_scalar
from infx.adoption.workflows import adapt_workflow, read_workflow, render_shadow, render_workflows
from infx.gather.adoption import find_own_pin
from infx.gather.installation import parse_direct_url
from infx.policy.load import default_policy
from tests.adoption.made import SHA
from tests.conftest import ROOT

PIN = Pin(repository="your-org/infx", sha=SHA, tag="v1.0")
NAMES = sorted(path.stem for path in (ROOT / ".github/workflows").glob("*.yml"))
# `ci` and `release` are about infx itself; `stage` needs a staging site of the repository.
LEFT_OUT = {"ci", "release", "stage"}


@settings(max_examples=settings().max_examples // 4)
@given(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,8}", fullmatch=True)
    | st.sampled_from(["NO", "0x1", "1e3", "null"])
)
def test_properties_of_a_scalar_in_yaml(text: str) -> None:
    line = f"{render_scalar(text)}: [{render_scalar(text)}]\n"
    assert yaml12.load(line.encode(), "x").value == {text: [text]}
    assert yaml.safe_load(line) == {text: [text]}


def test_a_workflow_differs_from_infx_own_only_in_its_actions() -> None:
    for name in set(NAMES) - LEFT_OUT:
        own = (ROOT / f".github/workflows/{name}.yml").read_text()
        made = adapt_workflow(read_workflow(name), default_policy(), PIN)
        changed = [line for line in difflib.ndiff(own.splitlines(), made.splitlines()) if line[0] in "+-"]
        removed = [line[2:] for line in changed if line[0] == "-"]
        assert [line[2:] for line in changed if line[0] == "+"] == [
            re.sub(r"\./\.infx(/\.github/actions/[a-z]+)$", rf"your-org/infx\1@{SHA} # v1.0", line)
            for line in removed
        ]
        assert len(removed) == own.count("uses: ./.infx/"), name


def test_every_workflow_of_infx_is_made_or_left_out_for_a_reason() -> None:
    made = {
        **render_workflows(default_policy(), PIN, has_signoffs=True, has_app=True),
        **render_shadow(default_policy(), PIN),
    }
    assert {f".github/workflows/{name}.yml" for name in set(NAMES) - LEFT_OUT} == set(made) - {
        ".github/zizmor.yml"
    }


def test_workflows_have_no_default_name_that_the_policy_changes() -> None:
    paths = ("changelog", "runners", "clusters", "priorities", "eval_thresholds")
    changes: dict[str, Any] = {"base_branch": "trunk", **{name: f"other/{name}.yaml" for name in paths}}
    policy = replace(default_policy(), **changes)
    text = "".join(render_workflows(policy, PIN, has_signoffs=True, has_app=True).values())
    for name in paths:
        assert getattr(default_policy(), name) not in text
        assert f"other/{name}.yaml" in text
    assert "[main]" not in text


@pytest.mark.parametrize(
    ("url", "vcs", "pin"),
    [
        ("https://github.com/acme/infx.git", {"commit_id": SHA, "requested_revision": "v1.2.0"}, f"acme/infx@{SHA} # v1.2.0"),
        ("https://github.com/acme/infx", {"commit_id": SHA, "requested_revision": "main"}, f"acme/infx@{SHA}"),
        ("ssh://git@github.com/acme/infx", {"commit_id": SHA, "requested_revision": SHA}, f"acme/infx@{SHA}"),
        ("https://github.com/acme/infx", {"commit_id": SHA, "requested_revision": SHA[:7]}, f"acme/infx@{SHA}"),
        ("https://github.com/acme/infx", {"commit_id": SHA}, f"acme/infx@{SHA}"),
        ("file:///home/mia/infx", {"commit_id": SHA}, None),
        ("file:///home/mia/infx", None, None),
        ("https://example.com/infx-1.0.tar.gz", None, None),
    ],
)  # fmt: skip
def test_the_pin_comes_from_an_installation_by_git_only(
    url: str, vcs: dict[str, Any] | None, pin: str | None
) -> None:
    value = {"url": url, **({"vcs_info": {"vcs": "git", **vcs}} if vcs else {"dir_info": {"editable": True}})}
    assert find_own_pin(parse_direct_url(json.dumps(value))) == pin
