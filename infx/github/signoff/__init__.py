"""Sign-offs at the edge: facts gathered from a clone and from GitHub, verdicts published."""
