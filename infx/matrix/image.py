"""Check container image references: is a reference valid, and does it always mean the same image?

The grammar is that of https://github.com/distribution/reference (reference.go and regexp.go), which Docker,
containerd and the registries share, with two additions: enroot writes `#` instead of `/` after the registry,
and a user before the registry; pyxis also accepts the absolute path of a squash file.
"""

from __future__ import annotations

import re

# Sets of characters are used where possible, because a pattern is compiled each time the module is loaded.
_DIGITS = frozenset("0123456789")
_HEX = _DIGITS | frozenset("abcdef")
_LETTERS = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_TAG = _LETTERS | frozenset("_.-")
_USER = _TAG | {"$"}
_COMPONENT = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*")
_DIGESTS = {"sha256": 64, "sha384": 96, "sha512": 128}  # hexadecimal digits of each algorithm
_MAX_NAME, _MAX_TAG = 255, 128  # characters
_MAX_TEXT = 600  # more than registry, repository, tag and digest have together

# A tag with one of these words moves, unless the tag also contains a date or a commit. With a branch word,
# which may also mark a pre-release, a version is enough.
_MOVING = frozenset(("latest", "nightly", "daily", "weekly", "rolling", "edge", "snapshot"))
_BRANCHES = frozenset(("main", "master", "head", "trunk", "dev", "devel", "canary", "stable", "unstable"))


def find_image_fault(text: str) -> tuple[str, str] | None:
    """Return why no runtime accepts this reference and what to do, or None for a valid one."""
    if _is_squash_file(text):
        return None
    if fault := _find_common_fault(text):
        return fault
    registry, mark, reference = text.rpartition("#")
    name, at, digest = reference.partition("@")
    folder, slash, last = name.rpartition("/")
    repository, colon, tag = last.partition(":")
    repository = f"{folder}{slash}{repository}"
    if not mark:
        first, _, path = repository.partition("/")
        if path and has_host_form(first):
            registry, repository = first, path
    elif not _USER.issuperset(registry.rpartition("@")[0]):
        return f'"{registry}" is not a registry', "Write user@registry#repository:tag."
    return (
        _find_registry_fault(registry.rpartition("@")[2] if mark else registry, is_needed=bool(mark))
        or _find_repository_fault(repository)
        or (_find_tag_fault(tag) if colon else None)
        or (_find_digest_fault(digest) if at else None)
    )


def _suggest(text: str) -> str:
    """Return a hint that proposes this text if it is a valid reference, or a general hint."""
    is_valid = "://" not in text and not find_image_fault(text)
    return f'Write "{text}".' if is_valid else "Write registry/repository:tag."


def _is_squash_file(text: str) -> bool:
    return text.startswith("/") and text.endswith(".sqsh") and text.isprintable() and " " not in text


def has_host_form(name: str) -> bool:
    """Return whether the first part of a name is a registry; Docker recognizes it by a dot or a port."""
    return "." in name or ":" in name or name == "localhost"


def _find_common_fault(text: str) -> tuple[str, str] | None:
    """Return a common mistake that gets a message of its own, and its hint."""
    if len(text) > _MAX_TEXT:
        return (
            f"the reference has {len(text):,} characters; expected at most {_MAX_TEXT}",
            "Use a shorter name.",
        )
    if any(character.isspace() for character in text):
        hint = "Use a path without one." if text.startswith("/") else _suggest("".join(text.split()))
        return "the reference contains a space", hint
    scheme, separator, reference = text.partition("://")
    if separator:
        return f"a reference does not start with {scheme}://", _suggest(reference)
    if text.count("#") > 1:
        return "the reference has # more than once", "Write # or / after the registry, and / elsewhere."
    return None


def _find_registry_fault(registry: str, *, is_needed: bool) -> tuple[str, str] | None:
    """Return what is wrong with a registry's host name and port; a host name needs a dot or a port."""
    if not (registry or is_needed) or (has_host_form(registry) and _is_host(registry)):
        return None
    return f'"{registry}" is not a registry', "Write its host name, and its port if it has one."


def _is_host(text: str) -> bool:
    host, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if colon and not (_DIGITS.issuperset(port) and 0 < len(port) < 6):
        return False
    host = host if colon else text
    if host.startswith("[") and host.endswith("]"):
        return len(host) > 2 and (_LETTERS | {":"}).issuperset(host[1:-1])
    labels = host.split(".")
    return all(
        label and _LETTERS.issuperset(label.replace("-", "")) and not {label[0], label[-1]} & {"-"}
        for label in labels
    )


def _find_repository_fault(path: str) -> tuple[str, str] | None:
    if len(path) > _MAX_NAME:
        return (
            f"the repository has {len(path)} characters; expected at most {_MAX_NAME}",
            "Use a shorter one.",
        )
    if path != path.lower() and all(map(_COMPONENT.fullmatch, path.lower().split("/"))):
        return f'the repository "{path}" has capital letters', f'Write "{path.lower()}".'
    if not all(map(_COMPONENT.fullmatch, path.split("/"))) or (len(path) == 64 and _HEX.issuperset(path)):
        hint = "Its parts have lower-case letters and digits, with ., _, __ or hyphens between them."
        return f'"{path}" is not a repository', hint
    return None


def _find_tag_fault(tag: str) -> tuple[str, str] | None:
    if 0 < len(tag) <= _MAX_TAG and _TAG.issuperset(tag) and tag[0] not in ".-":
        return None
    hint = "A tag has letters, digits, _, . and -, 128 at most, and starts with a letter, a digit or _."
    return f'"{tag}" is not a tag', hint


def _find_digest_fault(digest: str) -> tuple[str, str] | None:
    algorithm, _, value = digest.partition(":")
    if len(value) == _DIGESTS.get(algorithm) and _HEX.issuperset(value):
        return None
    return f'"{digest}" is not a digest', "Write @sha256: and its 64 hexadecimal digits."


def find_moving_tag(text: str) -> str | None:
    """Return why a valid reference may later mean another image, or None if it is fixed."""
    if _is_squash_file(text):
        return "a squash file can be replaced"
    last = text.rpartition("/")[2].rpartition("#")[2]
    if "@" in last:
        return None
    tag = last.partition(":")[2]
    if not tag:
        return 'without a tag it means "latest", which moves'
    words = tag.lower().replace("_", "-").replace(".", "-").split("-")
    if any(map(_is_date_or_commit, words)):
        return None
    is_version = words[0] in _BRANCHES and re.search(r"v?[0-9]+\.[0-9]", tag)
    moves = not _MOVING.isdisjoint(words) or (words[0] in _BRANCHES and not is_version)
    return f'the tag "{tag}" moves' if moves else None


def _is_date_or_commit(word: str) -> bool:
    if _DIGITS.issuperset(word):
        return 4 <= len(word) <= 14
    return 7 <= len(word) <= 40 and _HEX.issuperset(word) and not _DIGITS.isdisjoint(word)
