"""Every rule about a changelog, in the order in which the documentation lists them."""

from __future__ import annotations

from infx.changelog.rules import descriptions, fields, history, layout, link, text
from infx.changelog.subject import ChangelogRule

RULES: tuple[ChangelogRule, ...] = (
    *text.RULES,
    *history.RULES,
    *layout.RULES,
    *descriptions.RULES,
    *fields.RULES,
    *link.RULES,
)
