"""Which kind of job a row is: its family in a job's name, and its place in a plan's JSON."""

from __future__ import annotations

from infx.matrix.row import FixedWorkload, Row

CANARY = "canary"
_SEQUENCES = {(1024, 1024): "1k1k", (8192, 1024): "8k1k"}
_EVAL_BUCKETS = {
    (False, False): "evals",
    (False, True): "agentic_evals",
    (True, False): "multinode_evals",
    (True, True): "multinode_agentic_evals",
}


def sequence_name(isl: int, osl: int) -> str:
    """The short name of a request length in tokens; `<isl>_<osl>` for those that have none."""
    return _SEQUENCES.get((isl, osl), f"{isl}_{osl}")


def bucket_of(row: Row) -> tuple[str, ...]:
    """The keys that lead to the row's list in a plan."""
    recipe = row.recipe
    if row.eval_only:
        return (_EVAL_BUCKETS[recipe.is_multinode, recipe.is_agentic],)
    workload = recipe.workload
    kind = sequence_name(workload.isl, workload.osl) if isinstance(workload, FixedWorkload) else "agentic"
    return ("multi_node" if recipe.is_multinode else "single_node", kind)


def family_of(row: Row) -> str:
    """The words that start a job's name, such as `single-node 8k1k` or `multi-node agentic eval`."""
    recipe = row.recipe
    nodes = "multi-node" if recipe.is_multinode else "single-node"
    if row.eval_only:
        parts = ("multi-node" if recipe.is_multinode else "", "agentic" if recipe.is_agentic else "", "eval")
        return " ".join(part for part in parts if part)
    if recipe.is_agentic:
        return "multi-node agentic" if recipe.is_multinode else "agentic"
    return f"{nodes} {bucket_of(row)[1]}"
