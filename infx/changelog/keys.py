"""Look up the keys of the master configurations that an entry names."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property

from infx.errors import Problem
from infx.records import record


@record
class ConfigKeys:
    """The keys of all master configurations."""

    files: tuple[tuple[str, bytes], ...] = field(repr=False)  # (path, bytes) of each master configuration

    @cached_property
    def keys(self) -> list[str]:
        """All keys. Raises ProblemsError for a file that is not YAML."""
        from infx import yaml12

        return [key for path, data in self.files for key in yaml12.find_top_level_keys(data, path)]

    def find_unknown(self, pattern: str) -> list[Problem]:
        """Return a problem without path and line if no configuration matches a key or pattern.

        Raises ProblemsError for a file that is not YAML.
        """
        from infx.bench.keys import resolve_keys

        return [] if self._has_key_line(pattern) else resolve_keys([pattern], self.keys)[1]

    def _has_key_line(self, key: str) -> bool:
        """Return whether a line starts with the key, or with text that matches the pattern, and a colon."""
        # Parsing all configurations takes longer than all other work of a validation. A line inside a quoted text that
        # only looks like a key passes here; the planner refuses it.
        if key.count("*") == 1:
            text = re.escape(key.encode()).replace(rb"\*", rb"[\w.-]*")
            return any(re.search(rb"^" + text + rb":", data, re.MULTILINE) for _, data in self.files)
        line = f"\n{key}:".encode()
        return any(line in data or data.startswith(line[1:]) for _, data in self.files)
