"""Name workloads and experiments in files, job names and charts."""

from __future__ import annotations

from infx.bench.config import Config, Parallelism, ScenarioType, SpecDecoding, Worker
from infx.bench.row import AgenticWorkload, FixedWorkload, Recipe, Roles

SEQUENCES = {"1k1k": (1024, 1024), "8k1k": (8192, 1024)}
_NAMES = {lengths: name for name, lengths in SEQUENCES.items()}
AGENTIC = "agentic"


def name_sequence(isl: int, osl: int) -> str:
    """Return the name of a sequence: `8k1k` for 8192 and 1024 tokens; other lengths are written out."""
    return _NAMES.get((isl, osl), f"{isl}_{osl}")


def scenario_of(recipe: Recipe) -> str:
    workload = recipe.workload
    return name_sequence(workload.isl, workload.osl) if isinstance(workload, FixedWorkload) else AGENTIC


def scenarios_of(config: Config) -> tuple[str, ...]:
    """Return the scenarios of a configuration, each once, AgentX last."""
    fixed = [name_sequence(scenario.isl, scenario.osl) for scenario in config.fixed]
    return tuple(dict.fromkeys([*fixed, *([AGENTIC] if config.agentic else [])]))


def spell_scenario(name: str) -> str:
    """Return a scenario as files spell it, where AgentX has the name of its type."""
    return ScenarioType.AGENTIC.value if name == AGENTIC else name


def name_fixed(model_prefix: str, isl: int, osl: int) -> str:
    return f"{model_prefix}_{name_sequence(isl, osl)}"


def name_agentic(
    model_prefix: str,
    layout: Parallelism | Roles,
    conc: int,
    spec_decoding: SpecDecoding,
    workload: AgenticWorkload,
) -> str:
    """Return a name like dsv4_tp8_conc32_kvdram-hicache_spec-mtp or dsv4_p1x8_d1x16ep16dpa_conc64."""
    backend = workload.kv_offload_backend
    offload = "none" if backend is None else f"{workload.kv_offloading.value}-{backend.name}"
    if isinstance(layout, Roles):
        roles = f"p{_name_worker(layout.prefill)}_d{_name_worker(layout.decode)}"
        kv = f"_kv{offload}" if workload.offloads else ""
        return f"{model_prefix}_{roles}_conc{conc}{kv}"
    spec = "" if spec_decoding is SpecDecoding.NONE else f"_spec-{spec_decoding.value}"
    return f"{model_prefix}_tp{layout.tp}_conc{conc}_kv{offload}{spec}"


def _name_worker(worker: Worker) -> str:
    ep = f"ep{worker.ep}" if worker.ep not in (None, 1) else ""
    return f"{worker.num_worker}x{worker.tp}{ep}{'dpa' if worker.dp_attn else ''}"
