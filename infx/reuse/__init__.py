"""Reuse of a finished sweep: who asked for it, and for which run."""
