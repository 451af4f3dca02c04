"""Provide files and payloads for the repository of the tested workflows: the project's own, on the hub."""

from __future__ import annotations

import json
import shlex
from typing import Any

from infx.hub.hub import Hub
from tests.conftest import ROOT
from tests.made_results import COMMAND

KEY = "dsv41flash-fp4-b300-vllm-agentic-dspark"  # 14 rows and 3 accuracy runs; trimmed 3 and 3
SMALL = (
    "kimik3-fp4-b300-dynamo-vllm-agentic-dspark-mooncake-dcp8-disagg-1p1d"  # one row and two accuracy runs
)
ENTRY = """
- config-keys:
    - {key}
  description:
    - "Measure again"
  pr-link: https://github.com/acme/bench/pull/XXX
"""
WIDE = """
wide-fp8-h100-sglang:
  image: lmsysorg/sglang:v0.5.16
  model: acme/wide
  model-prefix: wide
  runner: h100
  precision: fp8
  framework: sglang
  multinode: false
  scenarios:
    fixed-seq-len:
      - isl: 1024
        osl: 1024
        search-space:
          - {{tp: 8, conc-list: {conc}}}
"""
MADE = shlex.join(COMMAND)  # a shell's command that writes made-up results
# Writes made-up results, and the row's id and revision into $LEDGER. The stand-in for checkout writes HEAD.
ROW_COMMAND = [
    "bash", "-c", 'echo "$ROW_ID $(cat HEAD)" >> "$LEDGER"; exec ' + MADE,
]  # fmt: skip


def make_changelog(key: str = KEY) -> str:
    """Return the project's changelog with another entry."""
    return (ROOT / "perf-changelog.yaml").read_text() + ENTRY.format(key=key)


def make_policy(**sections: Any) -> str:
    """Return the project's own policy with other values, and with made-up results of rows."""
    sweep = {"row-command": COMMAND, **sections.pop("sweep", {})}
    # YAML is JSON where that is shorter.
    lines = [f"{name}: {json.dumps(value)}\n" for name, value in {"sweep": sweep, **sections}.items()]
    return (ROOT / "configs/policy.yaml").read_text() + "".join(lines)


def make_payload(hub: Hub, **fields: Any) -> dict[str, Any]:
    """Return an event's payload: the common fields and these."""
    return {
        "sender": {"login": "cody"},
        "repository": {"full_name": hub.repository, "default_branch": "main"},
        **fields,
    }
