"""Read the world once, completely, into the values that a decision needs."""
