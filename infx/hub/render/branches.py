"""Render branches, their rules and protection, and groups of the merge queue."""

from __future__ import annotations

from urllib.parse import quote

from infx.hub.render.base import Json, address, node, page
from infx.hub.render.commits import commit
from infx.hub.rules import METHODS, Protection, QueueRule, RequiredCheck, Ruleset
from infx.hub.state import QueueEntry
from infx.hub.world import World


def rules(world: World, known: Ruleset) -> list[Json]:
    """Render the rules of a ruleset as `rules/branches` lists them."""
    source = {
        "ruleset_source_type": "Repository",
        "ruleset_source": world.repository,
        "ruleset_id": known.id,
    }
    return [{**rule, **source} for rule in _rules(known)]


def _rules(known: Ruleset) -> list[Json]:
    shown: list[Json] = [{"type": "deletion"}, {"type": "non_fast_forward"}]
    if known.methods != METHODS:
        flags = ("dismiss_stale_reviews_on_push", "require_code_owner_review", "require_last_push_approval")
        parameters = {
            **dict.fromkeys((*flags, "required_review_thread_resolution"), False),
            "required_approving_review_count": 0,
            "allowed_merge_methods": list(known.methods),
        }
        shown.append({"type": "pull_request", "parameters": parameters})
    if known.checks:
        shown.append(
            {
                "type": "required_status_checks",
                "parameters": {
                    "strict_required_status_checks_policy": known.is_strict,
                    "do_not_enforce_on_create": False,
                    "required_status_checks": [_check(check) for check in known.checks],
                },
            }
        )
    if known.queue is not None:
        shown.append({"type": "merge_queue", "parameters": _queue(known.queue)})
    return shown


def _check(check: RequiredCheck) -> Json:
    bound = {} if check.app_id is None else {"integration_id": check.app_id}
    return {"context": check.context, **bound}


def _queue(known: QueueRule) -> Json:
    return {
        "check_response_timeout_minutes": known.timeout,
        "grouping_strategy": "ALLGREEN",
        "max_entries_to_build": known.build,
        "max_entries_to_merge": known.merge,
        "merge_method": known.method.upper(),
        "min_entries_to_merge": 1,
        "min_entries_to_merge_wait_minutes": 0,
    }


def ruleset(world: World, known: Ruleset, *, whole: bool = True) -> Json:
    """Render a ruleset; lists show it without its rules."""
    conditions = {"ref_name": {"include": [f"refs/heads/{known.branch}"], "exclude": []}}
    return {
        "id": known.id,
        "name": known.name,
        "target": "branch",
        "source_type": "Repository",
        "source": world.repository,
        "enforcement": "active",
        "node_id": node("RRS", known.id),
        "_links": {
            "self": {"href": address(world, "rulesets", known.id)},
            "html": {"href": page(world, "rules", known.id)},
        },
        **({"conditions": conditions, "rules": _rules(known)} if whole else {}),
    }


def branch(world: World, name: str, sha: str) -> Json:
    """Render a branch with a summary of its classic protection, which everyone may read."""
    known = world.state.protections.get(name)
    url = address(world, "branches", quote(name, safe=""))
    summary = {
        "enforcement_level": "off" if known is None else "everyone",
        "contexts": [] if known is None else [check.context for check in known.checks],
        "checks": [] if known is None else _classic(known),
    }
    return {
        "name": name,
        "commit": commit(world, world.git.commit(sha)),
        "_links": {"self": url, "html": page(world, "tree", name)},
        "protected": known is not None or any(r.branch == name for r in world.state.rulesets),
        "protection": {"enabled": known is not None, "required_status_checks": summary},
        "protection_url": f"{url}/protection",
    }


def protection(world: World, name: str, known: Protection) -> Json:
    url = f"{address(world, 'branches', quote(name, safe=''))}/protection"
    flags = ("required_linear_history", "allow_force_pushes", "allow_deletions", "block_creations")
    return {
        "url": url,
        **({"required_status_checks": check_policy(world, name, known)} if known.checks else {}),
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": True},
        **{flag: {"enabled": False} for flag in flags},
    }


def check_policy(world: World, name: str, known: Protection) -> Json:
    url = f"{address(world, 'branches', quote(name, safe=''))}/protection/required_status_checks"
    return {
        "url": url,
        "contexts_url": f"{url}/contexts",
        "strict": known.is_strict,
        "contexts": [check.context for check in known.checks],
        "checks": _classic(known),
    }


def _classic(known: Protection) -> list[Json]:
    return [{"context": check.context, "app_id": check.app_id} for check in known.checks]


def merge_group(world: World, entry: QueueEntry, ref: str) -> Json:
    """Render a group, as the event `merge_group` has it."""
    assert entry.group_sha is not None
    made = world.git.commit(entry.group_sha)
    person = {"name": made.name, "email": made.email}
    return {
        "head_sha": entry.group_sha,
        "head_ref": ref,
        "base_sha": entry.group_base,
        "base_ref": f"refs/heads/{entry.base}",
        "head_commit": {
            "id": entry.group_sha,
            "tree_id": made.tree,
            "message": made.message,
            "timestamp": made.date,
            "author": person,
            "committer": person,
        },
    }
