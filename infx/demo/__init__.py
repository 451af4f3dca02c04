"""Play six pull requests on a laptop, from the first push to published results, against the hub.

The commands are those that the workflows run.
"""
