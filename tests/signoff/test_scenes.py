"""Three real pull requests with the project's own configurations, with right and wrong sign-offs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import infx.gather.signoff_links
from infx.signoff.checklist import fill_signature, parse_template
from infx.signoff.facts import LinkState
from tests.signoff.facts import POLICY
from tests.signoff.world import World, open_world

ROOT = Path(__file__).parents[2]
NVIDIA = "configs/nvidia-master.yaml"
PAGE = "https://recipes.vllm.ai/scene"
OWN = (
    "configs/nvidia-master.yaml", "configs/amd-master.yaml", "configs/runners.yaml", "configs/models.yaml",
    "configs/eval-thresholds.yaml", "configs/policy.yaml", "docs/PR_REVIEW_CHECKLIST.md",
    "docs/PR_REVIEW_CHECKLIST_zh.md", ".github/CODEOWNERS",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "configs/golden-al").glob("*.yaml"))),
)  # fmt: skip
PAST = "- config-keys: [dsr1-fp8-h200-sglang]\n  description:\n    - first\n  pr-link: https://github.com/acme/bench/pull/1\n"
SERVE = """vllm serve --speculative-config '{"num_speculative_tokens": %d, "rejection_sample_method": "synthetic", "synthetic_acceptance_length": %s}'\n"""


def own_files() -> dict[str, str]:
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in OWN}


def without(text: str, key: str) -> str:
    """Remove one configuration from a file of configurations."""
    return re.sub(rf"(?m)^{re.escape(key)}:\n(?:(?!\S).*\n)*", "", text)


def entry(key: str, words: str) -> str:
    link = "https://github.com/acme/bench/pull/XXX"
    return f"\n- config-keys:\n    - {key}\n  description:\n    - {words}\n  pr-link: {link}\n"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A pull request and the expected outcomes of its checks."""

    key: str
    words: str
    rows: int
    base: Mapping[str, str]  # files that differ from the project's own
    change: Mapping[str, str] = field(default_factory=dict)  # files that differ from the base
    ends: Mapping[int, str] = field(default_factory=dict)  # statuses other than PASS, by check
    body: str = ""


def scene_a() -> Scene:
    """Add a new model on GB200 with KV offload; its golden length is on the base branch."""
    key = "dsv41flash-fp4-gb200-vllm-agentic-dspark-mooncake"
    script = "benchmarks/agentic/dsv41flash_fp4_gb200_vllm.sh"
    return Scene(
        key=key,
        words="A new model on GB200",
        rows=11,
        base={NVIDIA: without(own_files()[NVIDIA], key)},
        change={script: SERVE % (5, "3.51")},
        ends={3: "WARN", 12: "N/A", 13: "WARN", 15: "N/A"},
    )


def scene_b() -> Scene:
    """Add two parallelisms to an unchanged grid; each of the three has one accuracy run."""
    key = "dsv41flash-fp4-b300-vllm-agentic-dspark"
    text = own_files()[NVIDIA]
    block = re.search(rf"(?m)^{key}:\n(?:(?!\S).*\n)*", text)
    assert block is not None
    arms = block[0].index("          - {tp: 4, ep: 4, spec")
    script = "benchmarks/agentic/dsv41flash_fp4_b300_vllm.sh"
    return Scene(
        key=key,
        words="TEP4 and DEP4 next to TP4",
        rows=17,
        base={NVIDIA: text.replace(block[0], block[0][:arms] + "\n"), script: SERVE % (5, "3.51")},
        change={script: SERVE % (5, "3.51")},
        ends={3: "WARN", 12: "N/A", 13: "WARN", 15: "N/A"},
    )


def scene_c() -> Scene:
    """Add a disaggregated deployment with one point, whose recipe names the length; the frontier needs a settlement."""
    key = "kimik3-fp4-b300-dynamo-vllm-agentic-dspark-mooncake-dcp8-disagg-1p1d"
    recipe = "recipes/vllm/kimi-k3/agentic/disagg-b300-1p1d-dcp8-dspark-mooncake.yaml"
    return Scene(
        key=key,
        words="Kimi-K3, disaggregated",
        rows=3,  # one of throughput, two accuracy runs: the common one and the vendor's
        base={NVIDIA: without(own_files()[NVIDIA], key)},
        change={recipe: SERVE % (3, "2.87")},
        ends={3: "WARN", 6: "PASS", 12: "N/A", 13: "WARN", 14: "WARN", 15: "N/A"},
    )


SCENES = {"A": scene_a, "B": scene_b, "C": scene_c}


@pytest.fixture(params=sorted(SCENES))
def scene(request: pytest.FixtureRequest) -> Scene:
    return SCENES[str(request.param)]()


@pytest.fixture
def world(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Open the scene's pull request, without a sweep."""
    monkeypatch.setattr(
        infx.gather.signoff_links,
        "fetch_page",
        lambda url: LinkState.PUBLISHED if url == PAGE else LinkState.MISSING,
    )
    base = {**own_files(), "perf-changelog.yaml": PAST, **scene.base}
    change = {NVIDIA: own_files()[NVIDIA], "perf-changelog.yaml": PAST + entry(scene.key, scene.words)}
    with open_world(tmp_path, base, {**change, **scene.change}) as made:
        made.hub.state.pulls[77].body = scene.body
        yield made


def signed(login: str, *, skip: str = "", detail: str = PAGE) -> str:
    template = parse_template(own_files()["docs/PR_REVIEW_CHECKLIST.md"], POLICY.signoff.phrase)
    lines = [line for line in template.replace("[ ]", "[x]").split("\n") if not skip or skip not in line]
    return fill_signature("\n".join(lines).replace("Recipe:\n", f"Recipe: {detail}\n"), login)


def checks(world: World) -> dict[int, str]:
    called = world.verify("--pr", "77", "--format", "json")
    return {check["number"]: check["status"] for check in json.loads(called.out)["checks"]}


def test_a_right_signoff_turns_green_after_settlements(scene: Scene, world: World) -> None:
    assert len(world.rows()) == scene.rows
    run = world.sweep()
    world.hub.comment(77, f"/use {run.id}", by="mia")
    world.sign(signed("noor"))
    statuses = checks(world)
    assert statuses == {**dict.fromkeys(range(16), "PASS"), **scene.ends}
    world.verify("--pr", "77", "--publish")
    for number, status in scene.ends.items():
        if status == "WARN":
            world.hub.comment(77, f"/settle {number} compared it line by line", by="mia")
    world.verify("--pr", "77", "--publish")
    state, text = world.status() or ("", "")
    assert (state, text.startswith("Signed off by noor at ")) == ("success", True)


@pytest.mark.parametrize(
    ("wrong", "failing"),
    [
        ({"by": "amy"}, {0}),
        ({"skip": "**Golden"}, {5}),
        ({"detail": "none"}, {3}),
        ({"fail": True}, {1}),
        ({"score": 0.2}, {2}),
    ],
    ids=["other owner", "older checklist", "no recipe", "row failed", "low score"],
)
def test_a_wrong_signoff_is_rejected(world: World, wrong: dict[str, Any], failing: set[int]) -> None:
    run = world.sweep(failing=[0] if wrong.get("fail") else (), score=wrong.get("score", 0.95))
    world.hub.comment(77, f"/use {run.id}", by="mia")
    login = wrong.get("by", "noor")
    world.sign(signed(login, skip=wrong.get("skip", ""), detail=wrong.get("detail", PAGE)), by=login)
    assert {number for number, status in checks(world).items() if status == "FAIL"} == failing
    world.verify("--pr", "77", "--publish")
    assert world.verdicts()[0].startswith("## ❌❌❌ **REJECTED** ❌❌❌\n@" + login)
    assert (world.status() or ("",))[0] == "failure"
