"""Gather facts from GitHub, git and files, once and completely, into the values that a decision needs."""
