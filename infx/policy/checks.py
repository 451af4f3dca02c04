"""The checks of a sign-off by number, each with the slug that the policy uses and the name that people read."""

from __future__ import annotations

from infx.records import record


@record
class Check:
    number: int
    slug: str
    name: str


CHECKS = tuple(
    Check(number=number, slug=slug, name=name)
    for number, (slug, name) in enumerate(
        [
            ("owner", "Owner"),
            ("sweep", "Green sweep"),
            ("accuracy", "Accuracy"),
            ("recipe", "Upstream recipe"),
            ("reuse", "Reuse command"),
            ("checklist", "Latest checklist"),
            ("images", "Images and engine order"),
            ("deprecation", "Deprecations"),
            ("architecture", "Native architecture"),
            ("chat", "Chat template"),
            ("patches", "No engine patches"),
            ("acceptance", "Golden acceptance length"),
            ("append-only", "Append-only purity"),
            ("draft", "Draft as shipped"),
            ("pareto", "Pareto coverage"),
            ("description", "Description"),
        ]
    )
)


def find_check(word: str) -> Check | None:
    """Return the check with this number or slug."""
    return next((check for check in CHECKS if word in {str(check.number), check.slug}), None)
