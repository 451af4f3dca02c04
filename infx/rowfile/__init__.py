"""The programs that a row's job runs on its own machine: standard library only, Python 3.8 or newer.

`infx.matrix.row_file` packs these modules into `row.py`, which runs the row, and into `supervise.py`, which runs the
row's servers and its client in a container. Both travel with the plan. A GPU machine installs nothing and reaches no
package index; everything that a row needs was decided when the plan was cut.
"""
