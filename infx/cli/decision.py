"""What the gate decided, as the commands after it read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from infx.errors import InfxError
from infx.files import read_file

if TYPE_CHECKING:
    from infx.gate.decision import Decision


def read_decision(path: str) -> Decision:
    """The decision that `infx gate` printed. Raises InfxError if it is not to run."""
    from infx.gate.decision import Decision
    from infx.saved import parse_json

    decision = parse_json(Decision, _without_sentence(read_file(path, "decision")), path)
    if not decision.runs:
        raise InfxError(f"The gate decided {decision.verdict}, so there is nothing to plan.", where=path)
    return decision


def _without_sentence(data: bytes) -> bytes:
    """The sentence is for people and follows from the rest."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return data  # the reader of the values says what is wrong
    if isinstance(values, dict):
        values.pop("sentence", None)
    return json.dumps(values).encode()
