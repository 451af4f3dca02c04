"""Whether a sweep starts: facts of an event and a pull request in, a decision with its reason out."""
