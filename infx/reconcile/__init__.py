"""Decide what should be on a pull request, from its facts, and list the writes that are missing.

Reconciling twice, concurrently, late, or after a lost event or reply ends in the same state.
"""
