"""Every rule about a changelog, in the order in which the documentation lists them."""

from __future__ import annotations

from infx.changelog.rules import fields, history, layout, link, text
from infx.changelog.subject import Rule

TEXT_RULES = text.RULES
HISTORY_RULES = history.RULES
ENTRY_RULES: tuple[Rule, ...] = (*layout.RULES, *fields.RULES, *link.RULES)
RULES: tuple[Rule, ...] = (*TEXT_RULES, *HISTORY_RULES, *ENTRY_RULES)
