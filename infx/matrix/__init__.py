"""Turn configurations into rows, plans and shards."""
