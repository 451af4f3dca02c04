"""The gate's decision, as later commands read it from its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infx.errors import InfxError
from infx.files import decode_json, read_file

if TYPE_CHECKING:
    from infx.gate.decision import Decision


def read_decision(path: str) -> Decision:
    """Return the decision that `infx gate` printed. Raises InfxError unless its verdict is to run."""
    from infx.gate.decision import Decision
    from infx.saved import parse_value

    values = decode_json(read_file(path, "decision"), "file", path)
    if isinstance(values, dict):
        values.pop("sentence", None)  # made from the other values, for people
    decision = parse_value(Decision, values, path)
    if not decision.runs:
        raise InfxError(f"The gate decided {decision.verdict}, so there is nothing to plan.", where=path)
    return decision
