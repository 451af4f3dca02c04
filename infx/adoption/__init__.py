"""Make the files that a repository needs to use infx, from a few answers."""
