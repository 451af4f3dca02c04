"""Decide what is evidence for a pull request and its head: runs, rows, files and settlements.

The status `infx/sweep` and sign-offs use these functions, and only these.
"""
