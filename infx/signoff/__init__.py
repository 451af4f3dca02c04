"""Sign-offs: is a reviewer's checklist true, as far as a program can tell? Facts in, verdict out; pure."""
