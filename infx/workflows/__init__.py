"""What can be wrong in workflow and action files, found by reading them."""
