"""Clusters files: whole messages of problems, and the cluster of a runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx import schema
from infx.errors import InfxError, ProblemsError
from infx.launch.cluster import Allocation
from infx.launch.cluster_rules import CLUSTER_RULES, FILE_RULES
from infx.launch.clusters import Clusters, parse_clusters
from infx.launch.steps import PortForm
from tests.launch.samples import CLUSTERS, change, clusters, task

WRONG = [
    ("cluster-family", "extends: slurm, gpu: h200}", "extends: slrum, gpu: h200}", 'c.yaml:9: clusters.h200-a.extends: there is no family "slrum". Name a family of this file.'),
    ("cluster-family", "families:\n  slurm: {", "families:\n  slurm: {extends: slurm, ", "c.yaml:7: families.slurm.extends: the family extends itself: slurm, slurm. Name a family of this file."),
    ("cluster-alias", "clusters:\n", "aliases: {h200-b: h200-x}\nclusters:\n", 'c.yaml:8: aliases.h200-b: there is no cluster "h200-x". Did you mean h200-a or h200-once or h200-bare?'),
    ("cluster-alias", "clusters:\n", "aliases: {h200-a: h200-bare}\nclusters:\n", 'c.yaml:8: aliases.h200-a: "h200-a" is also a cluster, which wins. Remove the alias, or the cluster.'),
    ("cluster-incomplete", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm}", "c.yaml:9: clusters.h200-a: gpu is missing, here and in the families. Add gpu to the cluster, to a family or to defaults."),
    ("cluster-image", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, image: {from: docker}}", "c.yaml:9: clusters.h200-a: docker runs on the machine itself; expected allocate: none, or an image from squash or registry. Correct allocate, or image.from."),
    ("cluster-image", "h200-bare: {allocate: none, gpu: h200, image: {from: none}}", "h200-bare: {allocate: none, gpu: h200}", "c.yaml:12: clusters.h200-bare: an image from squash needs an allocation; expected allocate: salloc or srun, or image.from docker or none. Correct allocate, or image.from."),
    ("cluster-image", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {allocate: salloc, gpu: h200}", "c.yaml:9: clusters.h200-a: image.squash is missing; an image from squash needs a path such as /data/images/{key}.sqsh. Add image.squash, or say image.from."),
    ("cluster-image", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, allocate: srun, gpu: h200}", "c.yaml:9: clusters.h200-a: a single srun cannot import an image on the node first. Use allocate: salloc, or image.import: host."),
    ("cluster-field-unused", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, container: {shm-size: 32g}}", "c.yaml:9: clusters.h200-a: container.shm-size has no effect on Slurm. Remove it."),
    ("cluster-field-unused", "gpus: \"{gpus}\"}", "home: true}, time: 480", "c.yaml:11: clusters.h200-docker: container.home has no effect on a cluster without Slurm. Remove it.\nc.yaml:11: clusters.h200-docker: time has no effect on a cluster without Slurm. Remove it."),
    ("cluster-placeholder", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, env: {A: \"{hom}\"}}", "c.yaml:9: clusters.h200-a: env.A: unknown placeholder {hom}. Did you mean home?"),
    ("cluster-placeholder", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, mounts: [\"{aiperf-cache}:/a\"]}", "c.yaml:9: clusters.h200-a: mounts needs aiperf-cache, which is missing. Add aiperf-cache."),
    ("cluster-placeholder", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, mounts: [\"{model-path}:/a\"]}", "c.yaml:9: clusters.h200-a: mounts needs model, which is missing. Add model."),
    ("cluster-placeholder", "image: {from: registry}}", "image: {from: registry}, port: {base: 1, plus: job}}", "c.yaml:10: clusters.h200-once: port needs the id of an allocation, which only allocate: salloc has. Use allocate: salloc, or another placeholder."),
    ("cluster-mount", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, mounts: [/a]}", 'c.yaml:9: clusters.h200-a: mounts: found "/a"; expected <path here>:<path in the container>, without a comma.'),
    ("cluster-secret", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, env: {HF_TOKEN: x}}", "c.yaml:9: clusters.h200-a: env: HF_TOKEN is a secret, which a row gets from the machine's environment. Remove its value from this file, and revoke it."),
    ("cluster-secret", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, image: {env: {ACME_API_KEY: x}}}", "c.yaml:9: clusters.h200-a: env: ACME_API_KEY is a secret, which a row gets from the machine's environment. Remove its value from this file, and revoke it."),
    ("cluster-unsafe-step", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, exclusive: false, before: [stop-containers]}", "c.yaml:9: clusters.h200-a: before: stop-containers would stop containers of other jobs; expected exclusive: true and allocate: salloc. Reserve the whole node, or remove stop-containers."),
    ("cluster-unsafe-step", "image: {from: registry}}", "image: {from: registry}, workspace: {send: sbcast, to: /tmp/w}}", "c.yaml:10: clusters.h200-once: workspace needs allocate: salloc, because several steps use the copy. Use allocate: salloc, or remove workspace."),
    ("cluster-container-name", 'name: "bench-{runner}"', "name: bench", 'c.yaml:11: clusters.h200-docker: container.name: found "bench"; two runners of one machine would share the name. Add {runner} to the name.'),
    ("cluster-model", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, model: {set: [MODEL]}}", "c.yaml:9: clusters.h200-a: model: names no path. Add paths, staged or else."),
    ("cluster-model", "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm, gpu: h200, model: {else: /m, names: [a]}}", "c.yaml:9: clusters.h200-a: model: set is missing, the variables that get the path.\nc.yaml:9: clusters.h200-a: model: staged is missing, the folder of the models in names."),
]  # fmt: skip


def test_the_sample_is_correct() -> None:
    assert parse_clusters(CLUSTERS.encode(), "c.yaml")[1] == []


@pytest.mark.parametrize(("rule", "old", "new", "expected"), WRONG)
def test_each_problem_has_a_line_and_a_remedy(rule: str, old: str, new: str, expected: str) -> None:
    _, problems = parse_clusters(change(CLUSTERS, old, new).encode(), "c.yaml")
    assert "\n".join(str(problem) for problem in problems) == expected
    assert {problem.rule for problem in problems} == {rule}


def test_every_rule_has_an_example() -> None:
    ids = {rule.id for rule in FILE_RULES} | {rule.id for rule in CLUSTER_RULES}
    assert ids == {rule for rule, *_ in WRONG}


def test_a_change_for_rows_is_checked_too() -> None:
    text = change(
        CLUSTERS, "gpu: h200}\n  h200-once", 'gpu: h200, when: [{tp: 8, set: {mounts: ["a"]}}]}\n  h200-once'
    )
    _, problems = parse_clusters(text.encode(), "c.yaml")
    assert [str(problem) for problem in problems] == [
        'c.yaml:9: clusters.h200-a.when[0]: mounts: found "a"; expected <path here>:<path in the container>, without a comma.'
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("clusters: {a: {gpu: 1}}\n", "c.yaml:1: clusters.a.gpu: found 1; expected text. Put it in quotes."),
        ("clusters: {a: {gpus: h200}}\n", 'c.yaml:1: clusters.a: unknown key "gpus".'),
        ("{}\n", 'c.yaml:1: the file: the key "clusters" is missing. Add clusters.'),
        ("clusters: {a: {when: [{gpu: x, set: {}}]}}\n", 'c.yaml:1: clusters.a.when[0]: unknown key "gpu".'),
    ],
)
def test_a_file_of_another_form_has_no_clusters(text: str, expected: str) -> None:
    parsed, problems = parse_clusters(text.encode(), "c.yaml")
    assert not parsed.fields
    assert str(problems[0]).startswith(expected)


def test_a_broken_cluster_does_not_hide_the_others() -> None:
    text = change(CLUSTERS, "h200-a: {extends: slurm, gpu: h200}", "h200-a: {extends: slurm}")
    parsed, problems = parse_clusters(text.encode(), "c.yaml")
    assert set(parsed.fields) == {"h200-once", "h200-docker", "h200-bare"}
    assert len(problems) == 1
    with pytest.raises(ProblemsError):
        clusters(text)


@pytest.mark.parametrize(
    ("runner", "expected"),
    [
        ("h200-a_00", "h200-a"),
        ("h200-a_x_y", "h200-a"),
        ("h200-a", "h200-a"),
        ("h200-a-slurm_3", "h200-a"),
        ("h200-other_1", "h200-bare"),
        ("h200_a", None),
        ("h200-aa_0", None),
        ("_", None),
    ],
)
def test_a_runner_belongs_to_the_cluster_of_its_name(runner: str, expected: str | None) -> None:
    text = change(CLUSTERS, "clusters:\n", "aliases: {h200-other: h200-bare}\nclusters:\n")
    assert clusters(text).find_name(runner) == expected


def test_a_full_name_wins_over_a_shortened_one() -> None:
    parsed = Clusters(fields={"a": {}, "a-slurm": {}}, aliases={}, path="c.yaml")
    assert parsed.find_name("a-slurm_0") == "a-slurm"


def test_a_runner_without_a_cluster_is_refused() -> None:
    with pytest.raises(InfxError) as refused:
        clusters().get_for_runner("h200-b_1")
    assert str(refused.value) == (
        'c.yaml: The runner "h200-b_1" belongs to no cluster; expected "h200-b" under clusters. Did you mean h200-bare or h200-a or h200-once?'
    )


def test_fields_become_typed_values() -> None:
    cluster = clusters().resolve("h200-a", task().row)
    assert cluster.allocation is Allocation.SALLOC
    assert cluster.port == PortForm(base=8888)
    assert cluster.secrets == ("HF_TOKEN", "MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET")
    assert cluster.container.home is None


def test_an_existing_file_of_fifteen_clusters_loads(shared: Path) -> None:
    """The name of a container that all runners of h100-cr share is a warning, because it is in the data."""
    path = shared / "inferencex/launch/clusters.yaml"
    parsed, problems = parse_clusters(path.read_bytes(), "clusters.yaml")
    assert [problem.rule for problem in problems] == ["cluster-container-name"]
    assert len(parsed.fields) == len(parsed.plain) == 15


def test_a_change_may_depend_on_every_simple_field_of_a_row() -> None:
    """Fields of several nodes, of components and of the plan alone are left out."""
    conditions = set(schema.read_schema("clusters")["$defs"]["when"]["properties"]) - {"set"}
    known = set(schema.read_schema("matrix-row")["$defs"]["single-fixed"]["properties"])
    known |= set(schema.read_schema("matrix-row")["$defs"]["single-agentic"]["properties"])
    others = {"router", "kv-offload-backend", "srt-recipe", "eval-srt-recipe", "recipe-fingerprint"}
    assert conditions == known - others
