"""The keys of the master configurations, as far as an entry needs them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from infx.errors import Problem


@dataclass(frozen=True)
class ConfigKeys:
    """files: (path, bytes) of every master configuration."""

    files: tuple[tuple[str, bytes], ...] = field(repr=False)

    @cached_property
    def keys(self) -> list[str]:
        """Every key. Raises ProblemsError for a file that is not YAML."""
        from infx import yaml12

        return [key for path, data in self.files for key in yaml12.top_level_keys(data, path)]

    def find_unknown(self, pattern: str) -> list[Problem]:
        """A problem without a place if a key or pattern names no configuration.

        Raises ProblemsError for a file that is not YAML.
        """
        from infx.bench.keys import resolve_keys

        return [] if self._stands_there(pattern) else resolve_keys([pattern], self.keys)[1]

    def _stands_there(self, key: str) -> bool:
        """A quick yes, without parsing: a line that starts with the key, or what the pattern stands for, and a colon.

        Parsing all configurations takes longer than everything else in a validation. A line that only looks like a
        key, inside a quoted text in the first column, would be let pass here and refused by the planner.
        """
        if key.count("*") == 1:
            text = re.escape(key.encode()).replace(rb"\*", rb"[\w.-]*")
            return any(re.search(rb"^" + text + rb":", data, re.MULTILINE) for _, data in self.files)
        line = f"\n{key}:".encode()
        return any(line in data or data.startswith(line[1:]) for _, data in self.files)
