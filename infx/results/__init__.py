"""What comes back from a sweep: rows of results, set against the plan that asked for them."""
