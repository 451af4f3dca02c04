"""Make the demo's repository: the project's own configurations, without those that the scenes will add."""

from __future__ import annotations

from pathlib import Path

from infx import yaml12
from infx.adoption.workflows import read_own
from infx.hub.seed import WORKFLOW_FILES

DATA = Path(__file__).with_name("data")
MASTER = "configs/nvidia-master.yaml"
CHANGELOG = "perf-changelog.yaml"
POLICY = "configs/policy.yaml"
CLUSTERS = "configs/clusters.yaml"
SCRIPT = "benchmarks/run.sh"  # the row command, and the launch of all rows without a script of their own

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
    """Return the text of a file that the demo carries."""
    return DATA.joinpath(name).read_text(encoding="utf-8")


def make_base_files() -> dict[str, str]:
    """Return path → text of all files on main before the first scene."""
    configs = ("amd-master.yaml", "runners.yaml", "ci-priority.yaml", "models.yaml", "eval-thresholds.yaml")
    golden = ("dsv41flash_dspark.yaml", "kimik3_dspark.yaml")
    checklists = ("PR_REVIEW_CHECKLIST.md", "PR_REVIEW_CHECKLIST_zh.md")
    master = remove_keys(read_data("nvidia-master.yaml"), OFFLOAD, DISAGG)
    return {
        **{f"configs/{name}": read_data(name) for name in configs},
        **{f"configs/golden-al/{name}": read_data(name) for name in golden},
        **{f"docs/{name}": read_own(name) for name in checklists},
        MASTER: master.replace(read_config_text(ARMS), _render_tp4_only()),
        CHANGELOG: remove_entries(read_data("perf-changelog.yaml"), OFFLOAD, DISAGG, last_of=ARMS),
        POLICY: read_data("policy.yaml"),
        CLUSTERS: read_data("clusters.yaml"),
        **_read_benchmarks(),
        ARMS_SCRIPT: render_serving_script(5, "3.51"),
        ".github/CODEOWNERS": _CODEOWNERS,
        **WORKFLOW_FILES,
    }


def _read_benchmarks() -> dict[str, str]:
    """Return path → text of the engine, the router, the client, and the recipes that run them."""
    paths = (path for path in sorted(DATA.joinpath("benchmarks").iterdir()) if path.is_file())
    return {f"benchmarks/{path.name}": path.read_text(encoding="utf-8") for path in paths}


def make_recipe_files() -> dict[str, str]:
    """Return path → text of the recipes that a sign-off can link."""
    text = "# {model}\n\nServe it with vLLM and its own draft model, {tokens} tokens ahead.\n"
    return {
        "docs/recipes/deepseek-v4.1-flash.md": text.format(model="DeepSeek-V4.1-Flash", tokens=5),
        "docs/recipes/kimi-k3.md": text.format(model="Kimi-K3", tokens=3),
    }


def render_serving_script(tokens: int, length: str) -> str:
    """Return the script of a model's rows; `length` is the acceptance length that the engine simulates."""
    return (
        "#!/usr/bin/env bash\nset -euo pipefail\n"
        f"export SPECULATIVE='{_render_speculative(tokens, length)}'\n"
        f"exec bash {SCRIPT}\n"
    )


def render_deployment_recipe(tokens: int, length: str) -> str:
    """Return the settings of both engines of a disaggregated deployment."""
    return "".join(
        f"{role}:\n  speculative-config: '{_render_speculative(tokens, length)}'\n"
        for role in ("prefill", "decode")
    )


def _render_speculative(tokens: int, length: str) -> str:
    synthetic = f'"rejection_sample_method": "synthetic", "synthetic_acceptance_length": {length}'
    return f'{{"num_speculative_tokens": {tokens}, {synthetic}}}'


def _render_tp4_only() -> str:
    """Return scene B's configuration before its six new points: with only the first search row."""
    lines = read_config_text(ARMS).splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.lstrip().startswith("- {tp"))
    return "".join(lines[: first + 1])


def read_config_text(key: str) -> str:
    """Return a configuration from the project's master file, with the comment above it."""
    return cut_config(read_data("nvidia-master.yaml"), key)


def cut_config(master: str, key: str) -> str:
    """Return a configuration's part of a master file."""
    lines, spans = _find_spans(master)
    return "".join(lines[slice(*spans[key])]).rstrip("\n") + "\n"


def remove_keys(text: str, *keys: str) -> str:
    """Return a master file without some configurations."""
    lines, spans = _find_spans(text)
    removed = {number for key in keys for number in range(*spans[key])}
    return "".join(line for number, line in enumerate(lines) if number not in removed)


def remove_entries(text: str, *keys: str, last_of: str) -> str:
    """Return a changelog without all entries that name one of `keys`, and without the last that names `last_of`."""
    entries = text.rstrip("\n").split("\n\n")
    removed = [entry for entry in entries if any(f"- {key}\n" in entry for key in keys)]
    removed.append([entry for entry in entries if f"- {last_of}\n" in entry][-1])
    return "\n\n".join(entry for entry in entries if entry not in removed) + "\n"


def render_entry(key: str, words: str, link: str, *, extra: str = "") -> str:
    """Return an entry as an author appends it, with the empty line before it."""
    return f'\n- config-keys:\n    - {key}\n{extra}  description:\n    - "{words}"\n  pr-link: {link}\n'


def _find_spans(text: str) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Return the lines, and the span of each top-level key, which includes the comment right above the key."""
    lines = text.splitlines(keepends=True)
    keys = yaml12.find_top_level_keys(text.encode(), MASTER)
    starts = [_find_comment_start(lines, line - 1) for line in keys.values()]
    spans = {}
    for key, start, bound in zip(keys, starts, [*starts[1:], len(lines)], strict=True):
        end = bound
        while lines[end - 1].startswith(("#", "\n")):
            end -= 1
        spans[key] = (start, min(end + 1, bound))  # includes the empty line after the configuration
    return lines, spans


def _find_comment_start(lines: list[str], start: int) -> int:
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return start
