"""Sample data for `infx hub serve`: a small repository with pull requests that each show one situation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infx.hub.hub import Hub
from infx.policy.load import default_policy

NVIDIA, AMD, RUNNERS, CHANGELOG, POLICY = (
    "configs/nvidia-master.yaml",
    "configs/amd-master.yaml",
    "configs/runners.yaml",
    "perf-changelog.yaml",
    "configs/policy.yaml",
)

CONFIG = """\
{key}:
  image: lmsysorg/sglang:v0.5.16-cu129
  model: deepseek-ai/DeepSeek-R1-0528
  model-prefix: dsr1
  precision: fp8
  framework: sglang
  runner: {runner}
  multinode: false
  scenarios:
    fixed-seq-len:
      - isl: 1024
        osl: 1024
        search-space:
          - {{tp: 8, conc-start: 4, conc-end: {most}}}
"""

_RUNNERS = """\
labels:
  h200: [h200-cw_00, h200-cw_01]
  b200: [b200-nb_00]
  mi300x: [mi300x-amd_00]
  cluster:h200-cw: [h200-cw_00, h200-cw_01]
  cluster:b200-nb: [b200-nb_00]
  cluster:mi300x-amd: [mi300x-amd_00]
clusters:
  h200-cw: {scheduler: slurm, slurm: {partition: batch, exclusive: true}, gpus-per-node: 8}
  b200-nb: {scheduler: slurm, slurm: {partition: batch, exclusive: true}, gpus-per-node: 8}
  mi300x-amd: {scheduler: slurm, slurm: {partition: batch, exclusive: true}, gpus-per-node: 8}
"""

# `infx approve` dispatches this workflow; it has the same inputs as the project's run-sweep.yml.
_RUN_SWEEP = """\
name: run-sweep
run-name: ${{ inputs.pr && format('PR {0} at {1}{2}{3}', inputs.pr, inputs.head-ref || 'its head', inputs.complete && ', completes run ' || '', inputs.complete) || '' }}
on:
  pull_request:
    types: [opened, reopened, synchronize, labeled, unlabeled, ready_for_review, closed]
  workflow_dispatch:
    inputs:
      command: {}
      base-ref: {}
      head-ref: {}
      pr: {}
      merge-sha: {}
      trim: {type: boolean, default: false}
      fail-fast: {type: boolean, default: false}
      modifiers: {}
      only: {}
      complete: {}
permissions: {}
jobs:
  gate:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    steps:
      - run: "true"
"""
WORKFLOW_FILES = {".github/workflows/run-sweep.yml": _RUN_SWEEP}


def _entry(key: str, words: str, link: str) -> str:
    return f'- config-keys:\n    - {key}\n  description:\n    - "{words}"\n  pr-link: {link}\n'


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sample pull request, as `infx hub serve` prints it: "pull request <number> <words>"."""

    number: int
    words: str


def add_people(hub: Hub) -> None:
    """Add the people of the repository, for a hub with or without samples."""
    for login, role in {"mia": "admin", "cody": "write", "amy": "write", "noor": "write"}.items():
        hub.account(login, role=role)


def seed(hub: Hub) -> Sequence[Sample]:
    """Fill an empty hub with samples, always with the same numbers, names and texts."""
    add_people(hub)
    link = f"{hub.web}/{hub.repository}/pull"
    nvidia = CONFIG.format(key="dsr1-fp8-h200-sglang", runner="h200", most=64)
    first = _entry("dsr1-fp8-h200-sglang", "Measure DeepSeek-R1 on H200 with SGLang.", f"{link}/1")
    amd = CONFIG.format(key="dsr1-fp8-mi300x-sglang", runner="mi300x", most=64)
    files = {NVIDIA: nvidia, AMD: amd, RUNNERS: _RUNNERS, CHANGELOG: first}
    files |= {
        POLICY: f"repository: {hub.repository}\n",
        **WORKFLOW_FILES,
        ".github/CODEOWNERS": "* @mia\nconfigs/nvidia-master.yaml @noor\nconfigs/amd-master.yaml @amy\n",
    }
    hub.push(hub.branch, files, "Measure DeepSeek-R1 on H200 and MI300X", by="mia")
    hub.state.ids["number"] = 10

    def append(
        branch: str, by: str, title: str, most: int, pr_link: str, base: str, labels: Sequence[str]
    ) -> int:
        wider = CONFIG.format(key="dsr1-fp8-h200-sglang", runner="h200", most=most)
        changes = {NVIDIA: wider, CHANGELOG: f"{base}\n{_entry('dsr1-fp8-h200-sglang', title, pr_link)}"}
        hub.push(branch, changes, title, by=by)
        return hub.open_pull(branch, title=title, by=by, labels=labels).number

    first_label, second_label, *_ = default_policy().labels.primary
    late = append("late", "cody", "Measure up to concurrency 512.", 512, "XXX", first, [first_label])
    second = f"{first}\n{_entry('dsr1-fp8-mi300x-sglang', 'Measure DeepSeek-R1 on MI300X.', f'{link}/2')}"
    hub.push(hub.branch, {CHANGELOG: second}, "Record the MI300X entry", by="mia")
    ready = append("ready", "cody", "Measure up to concurrency 128.", 128, "XXX", second, [])
    both_labels = [first_label, second_label]
    both = append("both-labels", "amy", "Measure up to concurrency 256.", 256, "XXX", second, both_labels)
    typo = append("typo", "noor", "Measure up to concurrency 32.", 32, "TBD", second, [first_label])
    return [
        Sample(number=late, words="conflicts with the base branch, in the changelog"),
        Sample(number=ready, words="is ready and has no label yet"),
        Sample(number=both, words="has two labels that each start a sweep"),
        Sample(number=typo, words="has a changelog entry with an invalid link"),
    ]
