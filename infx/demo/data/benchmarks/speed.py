"""How fast the engine is: a formula in place of GPUs, with the same trade-offs.

More GPUs for an engine make a token come earlier. More sessions at the same time make it come later, and use the GPUs better.
Expert parallelism costs a little time for each token, and bears more sessions. Data parallelism divides the sessions, and bears
most. With one session a TP4 engine is the quickest, with 64 TEP4, and with 128 DEP4.
"""

from __future__ import annotations

from typing import NamedTuple

_TENSOR_GAIN = 0.6  # exponent: 4 GPUs are 2.3 times as fast
_LOAD = 0.75  # exponent of the load
_EXPERT_COST = 1.15  # of exchanging tokens between the experts
_EXPERT_CAPACITY = 1.5
_DATA_GAIN = 0.4  # exponent; experts are on the GPUs of all ranks
_DATA_CAPACITY = 2.0  # because the ranks do not hold the same part of the KV cache
_DRAFT_COST = 0.1  # of a drafted token, in steps


class Speed(NamedTuple):
    """The speed of an engine.

    Attributes:
        prefill: tokens per second that one GPU reads.
        decode: tokens per second that one GPU writes for a single session.
        capacity: sessions per GPU at which a token takes twice as long.
        tensor, pipeline, data: sizes of the parallelism.
        has_experts: whether experts are parallel.
        drafted, accepted: tokens that a draft model proposes for a step, and tokens that a step then yields.
        scale: how much faster the clock of the engine runs.
    """

    prefill: float = 20_000.0
    decode: float = 100.0
    capacity: float = 8.0
    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    has_experts: bool = False
    drafted: int = 0
    accepted: float = 1.0
    scale: float = 1.0

    @property
    def gpus(self) -> int:
        return self.tensor * self.pipeline * self.data

    def find_prefill_seconds(self, tokens: int) -> float:
        """Return the seconds in which the engine reads tokens."""
        return tokens / (self.prefill * self.gpus * self.scale)

    def find_token_seconds(self, sessions: int) -> float:
        """Return the seconds between two tokens of a session, if some sessions are active."""
        capacity = self.capacity * self.tensor * self.pipeline
        gain = self.tensor**_TENSOR_GAIN * self.accepted / (1 + _DRAFT_COST * self.drafted)
        if self.has_experts:
            gain *= self.data**_DATA_GAIN / _EXPERT_COST
            capacity *= _EXPERT_CAPACITY
        if self.data > 1:
            capacity *= _DATA_CAPACITY
        load = max(sessions, 1) / self.data / capacity
        return float((1 + load**_LOAD) / (self.decode * gain * self.scale))
