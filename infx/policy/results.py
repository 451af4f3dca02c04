"""The policy's section `results`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from infx.records import record


@record
class ResultRules:
    """The conditions under which a result counts.

    Attributes:
        effective_samples: the minimum share, from 0 to 1, of a task's samples that an accuracy result counts.
        failed_requests: the maximum share, from 0 to 1, of a throughput row's requests that failed. A result may
            state a stricter share for itself, but not a laxer one.
        failed_agentic_requests: the same for rows of AgentX, whose requests depend on each other and fail more often.
        store: the address of the store of published results, or `environment`.
        model_aliases: model prefix → other prefixes under which results of the same model were published. Without an
            entry, only results with an equal prefix are compared.
    """

    effective_samples: float
    failed_requests: float = 0.05
    failed_agentic_requests: float = 0.10
    store: str = "branch:infx-results"
    model_aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def list_prefixes(self, model_prefix: str) -> tuple[str, ...]:
        """Return the model prefix and its aliases, in lower case, each once."""
        aliases = next(
            (names for name, names in self.model_aliases.items() if name.lower() == model_prefix.lower()), ()
        )
        return tuple(dict.fromkeys(name.lower() for name in (model_prefix, *aliases)))

    def find_failure_limit(self, *, is_agentic: bool) -> float:
        """Return the maximum share of a row's requests that failed."""
        return self.failed_agentic_requests if is_agentic else self.failed_requests

    def find_sample_fault(self, effective: int, original: int | None) -> str | None:
        """Return a clause that says why the number of samples is wrong; None if it is right or cannot be compared."""
        if original is None:
            return None
        if effective > original:
            return f"{effective:,} samples counted, but the task has {original:,}"
        if not original or effective / original < self.effective_samples:
            share = f"{100 * self.effective_samples:.4g} %"
            return f"{effective:,} of {original:,} samples counted, but the policy requires {share}"
        return None
