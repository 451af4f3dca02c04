"""Merging a pull request: the next step, and why it cannot be taken."""
