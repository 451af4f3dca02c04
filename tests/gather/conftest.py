"""Share the hub fixture of the reconciliation tests."""

from tests.reconcile.conftest import made_world, world

__all__ = ["made_world", "world"]
