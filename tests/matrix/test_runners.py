"""Valid and invalid runner inventories in both shapes: the whole message, path and line of each problem."""

from __future__ import annotations

import pytest

from infx.bench.config import Hardware
from infx.errors import sort_problems
from infx.matrix.runner_rules import CLUSTER_RULES, FILE_RULES
from infx.matrix.runners import parse_runners
from tests.matrix.samples import CLUSTERS, HARDWARE, change

WRONG = [
    (
        "blank-label",
        'labels:\n  "  ": [h200-a_0]\n',
        ['r.yaml:2: labels.  : found "  "; expected text on one line, not empty.'],
    ),
    ("no-labels", "hardware: {}\n", ['r.yaml:1: the file: the key "labels" is missing. Add labels.']),
    (
        "label-empty",
        change(HARDWARE, "  gb200: [gb200-a_0]", "  gb200: []"),
        ["r.yaml:3: labels.gb200: found []; expected at least 1 item."],
    ),
    (
        "label-text",
        change(HARDWARE, "  gb200: [gb200-a_0]", "  gb200: gb200-a_0"),
        ['r.yaml:3: labels.gb200: found "gb200-a_0"; expected a list.'],
    ),
    (
        "runner-number",
        change(HARDWARE, "  gb200: [gb200-a_0]", "  gb200: [1]"),
        ["r.yaml:3: labels.gb200[0]: found 1; expected text. Put it in quotes."],
    ),
    (
        "hw-no-gpus",
        change(
            HARDWARE, "{gpus-per-node: 4, available-cpu-dram-mib: 860160}", "{available-cpu-dram-mib: 860160}"
        ),
        ['r.yaml:8: hardware.cluster:gb200-a: the key "gpus-per-node" is missing. Add gpus-per-node.'],
    ),
    (
        "hw-gpus-zero",
        change(HARDWARE, "gpus-per-node: 4", "gpus-per-node: 0"),
        ["r.yaml:8: hardware.cluster:gb200-a.gpus-per-node: found 0; expected at least 1."],
    ),
    (
        "hw-dram-text",
        change(HARDWARE, "available-cpu-dram-mib: 860160", "available-cpu-dram-mib: 840GiB"),
        [
            'r.yaml:8: hardware.cluster:gb200-a.available-cpu-dram-mib: found "840GiB"; expected a whole number.'
        ],
    ),
    (
        "hw-unknown-key",
        change(HARDWARE, "available-cpu-dram-mib: 860160", "available-cpu-dram-gib: 840"),
        [
            'r.yaml:8: hardware.cluster:gb200-a: unknown key "available-cpu-dram-gib". Known keys: available-cpu-dram-mib, gpus-per-node. Did you mean available-cpu-dram-mib?'
        ],
    ),
    (
        "hw-label",
        change(HARDWARE, "  cluster:gb200-a: {gpus", "  cluster:gb200-aa: {gpus"),
        [
            'r.yaml:8: hardware.cluster:gb200-aa: "cluster:gb200-aa" is not among the labels, so no job can use this record. Did you mean cluster:gb200-a or cluster:h200-a?'
        ],
    ),
    (
        "unknown-top",
        change(HARDWARE, "hardware:", "hardwares:"),
        [
            'r.yaml:6: the file: unknown key "hardwares". Known keys: clusters, hardware, labels. Did you mean hardware?'
        ],
    ),
    (
        "both",
        change(CLUSTERS, "clusters:\n", "hardware:\n  h200: {gpus-per-node: 8}\nclusters:\n"),
        [
            "r.yaml:7: hardware: hardware and clusters both describe nodes; expected one of them. Move what hardware says to the records of clusters."
        ],
    ),
    (
        "dup-label",
        change(HARDWARE, "  gb200: [gb200-a_0]", "  h200: [gb200-a_0]"),
        ['r.yaml:3: The key "h200" occurs twice, on lines 2 and 3. Keep one of them.'],
    ),
    (
        "cluster-record",
        change(CLUSTERS, "  partition:main:", "  cluster:h200-b: [h200-b_0]\n  partition:main:"),
        [
            'r.yaml:6: labels.cluster:h200-b: there is no record of the cluster "h200-b"; expected one under clusters. Did you mean h200-a?'
        ],
    ),
    (
        "cluster-label",
        change(CLUSTERS, "  cluster:h200-a:\n", "  cluster:h200-c:\n"),
        [
            'r.yaml:3: labels.cluster:h200-c: there is no record of the cluster "h200-c"; expected one under clusters. Did you mean h200-a?',
            'r.yaml:8: clusters.h200-a: no label "cluster:h200-a" lists the runners of this cluster. Add cluster:h200-a to labels.',
        ],
    ),
    (
        "stray",
        change(CLUSTERS, "  h200: [h200-a_0, h200-a_1]", "  h200: [h200-a_0, h200-a_1, h200-z]"),
        ['r.yaml:2: labels.h200[2]: the runner "h200-z" is not in any cluster: label; expected exactly one.'],
    ),
    (
        "two-clusters",
        change(
            CLUSTERS,
            "clusters:\n",
            "  cluster:h200-b: [h200-a_1]\nclusters:\n  h200-b: {gpus-per-node: 8, scheduler: slurm, slurm: {exclusive: true}}\n",
        ),
        [
            'r.yaml:7: labels.cluster:h200-b[0]: the runner "h200-a_1" is in cluster:h200-a and cluster:h200-b; expected exactly one cluster.'
        ],
    ),
    (
        "scheduler-k8s",
        change(CLUSTERS, "scheduler: slurm", "scheduler: kubernetes"),
        ['r.yaml:17: clusters.h200-a.scheduler: found "kubernetes"; expected slurm.'],
    ),
    (
        "other-record",
        change(CLUSTERS, "    scheduler: slurm\n", "    scheduler: slurm\n    kubernetes: {}\n"),
        [
            'r.yaml:18: clusters.h200-a: unknown key "kubernetes". Known keys: arch, available-cpu-dram-mib, env, gpus-per-node, models, scheduler, slurm.'
        ],
    ),
    (
        "no-slurm",
        CLUSTERS[: CLUSTERS.index("    slurm:\n")] + "",
        [
            'r.yaml:15: clusters.h200-a.models.entries.m1.root: "weights" is not a volume of this cluster. Add it to slurm.volumes.',
            'r.yaml:16: clusters.h200-a.models.download-root: "weights" is not a volume of this cluster. Add it to slurm.volumes.',
            "r.yaml:17: clusters.h200-a.scheduler: the settings of slurm are missing; expected them next to scheduler, under that name.",
        ],
    ),
    (
        "no-exclusive",
        change(CLUSTERS, "      exclusive: true\n", ""),
        ['r.yaml:18: clusters.h200-a.slurm: the key "exclusive" is missing. Add exclusive.'],
    ),
    (
        "exclusive-text",
        change(CLUSTERS, "exclusive: true", "exclusive: yes"),
        ['r.yaml:22: clusters.h200-a.slurm.exclusive: found "yes"; expected true or false.'],
    ),
    (
        "arch",
        change(CLUSTERS, "arch: x86_64", "arch: amd64"),
        ['r.yaml:11: clusters.h200-a.arch: found "amd64"; expected one of x86_64, aarch64.'],
    ),
    (
        "env-comma",
        change(CLUSTERS, "NCCL_DEBUG: WARN", 'NCCL_DEBUG: "WARN,INFO"'),
        [
            'r.yaml:12: clusters.h200-a.env.NCCL_DEBUG: found "WARN,INFO"; expected text on one line without a comma: the scheduler separates variables by commas.'
        ],
    ),
    (
        "env-number",
        change(CLUSTERS, "NCCL_DEBUG: WARN", "NCCL_DEBUG: 1"),
        ["r.yaml:12: clusters.h200-a.env.NCCL_DEBUG: found 1; expected text. Put it in quotes."],
    ),
    (
        "volume-unknown",
        change(CLUSTERS, "{root: weights,", "{root: weight,"),
        [
            'r.yaml:15: clusters.h200-a.models.entries.m1.root: "weight" is not a volume of this cluster. Did you mean weights?'
        ],
    ),
    (
        "dir-absolute",
        change(CLUSTERS, "dir: acme/m1", "dir: /acme/m1"),
        [
            'r.yaml:15: clusters.h200-a.models.entries.m1.dir: found "/acme/m1"; expected a path inside the volume.'
        ],
    ),
    (
        "dir-up",
        change(CLUSTERS, "dir: acme/m1", "dir: acme/../../etc"),
        [
            'r.yaml:15: clusters.h200-a.models.entries.m1.dir: found "acme/../../etc"; expected a path inside the volume.'
        ],
    ),
    (
        "download-unknown",
        change(CLUSTERS, "download-root: weights", "download-root: cache"),
        [
            'r.yaml:16: clusters.h200-a.models.download-root: "cache" is not a volume of this cluster. Did you mean scratch?'
        ],
    ),
    (
        "download-local",
        change(CLUSTERS, "download-root: weights", "download-root: scratch"),
        [
            'r.yaml:16: clusters.h200-a.models.download-root: "scratch" is node-local; weights are downloaded to a shared volume.'
        ],
    ),
    (
        "volume-relative",
        change(CLUSTERS, "path: /mnt/weights", "path: mnt/weights"),
        [
            'r.yaml:27: clusters.h200-a.slurm.volumes.weights.path: found "mnt/weights"; expected an absolute path or one that starts with ~.'
        ],
    ),
    (
        "visibility",
        change(CLUSTERS, "visibility: node-local", "visibility: local"),
        [
            'r.yaml:28: clusters.h200-a.slurm.volumes.scratch.visibility: found "local"; expected one of shared, node-local. Did you mean node-local?'
        ],
    ),
    (
        "partition-default",
        change(CLUSTERS, "      partition: main\n", "      partition: fast\n"),
        ['r.yaml:19: clusters.h200-a.slurm.partition: "fast" is not among the partitions main, batch.'],
    ),
    (
        "partition-none",
        change(CLUSTERS, "  partition:main: [h200-a_0, h200-a_1]", "  partition:main: [h200-a_0]"),
        [
            'r.yaml:5: labels.cluster:h200-a[1]: the runner "h200-a_1" has no partition: label; expected exactly one, of partition:main, partition:batch.'
        ],
    ),
    (
        "partition-two",
        change(CLUSTERS, "clusters:\n", "  partition:batch: [h200-a_1]\nclusters:\n"),
        [
            'r.yaml:5: labels.cluster:h200-a[1]: the runner "h200-a_1" has partition:main and partition:batch; expected exactly one, of partition:main, partition:batch.'
        ],
    ),
    (
        "partition-foreign",
        change(CLUSTERS, "  partition:main:", "  partition:other:"),
        [
            'r.yaml:4: labels.cluster:h200-a[0]: the runner "h200-a_0" has partition:other; expected exactly one, of partition:main, partition:batch.',
            'r.yaml:5: labels.cluster:h200-a[1]: the runner "h200-a_1" has partition:other; expected exactly one, of partition:main, partition:batch.',
        ],
    ),
    (
        "gres-none",
        change(CLUSTERS, "gpu:{gpus}", "gpu:8"),
        [
            'r.yaml:23: clusters.h200-a.slurm.gres: found "gpu:8"; expected a template with {gpus} exactly once, such as gpu:{gpus}.'
        ],
    ),
    (
        "gres-other",
        change(CLUSTERS, "gpu:{gpus}", "gpu:{type}:{gpus}"),
        [
            'r.yaml:23: clusters.h200-a.slurm.gres: found "gpu:{type}:{gpus}"; expected a template with {gpus} exactly once, such as gpu:{gpus}.'
        ],
    ),
    (
        "cpus",
        change(CLUSTERS, "      cpus-per-gpu: 12\n", "      cpus-per-gpu: 12\n      cpus-per-task: 96\n"),
        [
            "r.yaml:24: clusters.h200-a.slurm.cpus-per-gpu: cpus-per-task and cpus-per-gpu exclude each other; expected one of them."
        ],
    ),
    (
        "short-option",
        change(CLUSTERS, "[--mpi=pmix]", "[-N2]"),
        [
            'r.yaml:25: clusters.h200-a.slurm.srun-args[0]: found "-N2"; expected a long option such as --mpi=pmix.'
        ],
    ),
    (
        "import-local",
        change(CLUSTERS, "dir: /mnt/squash, visibility: shared", "dir: /mnt/squash, visibility: node-local"),
        [
            "r.yaml:29: clusters.h200-a.slurm.squash.import: nodes cannot see what the submit host imports to node-local storage; expected shared storage or another import."
        ],
    ),
    (
        "import-word",
        change(CLUSTERS, "import: submit-host", "import: login-host"),
        [
            'r.yaml:29: clusters.h200-a.slurm.squash.import: found "login-host"; expected one of submit-host, compute, all-nodes, pre-staged, unchecked.'
        ],
    ),
    (
        "helper",
        change(CLUSTERS, "import: submit-host}", "import: compute, helper-dirs: {redis: /r}}"),
        [
            'r.yaml:29: clusters.h200-a.slurm.squash.helper-dirs: unknown key "redis". Known keys: dcgm-exporter, nginx.'
        ],
    ),
    (
        "lock",
        change(CLUSTERS, "import: submit-host}", "import: compute, lock-timeout-s: 0}"),
        ["r.yaml:29: clusters.h200-a.slurm.squash.lock-timeout-s: found 0; expected at least 1."],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*case[1:], id=case[0]) for case in WRONG])
def test_wrong_inventories_have_a_whole_message(text: str, expected: list[str]) -> None:
    _, problems = parse_runners(text.encode(), "r.yaml")
    assert [str(problem) for problem in sort_problems(problems)] == expected


def test_every_rule_has_a_case() -> None:
    covered = {problem.rule for case in WRONG for problem in parse_runners(case[1].encode(), "r.yaml")[1]}
    assert {rule.id for rule in FILE_RULES} | {rule.id for rule in CLUSTER_RULES} <= covered


def test_hardware_by_label_is_read() -> None:
    runners, problems = parse_runners(HARDWARE.encode(), "r.yaml")
    assert not problems
    assert runners.labels["h200"] == ("h200-a_0", "h200-b_0")
    assert runners.hardware["cluster:gb200-a"] == Hardware(gpus_per_node=4, dram_mib=860160)


def test_clusters_by_id_are_read() -> None:
    runners, problems = parse_runners(CLUSTERS.encode(), "r.yaml")
    assert not problems
    assert runners.hardware == {"cluster:h200-a": Hardware(gpus_per_node=8, dram_mib=2063837)}


def test_with_hardware_by_label_clusters_are_optional() -> None:
    text = change(HARDWARE, "  cluster:gb200-a: {gpus-per-node: 4, available-cpu-dram-mib: 860160}\n", "")
    _, problems = parse_runners(text.encode(), "r.yaml")  # h200-b_0 is in no cluster
    assert not problems


def test_an_inventory_that_breaks_a_rule_still_has_its_labels() -> None:
    text = change(HARDWARE, "  cluster:gb200-a: {gpus", "  cluster:gb200-x: {gpus")
    runners, problems = parse_runners(text.encode(), "r.yaml")
    assert problems
    assert "cluster:gb200-a" in runners.labels


def test_a_label_may_list_a_runner_twice() -> None:
    text = change(HARDWARE, "  gb200: [gb200-a_0]", "  gb200: [gb200-a_0, gb200-a_0]")
    assert parse_runners(text.encode(), "r.yaml")[0].labels["gb200"] == ("gb200-a_0", "gb200-a_0")
