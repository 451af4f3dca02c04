"""Read where this infx was installed from."""

from __future__ import annotations

import json
from importlib import metadata

from infx.records import record


@record
class GitInstallation:
    """An installation by pip from a git repository.

    Attributes:
        revision: the branch, tag or SHA that pip was asked for; empty for the default branch.
    """

    url: str
    commit: str
    revision: str


def read_git_installation() -> GitInstallation | None:
    """Return the repository and the commit of this infx, or None if pip installed it from a folder or an archive."""
    try:
        text = metadata.distribution("infx").read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # the actions copy infx
        return None
    return parse_direct_url(text) if text else None


def parse_direct_url(text: str) -> GitInstallation | None:
    """Return the same from the text of pip's direct_url.json."""
    value = json.loads(text)
    vcs = value.get("vcs_info", {})
    if vcs.get("vcs") != "git":
        return None
    return GitInstallation(
        url=value["url"], commit=vcs["commit_id"], revision=vcs.get("requested_revision", "")
    )
