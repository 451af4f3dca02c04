"""Placeholders of a row: their values, and values that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from infx.errors import InfxError
from infx.launch.texts import find_names, make_texts, name_image
from tests.launch.samples import CLUSTERS, change, clusters, task


@pytest.mark.parametrize(
    ("image", "name", "expected"),
    [
        ("acme/vllm:1", "key", "acme_vllm_1"),
        ("nvcr.io#acme/x:1@sha256:ab", "key", "nvcr.io_acme_x_1_sha256_ab"),
        ("nvcr.io/acme/x:1", "key-plus", "nvcr.io+acme+x+1"),
        ("nvcr.io/acme/x:1", "key-plus-without-nvcr", "acme+x+1"),
        ("nvcr.io/acme/x:1", "image-with-hash", "nvcr.io#acme/x:1"),
        ("docker.io/acme/nvcr.io/x", "image-with-hash", "docker.io/acme/nvcr.io/x"),
        ("ghcr.io#acme/x:1", "image-with-slash", "ghcr.io/acme/x:1"),
    ],
)
def test_an_image_has_several_spellings(image: str, name: str, expected: str) -> None:
    assert name_image(image)[name] == expected


def test_a_row_has_values_for_its_placeholders() -> None:
    row_task = task(spec_decoding="mtp", tp=4, exp_name="m1_8k1k", pcp_size=2)
    texts = make_texts(row_task, clusters().resolve("h200-a", row_task.row))
    filled = texts.fill(
        "{dir}/{code}_{precision}_{gpu}_{framework}{tag}{spec} {gpus} {gpu-list} {squash} {hf}"
    )
    assert filled == (
        "benchmarks/single_node/fixed_seq_len/m1_fp8_h200_vllm_mtp 8 0,1,2,3,4,5,6,7 /images/acme_vllm_1.sqsh /mnt/hf_hub_cache/"
    )


@pytest.mark.parametrize(("framework", "expected"), [("trt", "h200_trt"), ("vllm", "h200")])
def test_a_framework_may_have_a_tag(framework: str, expected: str) -> None:
    text = change(CLUSTERS, "h200-a: {", "h200-a: {tags: {trt: _trt}, ")
    row_task = task(framework=framework)
    assert make_texts(row_task, clusters(text).resolve("h200-a", row_task.row)).fill("{gpu}{tag}") == expected


def test_placeholders_of_the_machine_stay() -> None:
    texts = make_texts(task(), clusters().resolve("h200-a", task().row))
    assert texts.fill("{job} {home} {gpus}") == "{job} {home} 4"
    assert find_names("a{job}b{hf-cache}{ x }") == {"job", "hf-cache"}


def test_the_cache_of_the_row_is_where_its_environment_says() -> None:
    row_task = task({"HF_HUB_CACHE": "/hub"})
    assert make_texts(row_task, clusters().resolve("h200-a", row_task.row)).fill("{hf}") == "/hub"


def test_an_empty_variable_counts_as_unset() -> None:
    row_task = task({"HF_HUB_CACHE": ""})
    assert (
        make_texts(row_task, clusters().resolve("h200-a", row_task.row)).fill("{hf}") == "/mnt/hf_hub_cache/"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"image": "acme/vllm:1,/:/host"},  # a comma would add a mount
        {"image": "acme/vllm:{home}"},  # the machine would fill it
        {"model": "acme/m1 --privileged"},
        {"model": "acme/$(id)"},
        {"exp_name": 'm1"_8k1k'},
        {"model_prefix": "m1\n"},
        {"environment": {"HF_HUB_CACHE": "/a:/b"}},
    ],
)
def test_values_that_arguments_cannot_hold_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InfxError, match="expected letters, digits and"):
        make_texts(task(**fields), clusters().resolve("h200-a", task().row))
