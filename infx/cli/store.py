"""Open the store of published results for a command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infx.policy.model import Policy
    from infx.store.port import ResultStore


def open_results(policy: Policy, clone: Path | None = None) -> ResultStore:
    """Return the store that INFX_STORE or the policy names. clone: by default the current folder's."""
    from infx.git import Git
    from infx.github.api import read_token
    from infx.store.open import find_address, open_store

    address = find_address(policy.results.store, os.environ)
    return open_store(
        address, Git(clone or Path.cwd()), author=policy.identities[0], token=read_token(os.environ)
    )
