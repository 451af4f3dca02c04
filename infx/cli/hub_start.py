"""Start a hub with samples or with the user's repository, and explain how to use it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from infx.cli.hub import SAMPLE_NAME
from infx.cli.options import find_infx
from infx.errors import UnavailableError, visible
from infx.gather.served import ServedRepository, read_served
from infx.hub import Hub
from infx.hub.adopted import add_owners, copy_branches, open_pulls
from infx.hub.seed import Sample, add_people, seed
from infx.policy import POLICY_PATH
from infx.policy.load import default_policy
from infx.policy.model import Labels

_MOST = 20  # pull requests that are listed


def start(
    port: int,
    source: Path | None,
    branches: Sequence[str],
    name: str | None,
    folder: Path | None,
    *,
    is_empty: bool,
) -> tuple[Hub, str]:
    """Return a running hub, and the lines to print."""
    repository = read_served(source, name=name, chosen=branches) if source else None
    shown_name = (repository.name if repository else name) or SAMPLE_NAME
    served = _open(port, shown_name, folder, repository.base if repository else "main")
    try:
        add_people(served)
        if repository is None:
            samples = [] if is_empty else list(seed(served))
            return served, describe(served, samples, default_policy().labels)
        samples = _fill(served, repository, must=bool(branches))
        return served, describe(served, samples, repository.policy.labels, repository)
    except BaseException:
        served.stop()
        raise


def _open(port: int, name: str, folder: Path | None, branch: str) -> Hub:
    try:
        return Hub(folder, repository=name, branch=branch, port=port)
    except OSError as error:
        if error.filename:
            raise  # the error is about --folder, not about the port
        raise UnavailableError(
            f"Port {port} cannot be used: {error.strerror}.", hint="Give another --port."
        ) from None


def _fill(served: Hub, repository: ServedRepository, *, must: bool) -> list[Sample]:
    copy_branches(served, repository.root, repository.refspecs)
    add_owners(served)
    return open_pulls(served, repository.branches, repository.policy.changelog, must=must)


def describe(
    served: Hub, samples: Sequence[Sample], labels: Labels, repository: ServedRepository | None = None
) -> str:
    """Return the lines that explain how to use the hub from another terminal."""
    scopes = {"pull_requests": "write", "statuses": "write", "actions": "write"}
    bot = served.workflow_token({**scopes, "contents": "read", "checks": "read"})
    mia = served.user_token("mia")
    shown = [f"  pull request {sample.number} {sample.words}" for sample in samples[:_MOST]]
    more = [f"  … and {len(samples) - _MOST} more"] if len(samples) > _MOST else []
    about = "   # infx merge and infx publish push to this clone's origin" if repository else ""
    lines = [
        f"{served.repository} is served at {served.api}; interrupt to stop.",
        "",
        *shown,
        *more,
        *_describe_source(repository, samples),
        "",
        "In another terminal:",
        "",
        f"  export GITHUB_API_URL={served.api} GH_TOKEN={bot}   # a workflow's token",
        f"  git clone {shlex.quote(str(served.git_path))} bench && cd bench{about}",
        *_describe_commands(served, samples, labels, mia),
        "",
        f"gh works, too: GH_ENTERPRISE_TOKEN={mia} gh api $GITHUB_API_URL/repos/{served.repository}/pulls",
        *_describe_people(served),
        f"GH_TOKEN={mia} is mia, who may do everything.",
    ]
    return "\n".join(lines)


def _describe_people(served: Hub) -> list[str]:
    """Return the tokens of the people with write access, of whom some may sign off."""
    logins = [login for login, account in served.state.accounts.items() if account.role == "write"]
    tokens = [f"{visible(login)} {served.user_token(login)}" for login in logins[:_MOST]]
    return [f"Tokens of people with write access: {', '.join(tokens)}."] if tokens else []


def _describe_commands(served: Hub, samples: Sequence[Sample], labels: Labels, mia: str) -> list[str]:
    if not samples:
        return []
    number = samples[0].number
    label = next((name for name, about in labels.primary.items() if about.recommended), None)
    body = shlex.quote(json.dumps([label or next(iter(labels.primary))]))
    address = f"$GITHUB_API_URL/repos/{served.repository}/issues/{number}/labels"
    return [
        f"  {find_infx()} explain --pr {number}",
        f"  {find_infx()} reconcile --pr {number}",
        f'  curl -s -H "Authorization: token {mia}" {address} -d {body}',
        f"  {find_infx()} hub play {number}",
    ]


def _describe_source(repository: ServedRepository | None, samples: Sequence[Sample]) -> list[str]:
    """Return what a user should know about the served clone."""
    if repository is None:
        return []
    lines = [] if samples else [f"  No local branch is ahead of {repository.base}."]
    lines += ["", f"These are the commits of {repository.root}; uncommitted changes are not served."]
    if not repository.has_policy:
        lines.append(f"{repository.base} has no {POLICY_PATH}, so the packaged policy applies.")
    return lines
