"""Find out what a repository still lacks before infx works in it."""
