"""The hub: an embedded stand-in for the part of GitHub's API that infx uses, for the demo and the tests."""

from infx.hub.faults import FOREVER, Fault, FaultKind
from infx.hub.hub import Hub
from infx.hub.state import Event

__all__ = ["FOREVER", "Event", "Fault", "FaultKind", "Hub"]
