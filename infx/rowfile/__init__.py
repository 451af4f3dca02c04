"""The program that a row's job runs on its own machine: one file, standard library only, Python 3.8 or newer.

`infx.matrix.row_file` packs these modules into `row.py`, which travels with the plan. A GPU machine installs nothing
and reaches no package index; everything that a row needs was decided when the plan was cut.
"""
