"""Do on this machine what GitHub Actions and the runners do, for a hub: run the actions and the rows of the workflows.

The demo plays its story with this package, and `infx hub play` a pull request of any repository.
"""
