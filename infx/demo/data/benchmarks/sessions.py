"""The sessions of the engine: admission, the time that each token takes, the prefix cache, and the counters."""

from __future__ import annotations

import time
from collections import deque

from answers import BLOCK, Prompt
from loop import Loop, Signal, sleep_until, wait_for
from speed import Speed

CACHE_TOKENS = 100_000  # that fit into the memory of one GPU
_MAX_BLOCKS = 500_000  # of the prefix cache, before it is emptied


class Sessions:
    """All sessions of an engine.

    Attributes:
        running: number of sessions that the engine works on.
        held_tokens: tokens of these sessions.
        read_tokens, cached_tokens: tokens of prompts, and those of them that were in the prefix cache.
        generated_tokens: tokens of answers.
    """

    def __init__(self, loop: Loop, speed: Speed, limit: int) -> None:
        self._loop = loop
        self.speed = speed
        self._limit = limit
        self._waiting: deque[Signal] = deque()
        self._prefill_end = 0.0
        self._cache: set[int] = set()
        self.running = self.held_tokens = 0
        self.read_tokens = self.cached_tokens = self.generated_tokens = 0

    async def enter(self) -> Session:
        """Wait until there is room for a further session, and return it."""
        if self.running >= self._limit:
            signal = Signal()
            self._waiting.append(signal)
            await wait_for(signal)  # its place was kept
        else:
            self.running += 1
        return Session(self)

    def leave(self, session: Session) -> None:
        """Give back the place of a session."""
        self.held_tokens -= session.tokens
        if self._waiting:
            self._loop.send(self._waiting.popleft())
        else:
            self.running -= 1

    def plan_prefill(self, tokens: int) -> float:
        """Return when a further prompt is read. Prompts are read one after another."""
        seconds = self.speed.find_prefill_seconds(tokens)
        self._prefill_end = max(time.monotonic(), self._prefill_end) + seconds
        return self._prefill_end

    def look_up(self, prompt: Prompt) -> int:
        """Return the tokens at the start of a prompt that are in the prefix cache, and add the prompt to the cache."""
        hits = 0
        while hits < len(prompt.blocks) and prompt.blocks[hits] in self._cache:
            hits += 1
        if len(self._cache) > _MAX_BLOCKS:
            self._cache.clear()
        self._cache.update(prompt.blocks[hits:])
        self.read_tokens += prompt.size
        self.cached_tokens += hits * BLOCK
        return hits * BLOCK

    def list_metrics(self) -> list[tuple[str, str, float]]:
        """Return name, type and value of each metric, by the names of vLLM."""
        usage = min(1.0, self.held_tokens / (CACHE_TOKENS * self.speed.gpus))
        return [
            ("vllm:num_requests_running", "gauge", self.running),
            ("vllm:num_requests_waiting", "gauge", len(self._waiting)),
            ("vllm:kv_cache_usage_perc", "gauge", usage),
            ("vllm:prompt_tokens_total", "counter", self.read_tokens),
            ("vllm:generation_tokens_total", "counter", self.generated_tokens),
            ("vllm:prefix_cache_queries_total", "counter", self.read_tokens),
            ("vllm:prefix_cache_hits_total", "counter", self.cached_tokens),
        ]


class Session:
    """A session that the engine works on.

    Attributes:
        tokens: that it holds in memory.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._moment = 0.0  # when it had its last token
        self.tokens = 0

    async def prefill(self, prompt: Prompt, is_remote: bool) -> int:
        """Wait until the first token is there, and return the tokens of the prompt that were cached.

        is_remote: whether another engine has read the prompt.
        """
        cached = 0 if is_remote else self._sessions.look_up(prompt)
        self._hold(prompt.size)
        tokens = 0 if is_remote else max(1, prompt.size - cached)
        self._moment = self._sessions.plan_prefill(tokens) if tokens else time.monotonic()
        await sleep_until(self._moment)
        self._hold(1)
        self._sessions.generated_tokens += 1
        return cached

    async def decode(self, tokens: int) -> None:
        """Wait until there are further tokens."""
        sessions = self._sessions
        self._moment += tokens * sessions.speed.find_token_seconds(sessions.running)
        await sleep_until(self._moment)
        self._hold(tokens)
        sessions.generated_tokens += tokens

    def _hold(self, tokens: int) -> None:
        self.tokens += tokens
        self._sessions.held_tokens += tokens


def render_metrics(metrics: list[tuple[str, str, float]], model: str) -> str:
    """Return metrics in the format of Prometheus."""
    label = '{model_name="' + model.replace("\\", "").replace('"', "") + '"}'
    return "".join(f"# TYPE {name} {kind}\n{name}{label} {value}\n" for name, kind, value in metrics)
