"""Checks of configurations against clusters: runners, images, models, ports, times and settings."""

from __future__ import annotations

import pytest

from infx.errors import sort_problems
from infx.matrix.check import File, Files, check_files
from infx.policy.load import default_policy
from infx.records import replace
from tests.matrix.samples import DISAGG, HARDWARE, LAUNCHED, SINGLE, change

POLICY = default_policy()
IMAGE = "vllm/vllm-openai:v0.20.0"


def check(
    master: str = SINGLE, clusters: str | None = LAUNCHED, runners: str = HARDWARE, *, minutes: int = 770
) -> list[str]:
    """Return the problems of SINGLE's ten rows, six of which take four of a node's eight GPUs."""
    files = Files(
        masters=(File(path="m.yaml", data=master.encode()),),
        runners=File(path="r.yaml", data=runners.encode()),
        clusters=None if clusters is None else File(path="c.yaml", data=clusters.encode()),
    )
    policy = replace(POLICY, sweep=replace(POLICY.sweep, row_minutes=minutes))
    return [f"{p.level}: {p}" for p in sort_problems(check_files(files, policy).problems)]


def set_cluster(fields: str) -> str:
    return change(LAUNCHED, "h200-a: {gpu: h200}", f"h200-a: {{gpu: h200, {fields}}}")


def test_valid_files_have_no_problems() -> None:
    assert check(SINGLE + DISAGG) == []


def test_a_repository_without_clusters_is_not_checked_against_them() -> None:
    assert check(change(SINGLE, IMAGE, "nvcr.io/acme/m1:1"), clusters=None) == []


SQUASH = "; the row works only where the squash file is there (10 rows on h200-a)."
HUB = "and takes nvcr.io for a folder of Docker Hub; expected # after the registry"


@pytest.mark.parametrize(
    ("image", "cluster", "expected"),
    [
        pytest.param("acme/m1:1", "", None, id="Docker Hub"),
        pytest.param("nvcr.io#acme/m1:1", "", None, id="a registry with #"),
        pytest.param("user@nvcr.io#acme/m1:1", "", None, id="a user"),
        pytest.param("/images/m1.sqsh", "", None, id="a squash file is not imported"),
        pytest.param(
            "nvcr.io/acme/m1:1",
            "",
            f'warning: enroot gets "docker://nvcr.io/acme/m1:1" {HUB}{SQUASH} Write "nvcr.io#acme/m1:1".',
            id="a registry with /",
        ),
        pytest.param(
            "localhost:5000/m1:1",
            "",
            'warning: enroot gets "docker://localhost:5000/m1:1" and takes localhost:5000 for a folder of Docker Hub; '
            f'expected # after the registry{SQUASH} Write "localhost:5000#m1:1".',
            id="a registry with a port",
        ),
        pytest.param(
            "nvcr.io/acme/m1:1", 'image: {uri: "docker://{image-with-hash}"}', None, id="the cluster writes #"
        ),
        pytest.param("nvcr.io/acme/m1:1", "image: {import: pre-staged}", None, id="nothing is imported"),
        pytest.param(
            "nvcr.io#acme/m1:1",
            'image: {uri: "docker://{image-with-slash}"}',
            f'warning: enroot gets "docker://nvcr.io/acme/m1:1" {HUB}{SQUASH} Use {{image}} in the cluster\'s image.uri, '
            "which keeps the #.",
            id="the cluster writes /",
        ),
        pytest.param(
            f"acme/m1:1@sha256:{'0' * 64}",
            "",
            f'warning: enroot gets "docker://acme/m1:1@sha256:{"0" * 64}" and does not read a digest{SQUASH} '
            "Name a tag alone, or import the image once by hand.",
            id="a digest",
        ),
        pytest.param(
            "nvcr.io/acme/m1:1",
            "image: {from: registry}",
            f'error: enroot gets "docker://nvcr.io/acme/m1:1" {HUB} (10 rows on h200-a). Write "nvcr.io#acme/m1:1".'.replace(
                "docker://", ""
            ),
            id="no squash file that may be there",
        ),
    ],
)  # fmt: skip
def test_an_image_has_the_form_that_enroot_reads(image: str, cluster: str, expected: str | None) -> None:
    problems = check(change(SINGLE, IMAGE, image), set_cluster(cluster))
    problems = [text for text in problems if "reproduced" not in text]  # a squash file can be replaced
    if expected is None:
        assert problems == []
    else:
        level, _, text = expected.partition(": ")
        assert problems == [f"{level}: m.yaml:2: m1-fp8-h200-vllm.image: {text}"]


DOCKER = """\
clusters:
  h200-a: {gpu: h200, allocate: none, scripts: [run.sh], image: {from: docker}}
  gb200-a: {gpu: gb200, allocate: none, scripts: [run.sh], image: {from: docker, reference: "{image-with-slash}"}}
aliases: {h200-b: h200-a}
"""


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("nvcr.io/acme/m1:1", None),
        (f"acme/m1:1@sha256:{'0' * 64}", None),
        ("nvcr.io#acme/m1:1", 'Docker gets "nvcr.io#acme/m1:1" and does not read #'),
        ("/images/m1.sqsh", 'Docker gets "/images/m1.sqsh" and does not run squash files'),
    ],
)
def test_an_image_has_the_form_that_docker_reads(image: str, expected: str | None) -> None:
    problems = [text for text in check(change(SINGLE, IMAGE, image), DOCKER) if "reproduced" not in text]
    if expected is None:
        assert problems == []
    else:
        (text,) = problems
        assert text.startswith(f"error: m.yaml:2: m1-fp8-h200-vllm.image: {expected}")


def test_only_rows_that_see_the_fault_are_counted() -> None:
    """Of the ten rows, seven have fixed lengths; the others are AgentX."""
    when = 'when: [{isl: 8192, set: {image: {uri: "docker://{image-with-hash}"}}}]'
    (text,) = check(change(SINGLE, IMAGE, "nvcr.io/acme/m1:1"), set_cluster(when))
    assert "(3 rows on h200-a)" in text


TABLE = "model: {set: [MODEL_PATH], staged: /staged, names: [m1-fp8, m2], else: /models}"


@pytest.mark.parametrize(
    ("model", "table", "expected"),
    [
        pytest.param("acme/m2", TABLE, None, id="staged"),
        pytest.param(
            "acme/m1",
            TABLE,
            "warning: m.yaml:3: m1-fp8-h200-vllm.model: m1 is not among the models in /staged; the row looks in /models/m1 "
            "(10 rows on h200-a). Stage it, and add it to model.names of the cluster.",
            id="not staged",
        ),
        pytest.param("acme/m1", TABLE.replace("[m1-fp8, m2]", "[]"), None, id="nothing is staged"),
        pytest.param("acme/m1", "model: {set: [MODEL], paths: {m1/fp8: /m1}}", None, id="has a path"),
        pytest.param(
            "acme/m1",
            "model: {set: [MODEL], paths: {m1/fp4: /m1}}",
            "error: m.yaml:3: m1-fp8-h200-vllm.model: the cluster has no path for acme/m1 as m1/fp8 (10 rows on h200-a). "
            "Add it to model.paths of the cluster, or choose another runner.",
            id="has no path",
        ),
    ],
)
def test_a_model_is_where_the_cluster_looks(model: str, table: str, expected: str | None) -> None:
    problems = check(change(SINGLE, "acme/m1", model), set_cluster(table))
    assert problems == ([] if expected is None else [expected])


SHARED_NODE = "warning: c.yaml:8: clusters.h200-a: 6 rows of 1 configuration take a part of a shared node with 8 GPUs, and "


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param("port: 32767", None, id="below the range"),
        pytest.param("port: {base: 61000, plus: job, modulo: 1000}", None, id="above the range"),
        pytest.param(
            "port: 32768",
            "warning: c.yaml:8: clusters.h200-a: 10 rows of 1 configuration have port 32768; Linux takes ports from 32768 to "
            "60999 for connections of any program. Choose a base below 32768, such as 20000.",
            id="one port in the range",
        ),
        pytest.param(
            "port: {base: 32000, plus: job, modulo: 1000}",
            "warning: c.yaml:8: clusters.h200-a: 10 rows of 1 configuration have ports 32000 to 32999; Linux takes ports from "
            "32768 to 60999 for connections of any program. Choose a base below 32768, such as 20000.",
            id="partly in the range",
        ),
        pytest.param(
            "exclusive: false",
            f"{SHARED_NODE}all have port 8888. Set exclusive: true, or a port with plus: job.",
            id="one port on a shared node",
        ),
        pytest.param(
            "exclusive: false, port: {base: 20000, plus: job, modulo: 10000}",
            f"{SHARED_NODE}PORT + 1 of a row may be PORT of the next row. Set exclusive: true, or use PORT alone in the scripts.",
            id="neighbors on a shared node",
        ),
    ],
)  # fmt: skip
def test_ports_do_not_collide(fields: str, expected: str | None) -> None:
    assert check(clusters=set_cluster(fields)) == ([] if expected is None else [expected])


def test_runners_of_one_label_do_not_share_a_digit() -> None:
    """h200-a_0 and h200-b_0 are in one label and in one cluster, by the alias."""
    assert check(clusters=set_cluster("port: {base: 8888, plus: digit}")) == [
        "warning: c.yaml:8: clusters.h200-a: runners have the same port: h200-a_0/h200-b_0; and PORT + 1 of a runner is the "
        "port of the next runner. Use plus: job, or name the runners with different last digits."
    ]
    apart = change(HARDWARE, "h200: [h200-a_0, h200-b_0]", "h200: [h200-a_0]\n  other: [h200-b_0]")
    assert check(clusters=set_cluster("port: {base: 8888, plus: digit}"), runners=apart) == []


UNLIMITED = change(LAUNCHED, "  time: 780\n", "")


@pytest.mark.parametrize(
    ("clusters", "minutes", "expected"),
    [
        (set_cluster("time: 180"), 180, None),
        (set_cluster("time: 180"), 181, "an allocation of 180 minutes, and may run for 181 minutes. Set time to 181 or more, or limits.run to less."),
        (set_cluster("time: 180, limits: {run: 170}"), 500, None),
        (UNLIMITED, 500, "no time limit, and may run for 500 minutes. Set time to 500 or more, or limits.run to less."),
    ],
)  # fmt: skip
def test_an_allocation_is_as_long_as_a_row_may_run(clusters: str, minutes: int, expected: str | None) -> None:
    line = 1 + clusters[: clusters.index("  h200-a:")].count("\n")
    start = f"warning: c.yaml:{line}: clusters.h200-a: 10 rows of 1 configuration have "
    assert check(clusters=clusters, minutes=minutes) == ([] if expected is None else [start + expected])


def test_a_cluster_has_a_runner() -> None:
    assert check(
        clusters=LAUNCHED.replace("gb200-a: {gpu: gb200}", "gb200-a: {gpu: gb200}\n  x: {gpu: x}")
    ) == [
        "warning: c.yaml:10: clusters.x: no runner belongs to this cluster. Remove it, add an alias, or name its runners after it."
    ]


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        pytest.param(
            SINGLE,
            'error: r.yaml:2: labels.h200[0]: 1 runner (h200-a_0) belongs to no cluster; expected "h200-a" in c.yaml; rows of '
            "m1-fp8-h200-vllm cannot be launched there. Did you mean h200-b or gb200-a?",
            id="its rows cannot run",
        ),
        pytest.param(
            DISAGG,
            'warning: r.yaml:2: labels.h200[0]: 1 runner (h200-a_0) belongs to no cluster; expected "h200-a" in c.yaml. Did you '
            "mean h200-b or gb200-a?",
            id="no row wants it",
        ),
        pytest.param(
            DISAGG.replace("cluster:gb200-a", "cluster:h200-a"), None, id="its rows take several nodes"
        ),
    ],
)
def test_a_runner_belongs_to_a_cluster(master: str, expected: str | None) -> None:
    clusters = change(change(LAUNCHED, "  h200-a:", "  h200-b:"), "aliases: {h200-b: h200-a}\n", "")
    assert check(master, clusters) == ([] if expected is None else [expected])


def test_runners_of_a_cluster_with_errors_are_not_reported() -> None:
    problems = check(clusters=set_cluster("allocate: none"))
    assert problems
    assert all(text.startswith("error: c.yaml:8: clusters.h200-a") for text in problems)


@pytest.mark.parametrize(
    ("setting", "cluster", "expected"),
    [
        ("SLURM_PARTITION=batch", "", "SLURM_PARTITION=batch overrules what the cluster of cluster:gb200-a says"),
        ("SLURM_PARTITION=batch", "partition: batch", None),
        ("SLURM_PARTITION=batch", "partition: main", "SLURM_PARTITION=batch overrules the cluster's partition main"),
        ("SALLOC_TIMELIMIT=10", "", "SALLOC_TIMELIMIT=10 overrules what the cluster of cluster:gb200-a says"),
        ("GPUS_PER_NODE=4", "", None),
        ("GPUS_PER_NODE=8", "", "GPUS_PER_NODE=8 overrules the 4 GPUs of the inventory"),
        ("MY_SLURM_X=1", "", None),
    ],
)  # fmt: skip
def test_a_setting_does_not_overrule_the_cluster(setting: str, cluster: str, expected: str | None) -> None:
    master = change(DISAGG, '"PREFILL_NODES=1"', f'"{setting}"')
    problems = check(master, change(LAUNCHED, "{gpu: gb200}", f"{{gpu: gb200, {cluster}}}"))
    at = "m.yaml:26: m2-fp4-gb200-dynamo-trt.scenarios.fixed-seq-len[0].search-space[0].prefill.additional-settings[1]"
    hint = "Remove it, and set it for the cluster; or use a label whose runners have this value."
    assert problems == ([] if expected is None else [f"warning: {at}: {expected} (1 row). {hint}"])
