"""One module for each kind of rule."""
