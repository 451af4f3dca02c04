"""What a repository may choose for itself, and what follows from it."""
