"""Decide whether a sweep starts, from the facts of an event and a pull request."""
