"""A small repository that adopts infx: one configuration, a policy, a row command, and branches that change it."""

from __future__ import annotations

from pathlib import Path

from infx.hub.seed import CONFIG
from tests.repository import Repository

KEY = "dsr1-fp8-h200-sglang"
HOSTILE = "feat/$(touch${IFS}pwned);x"  # git allows this name

_POLICY = """\
repository: your-org/your-bench
sweep: {row-command: [python3, benchmarks/run.py]}
"""
# The workflow gives its gate a permission more than infx's own, so that a play shows whose permissions it uses.
_RUN_SWEEP = """\
name: run-sweep
on: pull_request
permissions: {}
jobs:
  decide:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions: {contents: read, pull-requests: read, actions: read, statuses: read, models: read}
    steps:
      - run: touch /tmp/no-step-of-the-repository-runs
      - uses: your-org/infx/.github/actions/gate@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0
"""
_RUN = """\
import json, os, sys
from pathlib import Path

if Path("benchmarks/broken").exists():
    sys.exit("torch.OutOfMemoryError: tried to allocate 4.45 GiB")
env, conc = os.environ, int(os.environ["CONC"])
print("The launch is", env["INFX_LAUNCH"])
row = {"hw": env["RUNNER_TYPE"], "conc": conc, "image": env["IMAGE"], "model": env["MODEL"],
       "infmax_model_prefix": env["MODEL_PREFIX"], "framework": env["FRAMEWORK"], "precision": env["PRECISION"],
       "spec_decoding": env["SPEC_DECODING"], "disagg": False, "isl": int(env["ISL"]), "osl": int(env["OSL"]),
       "tp": int(env["TP"]), "ep": int(env["EP_SIZE"]), "dp_attention": False, "tput_per_gpu": 10.0 * conc,
       "benchmark_outcome": {"requested": conc, "completed": conc, "failed": 0, "status": "passed"},
       "recipe_fingerprint": env["RECIPE_FINGERPRINT"]}
Path(f"agg_{env['RESULT_FILENAME']}.json").write_text(json.dumps(row))
"""


def make_entry(words: str, link: str) -> str:
    return f'- config-keys:\n    - {KEY}\n  description:\n    - "{words}"\n  pr-link: {link}\n'


FIRST = make_entry("Measure.", "https://github.com/your-org/your-bench/pull/41")


def make_adopter(path: Path) -> Repository:
    """Return the repository, on main; each branch is a commit ahead of main.

    ready, broken and the hostile name append a good entry (the rows of broken fail), typo an invalid link, and linked
    the number 57; docs changes no benchmark.
    """
    repository = Repository.init(path)
    files = {
        "configs/nvidia-master.yaml": CONFIG.format(key=KEY, runner="h200", most=8),
        "configs/amd-master.yaml": "{}\n",
        "configs/runners.yaml": "labels:\n  h200: [h200-cw_00]\n",
        "configs/policy.yaml": _POLICY,
        "benchmarks/run.py": _RUN,
        ".github/workflows/run-sweep.yml": _RUN_SWEEP,
        ".github/CODEOWNERS": "* @zoe @your-org/core\n",
        "perf-changelog.yaml": FIRST,
    }
    repository.commit(files, "Measure")
    again = f"{FIRST}\n{make_entry('Measure again.', 'XXX')}"
    linked = f"{FIRST}\n{make_entry('Measure again.', 'https://github.com/your-org/your-bench/pull/57')}"
    branches: dict[str, dict[str, str | bytes]] = {
        "broken": {"perf-changelog.yaml": again, "benchmarks/broken": ""},
        "docs": {"README.md": "# Benchmarks\n"},
        HOSTILE: {"perf-changelog.yaml": again},
        "linked": {"perf-changelog.yaml": linked},
        "ready": {"perf-changelog.yaml": again},
        "typo": {"perf-changelog.yaml": f"{FIRST}\n{make_entry('Measure again.', 'TBD')}"},
    }
    for name, changes in branches.items():
        repository.branch(name, "main")
        repository.commit(changes, f"Change {name}")
    repository.checkout("main")
    return repository
