"""The append-only record that starts sweeps: entries, rules, links and merges, all on bytes."""
