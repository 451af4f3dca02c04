"""What the gate decided, as the commands after it read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infx.errors import InfxError
from infx.files import decode_json, read_file

if TYPE_CHECKING:
    from infx.gate.decision import Decision


def read_decision(path: str) -> Decision:
    """The decision that `infx gate` printed. Raises InfxError if it is not to run."""
    from infx.gate.decision import Decision
    from infx.saved import parse_value

    values = decode_json(read_file(path, "decision"), "file", path)
    if isinstance(values, dict):
        values.pop("sentence", None)  # which is for people and follows from the rest
    decision = parse_value(Decision, values, path)
    if not decision.runs:
        raise InfxError(f"The gate decided {decision.verdict}, so there is nothing to plan.", where=path)
    return decision
