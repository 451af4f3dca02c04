"""The client for GitHub's API."""
