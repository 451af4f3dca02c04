"""The policy's section `results`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ResultRules:
    """What a result must show to count.

    Attributes:
        effective_samples: the share of a task's samples, from 0 to 1, that must have counted for an accuracy result.
        failed_requests: the share of a throughput row's requests, from 0 to 1, that may have failed at most. A result
            may state a stricter share for itself, never a laxer one.
    """

    effective_samples: float
    failed_requests: float = 0.05

    def find_sample_fault(self, effective: int, original: int | None) -> str | None:
        """Return why so many samples are not the task, a clause. Without the original count nothing is compared."""
        if original is None:
            return None
        if effective > original:
            return f"{effective:,} samples counted, and the task has {original:,}"
        if not original or effective / original < self.effective_samples:
            share = f"{100 * self.effective_samples:.4g} %"
            return f"{effective:,} of {original:,} samples counted, and the policy asks for {share}"
        return None
