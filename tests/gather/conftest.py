"""What is gathered for a reconciliation is gathered in the world of its tests."""

from tests.reconcile.conftest import made_world, world

__all__ = ["made_world", "world"]
