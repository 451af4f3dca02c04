"""From configurations to rows, plans and shards: what runs, where, and why."""
