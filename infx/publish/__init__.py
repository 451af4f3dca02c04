"""Where the results of a merge go: decisions about merges, validated rows, and deliveries."""
