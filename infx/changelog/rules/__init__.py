"""One module for each kind of rule; `table` has them all."""
