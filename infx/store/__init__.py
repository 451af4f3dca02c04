"""Keep published results: on a branch of the repository, or in an SQL database."""
