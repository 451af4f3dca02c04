"""The append-only changelog that starts sweeps: its entries, rules, links and merges, all on bytes."""
