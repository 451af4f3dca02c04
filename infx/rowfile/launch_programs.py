"""The programs that a launch puts into the checkout, so that a benchmark in a container has them."""

from __future__ import annotations

import os

from .errors import RowError
from .runner import ROW_FILE, SUPERVISE

FOLDER = ".infx"  # in the checkout, which the container has, and a node that gets a copy
# The variable of the benchmark with the path of each program, by the program's name in the plan folder.
VARIABLES = {"row.py": ROW_FILE, "supervise.py": SUPERVISE}


def read_programs(plan: str) -> dict[str, bytes]:
    """Return the programs of a plan folder, by name. Raises RowError (2)."""
    programs = {}
    for name in VARIABLES:
        try:
            with open(os.path.join(plan, name), "rb") as file:
                programs[name] = file.read()
        except OSError as error:
            reason = str(error.strerror)
            raise RowError(plan + ": the plan's " + name + " cannot be read: " + reason + ".", 2) from None
    return programs


def place_programs(programs: dict[str, bytes], workspace: str) -> None:
    """Write programs into a checkout, where git ignores them.

    The checkout is untrusted, and may have links in their place. Raises RowError (1) for such a folder, and OSError.
    """
    folder = os.path.join(workspace, FOLDER)
    if os.path.lexists(folder) and (os.path.islink(folder) or not os.path.isdir(folder)):
        raise RowError("The checkout has a file or a link " + FOLDER + "; expected none, or a folder.", 1)
    os.makedirs(folder, exist_ok=True)
    for name, data in {**programs, ".gitignore": b"*\n"}.items():
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            raise RowError("The checkout has a folder " + FOLDER + "/" + name + "; expected none.", 1)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "xb") as file:  # a link is not followed
            file.write(data)


def name_programs(checkout: str) -> dict[str, str]:
    """Return the variables of the benchmark. checkout: its path where the benchmark runs."""
    return {variable: checkout + "/" + FOLDER + "/" + name for name, variable in VARIABLES.items()}
