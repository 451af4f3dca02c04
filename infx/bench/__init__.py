"""What a benchmark is made of: configurations, rows, entries, and the names that identify them."""
