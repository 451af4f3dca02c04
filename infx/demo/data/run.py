"""The benchmark script of the demo's repository: no GPU, but a result as a benchmark leaves it, or a failure.

What runs out of memory here is what ran out of memory there: DEP4 at 64 sessions, until half of it is left free.
"""

import os
import sys
from pathlib import Path

from infx.results import sample

dep4_at_64 = (os.environ.get("DP_ATTENTION"), os.environ.get("CONC")) == ("true", "64")
if dep4_at_64 and os.environ["EVAL_ONLY"] != "true" and os.environ["IMAGE"].endswith(":v0.27.1"):
    sys.exit("torch.OutOfMemoryError: tried to allocate 4.45 GiB during warm-up")
sys.exit(sample.main(os.environ, Path.cwd()))
