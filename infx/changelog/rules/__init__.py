"""The rules of the changelog, one module for each kind."""
