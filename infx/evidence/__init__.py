"""What is evidence for a pull request and its head: which runs, which rows, which files, and whose word.

The status `infx/sweep` and sign-offs decide by these functions and by no others.
"""
