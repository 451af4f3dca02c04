"""Sign-offs: facts in, verdict out. Check a reviewer's checklist as far as a program can; pure."""
