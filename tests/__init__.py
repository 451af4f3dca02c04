"""Tests of infx, by the packages that they are of.

What a run imports is compiled once and kept, for its workers and the hundreds of processes that it starts too: the
surroundings may say otherwise, and each of them would then compile everything again.
"""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
