"""The repository in which the demo plays: the project's own configurations, without what the scenes will add."""

from __future__ import annotations

from pathlib import Path

from infx import yaml12
from infx.hub.seed import WORKFLOW_FILES

DATA = Path(__file__).with_name("data")
MASTER = "configs/nvidia-master.yaml"
CHANGELOG = "perf-changelog.yaml"
POLICY = "configs/policy.yaml"
SCRIPT = "benchmarks/run.py"

OFFLOAD = "dsv41flash-fp4-gb200-vllm-agentic-dspark-mooncake"
OFFLOAD_SCRIPT = "benchmarks/agentic/dsv41flash_fp4_gb200_vllm.sh"
ARMS = "dsv41flash-fp4-b300-vllm-agentic-dspark"
ARMS_SCRIPT = "benchmarks/agentic/dsv41flash_fp4_b300_vllm.sh"
DISAGG = "kimik3-fp4-b300-dynamo-vllm-agentic-dspark-mooncake-dcp8-disagg-1p1d"
DISAGG_RECIPE = "recipes/vllm/kimi-k3/agentic/disagg-b300-1p1d-dcp8-dspark-mooncake.yaml"

_CODEOWNERS = """\
* @mia
/configs/nvidia-master.yaml @noor
/configs/amd-master.yaml @amy
"""


def read_data(name: str) -> str:
    return DATA.joinpath(name).read_text(encoding="utf-8")


def base_files() -> dict[str, str]:
    """Path → text of everything on main before the first scene."""
    configs = ("amd-master.yaml", "runners.yaml", "ci-priority.yaml", "models.yaml", "eval-thresholds.yaml")
    golden = ("dsv41flash_dspark.yaml", "kimik3_dspark.yaml")
    checklists = ("PR_REVIEW_CHECKLIST.md", "PR_REVIEW_CHECKLIST_zh.md")
    master = without_keys(read_data("nvidia-master.yaml"), OFFLOAD, DISAGG)
    return {
        **{f"configs/{name}": read_data(name) for name in configs},
        **{f"configs/golden-al/{name}": read_data(name) for name in golden},
        **{f"docs/{name}": read_data(name) for name in checklists},
        MASTER: master.replace(config_text(ARMS), _tp4_alone()),
        CHANGELOG: without_entries(read_data("perf-changelog.yaml"), OFFLOAD, DISAGG, last_of=ARMS),
        POLICY: read_data("policy.yaml"),
        SCRIPT: read_data("run.py"),
        ARMS_SCRIPT: serving_script(5, "3.51"),
        ".github/CODEOWNERS": _CODEOWNERS,
        **WORKFLOW_FILES,
    }


def recipe_files() -> dict[str, str]:
    """What a sign-off can link as upstream's recipe."""
    text = "# {model}\n\nServe it with vLLM and its own draft model, {tokens} tokens ahead.\n"
    return {
        "docs/recipes/deepseek-v4.1-flash.md": text.format(model="DeepSeek-V4.1-Flash", tokens=5),
        "docs/recipes/kimi-k3.md": text.format(model="Kimi-K3", tokens=3),
    }


def serving_script(tokens: int, length: str) -> str:
    """How a row starts the engine. length: of the acceptance that it simulates."""
    return (
        "#!/usr/bin/env bash\nset -euo pipefail\n"
        'vllm serve "$MODEL" --tensor-parallel-size "$TP" \\\n'
        f"  --speculative-config '{_speculative(tokens, length)}'\n"
    )


def deployment_recipe(tokens: int, length: str) -> str:
    """The same for both engines of a disaggregated deployment."""
    return "".join(
        f"{role}:\n  speculative-config: '{_speculative(tokens, length)}'\n" for role in ("prefill", "decode")
    )


def _speculative(tokens: int, length: str) -> str:
    synthetic = f'"rejection_sample_method": "synthetic", "synthetic_acceptance_length": {length}'
    return f'{{"num_speculative_tokens": {tokens}, {synthetic}}}'


def _tp4_alone() -> str:
    """Scene B's configuration before its six new points: the first of its search rows."""
    lines = config_text(ARMS).splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.lstrip().startswith("- {tp"))
    return "".join(lines[: first + 1])


def config_text(key: str) -> str:
    """One entry of the master file, as it stands there, with the comment above it."""
    return part_of(read_data("nvidia-master.yaml"), key)


def part_of(master: str, key: str) -> str:
    lines, spans = _spans(master)
    return "".join(lines[slice(*spans[key])]).rstrip("\n") + "\n"


def without_keys(text: str, *keys: str) -> str:
    lines, spans = _spans(text)
    gone = {number for key in keys for number in range(*spans[key])}
    return "".join(line for number, line in enumerate(lines) if number not in gone)


def without_entries(text: str, *keys: str, last_of: str) -> str:
    """The changelog without the entries that name one of these keys, and without the last that names another."""
    entries = text.rstrip("\n").split("\n\n")
    gone = [entry for entry in entries if any(f"- {key}\n" in entry for key in keys)]
    gone.append([entry for entry in entries if f"- {last_of}\n" in entry][-1])
    return "\n\n".join(entry for entry in entries if entry not in gone) + "\n"


def entry_text(key: str, words: str, link: str, *, extra: str = "") -> str:
    """An entry as an author appends it, with the empty line before it."""
    return f'\n- config-keys:\n    - {key}\n{extra}  description:\n    - "{words}"\n  pr-link: {link}\n'


def _spans(text: str) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Lines, and for each top-level key its lines; a comment right above a key belongs to it."""
    lines = text.splitlines(keepends=True)
    keys = yaml12.find_top_level_keys(text.encode(), MASTER)
    starts = [_upwards(lines, line - 1) for line in keys.values()]
    spans = {}
    for key, start, bound in zip(keys, starts, [*starts[1:], len(lines)], strict=True):
        end = bound
        while lines[end - 1].startswith(("#", "\n")):
            end -= 1
        spans[key] = (start, min(end + 1, bound))  # the empty line after it goes with it
    return lines, spans


def _upwards(lines: list[str], start: int) -> int:
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return start
