"""Reuse of a finished sweep: who asked for it, and which run can serve."""
