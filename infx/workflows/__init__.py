"""Check workflow and action files for mistakes that can be found by reading them."""
