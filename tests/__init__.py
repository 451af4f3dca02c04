"""Tests of infx, by the packages that they are of.

Python keeps the compiled modules, also for the workers and the hundreds of processes that a run starts. The environment
may turn this off, and then each of these processes would compile everything again.
"""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
