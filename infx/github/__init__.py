"""The one place that talks to GitHub."""
