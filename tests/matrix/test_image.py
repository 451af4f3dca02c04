"""Container image references: a runtime refuses some, and some may later mean another image."""

from __future__ import annotations

import pytest

from infx.matrix.image import find_image_fault, find_moving_tag

DIGEST = "sha256:" + "0123456789abcdef" * 4

# Forms that Docker's grammar allows, and enroot's with # after the registry.
SOUND = [
    "ubuntu",
    "vllm/vllm-openai:v0.20.0",
    "a/b/c/d:1",
    "nvcr.io/nvidia/x:1",
    "nvcr.io#nvidia/x:1",
    "nvcr.io#x:1",
    "registry:5000#team/x:1",
    "$oauthtoken@nvcr.io#nvidia/x:1",
    "localhost/x:1",
    "localhost:5000/x:1",
    "10.0.0.7:5000/x:1",
    "[fd00::1]:5000/x:1",
    "GHCR.io/acme/x:1",  # host names have no case
    "a/x_y__z.w--v:1",
    "a/b:_x",
    "a/b:V1.Final_rc-2",
    "a/b:" + "x" * 128,
    f"a/b@{DIGEST}",
    f"nvcr.io#a/b:v1@{DIGEST}",
    "a/b@sha512:" + "0" * 128,
    "/mnt/squash/vllm_v1.sqsh",
]

WRONG = [
    ("lmsysorg/sglang: v1", 'the reference contains a space. Write "lmsysorg/sglang:v1".'),
    ("a/b:v1\n", 'the reference contains a space. Write "a/b:v1".'),
    ("a/b\u00a0:v1", 'the reference contains a space. Write "a/b:v1".'),
    ("https://docker.io/x:1", 'a reference does not start with https://. Write "docker.io/x:1".'),
    ("a b:v 1;", "the reference contains a space. Write registry/repository:tag."),
    ("/data/my image.sqsh", "the reference contains a space. Use a path without one."),
    ("http:// x", "the reference contains a space. Write registry/repository:tag."),
    ("x://" * 100, "a reference does not start with x://. Write registry/repository:tag."),
    ("docker://http://x", "a reference does not start with docker://. Write registry/repository:tag."),
    ("docker://a/b:1", 'a reference does not start with docker://. Write "a/b:1".'),
    ("LMSYSORG/sglang:v1", 'the repository "LMSYSORG/sglang" has capital letters. Write "lmsysorg/sglang".'),
    ("ghcr.io/Acme/x:1", 'the repository "Acme/x" has capital letters. Write "acme/x".'),
    ("nvcr.io#NVIDIA/x:1", 'the repository "NVIDIA/x" has capital letters. Write "nvidia/x".'),
    ("a/b:v1:v2", '"v1:v2" is not a tag.'),
    ("a/b:", '"" is not a tag.'),
    ("a/b:.x", '".x" is not a tag.'),
    ("a/b:-x", '"-x" is not a tag.'),
    ("a/b:v1+cu130", '"v1+cu130" is not a tag.'),
    ("a/b:" + "x" * 129, "is not a tag."),
    ("a/b:v\uff11", '"v\uff11" is not a tag.'),  # a full-width digit
    ("a/b@", '"" is not a digest.'),
    ("a/b@v1", '"v1" is not a digest.'),
    ("a/b@sha256:0123", '"sha256:0123" is not a digest.'),
    ("a/b@sha256:" + "A" * 64, "is not a digest."),
    ("a/b@md5:" + "0" * 32, "is not a digest."),
    (f"a/b@{DIGEST}:v1", "is not a digest."),
    ("", '"" is not a repository.'),
    (":v1", '"" is not a repository.'),
    ("/a/b:1", '"/a/b" is not a repository.'),
    ("a/b/:1", '"a/b/" is not a repository.'),
    ("a//b:1", '"a//b" is not a repository.'),
    ("a/b_:1", '"a/b_" is not a repository.'),
    ("a/x___y:1", '"a/x___y" is not a repository.'),
    ("-a/b:1", '"-a/b" is not a repository.'),
    ("a/\u00e9:1", '"a/\u00e9" is not a repository.'),
    ("a/${TAG}:1", '"a/${TAG}" is not a repository.'),
    ("0" * 64, "is not a repository."),  # to Docker this is the id of an image
    ("a/" + "b" * 254 + ":1", "the repository has 256 characters; expected at most 255."),
    ("a" * 601, "the reference has 601 characters; expected at most 600."),
    ("nvcr.io:port/x:1", '"nvcr.io:port" is not a registry.'),
    ("-nvcr.io/x:1", '"-nvcr.io" is not a registry.'),
    ("nvidia#x:1", '"nvidia" is not a registry.'),  # no resolver knows the host
    ("#nvidia/x:1", '"" is not a registry.'),
    ("nvcr.io/nvidia#x:1", '"nvcr.io/nvidia" is not a registry.'),
    ("a b@nvcr.io#x:1", "the reference contains a space."),
    ("a/b@nvcr.io#x:1", '"a/b@nvcr.io" is not a registry.'),
    ("nvcr.io#nvidia#x:1", "the reference has # more than once."),
]


@pytest.mark.parametrize("text", SOUND)
def test_valid_references_pass(text: str) -> None:
    assert find_image_fault(text) is None


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_invalid_references_are_refused(text: str, words: str) -> None:
    fault = find_image_fault(text)
    assert fault is not None
    assert words in f"{fault[0]}. {fault[1]}"
    assert fault[1].endswith(".")


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("a/b", True),
        ("localhost:5000/b", True),
        ("nvcr.io#b", True),
        ("a/b:latest", True),
        ("a/b:Latest", True),
        ("a/b:latest-cu130", True),
        ("a/b:v1-latest", True),
        ("a/b:nightly", True),
        ("a/b:nightly-dev-cu13.0.1", True),  # the version is CUDA's
        ("a/b:main", True),
        ("a/b:dev-cu13", True),
        ("a/b:stable", True),
        ("/mnt/squash/x.sqsh", True),
        ("a/b:nightly-dev-20260818-c0b6474b", False),
        ("a/b:nightly-09663abde0f50944a8d5ea30120666024b503faa", False),
        ("a/b:nightly_202607231538", False),
        ("a/b:dev-nightly-0820", False),
        ("a/b:nightly-dev-arm64-cu13.0.1-426e59f", False),
        ("a/b:1.3.0-dev.1-cuda13", False),
        ("a/b:v0.20.0", False),
        ("a/b:kimi-k3", False),  # every tag can be moved, but this name does not suggest it
        ("a/maintain:v1", False),
        ("a/latest:v1", False),
        (f"a/b:latest@{DIGEST}", False),
        (f"a/b@{DIGEST}", False),
    ],
)
def test_moving_tags_are_found(text: str, moves: bool) -> None:
    assert find_image_fault(text) is None
    assert (find_moving_tag(text) is not None) is moves
