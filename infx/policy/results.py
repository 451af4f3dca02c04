"""The policy's section `results`."""

from __future__ import annotations

from infx.records import record


@record
class ResultRules:
    """The conditions under which a result counts.

    Attributes:
        effective_samples: the minimum share, from 0 to 1, of a task's samples that an accuracy result counts.
        failed_requests: the maximum share, from 0 to 1, of a throughput row's requests that failed. A result may
            state a stricter share for itself, but not a laxer one.
        store: the address of the store of published results, or `environment`.
    """

    effective_samples: float
    failed_requests: float = 0.05
    store: str = "branch:infx-results"

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
