from __future__ import annotations

import hashlib
from dataclasses import replace

from infx.bench.fingerprint import fingerprint_recipe
from infx.matrix.complete import complete_throughput
from infx.matrix.planned import Planned
from tests.matrix.rows import AGENTIC, FIXED, row


def test_a_fixed_recipe_hashes_with_run_eval_false() -> None:
    text = (
        '{"dcp-size":1,"disagg":false,"dp-attn":false,"ep":1,"framework":"vllm","image":"vllm/vllm-openai:v1",'
        '"isl":8192,"max-model-len":9472,"model":"acme/m1","model-prefix":"m1","osl":1024,"pcp-size":1,"pp":1,'
        '"precision":"fp8","run-eval":false,"runner":"cluster:h200-a","spec-decoding":"none","tp":8}'
    )
    assert fingerprint_recipe(FIXED) == hashlib.sha256(text.encode()).hexdigest()


def test_an_agentx_recipe_hashes_without_run_eval_and_in_ascii() -> None:
    text = (
        '{"dcp-size":1,"dp-attn":false,"duration":3600,"ep":1,"framework":"vllm","image":"\\u56fe:1",'
        '"kv-offload-backend":{"name":"mooncake","version":"0.3"},"kv-offloading":"dram","model":"acme/m1",'
        '"model-prefix":"m1","pcp-size":1,"pp":1,"precision":"fp8","runner":"cluster:h200-a",'
        '"scenario-type":"agentic-coding","spec-decoding":"mtp","total-cpu-dram-gb":360,"tp":8}'
    )
    assert fingerprint_recipe(replace(AGENTIC, image="图:1")) == hashlib.sha256(text.encode()).hexdigest()


def test_all_concurrencies_of_a_recipe_have_one_fingerprint() -> None:
    rows = [row(FIXED, 4), row(FIXED, 8), row(AGENTIC, 4)]
    done = complete_throughput(Planned(row=one, key="m1", entry=0) for one in rows)
    first, second, other = [one.row.recipe_fingerprint for one in done]
    assert first == second != other
