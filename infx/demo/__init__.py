"""Play three real pull requests on a laptop, from the first push to the merge, against the hub.

The commands are those that the workflows run.
"""
