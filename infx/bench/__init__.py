"""The parts of a benchmark: configurations, rows, entries, and the names that identify them."""
