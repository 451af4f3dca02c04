"""The engine without a GPU answers like an OpenAI-compatible server, and the same request always gets the same answer."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.demo.servers import MODEL, SECONDS, Server, start, start_engine

CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def engine() -> Iterator[Server]:
    with start_engine("--stream-interval", "4", "--max-model-len", "400", "--accuracy", "1") as server:
        yield server


def test_the_model_and_the_health(engine: Server) -> None:
    assert engine.ask("/health") == (200, "")
    [model] = json.loads(engine.ask("/v1/models")[1])["data"]
    assert (model["id"], model["max_model_len"]) == (MODEL, 400)


def test_tokens_are_counted_exactly(engine: Server) -> None:
    answer = engine.generate(prompt="one two three", max_tokens=20, ignore_eos=True)
    usage = answer["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (3, 20, 23)
    [choice] = answer["choices"]
    assert len(choice["text"].split()) == 20
    assert choice["finish_reason"] == "length"


def test_a_stream_has_the_tokens_of_the_whole_answer(engine: Server) -> None:
    """Ten tokens: the first comes alone, the others in events of four."""
    *tokens, last = engine.stream(prompt="the same", max_tokens=10)
    whole = engine.generate(prompt="the same", max_tokens=10, ignore_eos=True)
    texts = [event["choices"][0]["text"] for event in tokens]
    assert [len(text.split()) for text in texts] == [1, 4, 4, 1]
    assert "".join(texts) == whole["choices"][0]["text"]
    assert [event["choices"][0]["finish_reason"] for event in tokens] == [None, None, None, "length"]
    assert (last["choices"], last["usage"]["completion_tokens"]) == ([], 10)


def test_a_chat_names_its_role_once_and_its_usage_only_on_demand(engine: Server) -> None:
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": [{"text": "a b c"}]}]
    events = engine.stream(path=CHAT, messages=messages, max_completion_tokens=3)
    deltas = [event["choices"][0]["delta"] for event in events[:-1]]
    assert [delta.get("role") for delta in deltas] == ["assistant", None]
    assert events[-1]["usage"]["prompt_tokens"] == 5
    without = engine.stream(path=CHAT, messages=messages, max_tokens=3, stream_options=None)
    assert len(without) == len(events) - 1


def test_an_answer_depends_on_the_prompt_only(engine: Server) -> None:
    first, again, other = (engine.generate(prompt=text, max_tokens=8) for text in ("a b", "a b", "a c"))
    assert first["choices"] == again["choices"] != other["choices"]


def test_a_prompt_may_be_token_ids(engine: Server) -> None:
    for prompt in ([1, 2, 3], [[1, 2, 3]]):
        assert engine.generate(prompt=prompt, max_tokens=1)["usage"]["prompt_tokens"] == 3


@pytest.mark.parametrize(
    ("limits", "size", "reason"),
    [
        ({"max_tokens": 4}, 4, "length"),
        ({"max_tokens": 300}, 10, "stop"),  # "We get 3 + 4 = 7 . #### 7"
        ({"max_tokens": 300, "min_tokens": 30}, 30, "length"),
        ({"max_tokens": 12, "ignore_eos": True}, 12, "length"),
    ],
)
def test_an_answer_ends_by_itself_or_at_a_limit(
    engine: Server, limits: dict[str, Any], size: int, reason: str
) -> None:
    answer = engine.generate(prompt="Question: What is 3 + 4 ?", **limits)
    assert answer["usage"]["completion_tokens"] == len(answer["choices"][0]["text"].split()) == size
    assert answer["choices"][0]["finish_reason"] == reason


def test_a_question_gets_its_result(engine: Server) -> None:
    answer = engine.generate(
        path=CHAT, messages=[{"role": "user", "content": "Question: What is 12 * 12 ?\nAnswer:"}]
    )
    assert answer["choices"][0]["message"]["content"].split()[-2:] == ["####", "144"]


def test_the_prefix_cache_holds_whole_blocks(engine: Server) -> None:
    """Forty tokens are two whole blocks of 16; the second prompt shares the first block."""
    words = [f"w{number}" for number in range(40)]
    prompts = [words, words, [*words[:20], *words[:20]]]
    answers = [engine.generate(prompt=" ".join(prompt), max_tokens=1) for prompt in prompts]
    cached = [answer["usage"]["prompt_tokens_details"]["cached_tokens"] for answer in answers]
    assert cached == [0, 32, 16]


def test_the_metrics_count_all_tokens(engine: Server) -> None:
    before = engine.read_metrics()
    engine.generate(prompt="a b c d", max_tokens=7, ignore_eos=True)
    after = engine.read_metrics()
    changes = {name.strip("{}"): after[name] - before[name] for name in after}
    assert changes["vllm:prompt_tokens_total"] == 4
    assert changes["vllm:generation_tokens_total"] == 7
    assert after["vllm:num_requests_running{}"] == after["vllm:kv_cache_usage_perc{}"] == 0


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/completions", b"{", 400),
        ("/v1/completions", [], 400),
        ("/v1/completions", {"prompt": {}}, 400),
        ("/v1/completions", {"prompt": "a", "max_tokens": -1}, 400),
        ("/v1/completions", {"prompt": "a", "max_tokens": 0}, 400),
        ("/v1/completions", {"prompt": "a " * 400}, 400),
        ("/v1/completions", {"prompt": "a", "model": "other"}, 404),
        (CHAT, {"messages": []}, 400),
        (CHAT, {"messages": [{"content": 5}]}, 400),
        ("/v1/other", {}, 405),
        ("/v1/other", None, 404),
        ("/v1/completions", None, 405),
    ],
)
def test_a_wrong_request_is_refused(engine: Server, path: str, body: Any, status: int) -> None:
    got, text = engine.ask(path, body)
    assert got == status
    assert json.loads(text)["error"]["message"]


def exchange(engine: Server, data: bytes) -> bytes:
    """Send bytes, close the sending half, and return everything that comes back."""
    with socket.create_connection(("127.0.0.1", engine.port), timeout=SECONDS) as sock:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        received = b""
        while block := sock.recv(65536):
            received += block
        return received


def test_requests_follow_each_other_on_a_connection(engine: Server) -> None:
    """A HEAD request has no body, or the next answer could not be read."""
    body = b'{"prompt": "a", "max_tokens": 1}'
    post = b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (
        len(body), body
    )  # fmt: skip
    received = exchange(engine, b"HEAD /metrics HTTP/1.1\r\n\r\n" + post + b"GET /health HTTP/1.1\r\n\r\n")
    heads = received.split(b"HTTP/1.1 200 OK\r\n")
    assert [b"text/plain; version" in heads[1], b"completion" in heads[2], b"text/plain\r\n" in heads[3]] == [
        True
    ] * 3
    assert heads[1].endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "data",
    [b"hello\r\n\r\n", b"GET /health HTTP/1.1\r\nno colon\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
     b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"GET / HTTP/1.1\r\n"],
)  # fmt: skip
def test_what_is_not_http_is_refused(engine: Server, data: bytes) -> None:
    assert exchange(engine, data).startswith(b"HTTP/1.1 400 ")


def test_an_answer_takes_at_least_the_time_of_its_tokens() -> None:
    """A clock that is 50 times as fast makes 100 tokens per second 5,000; the first token takes no time of its own."""
    with start_engine("--decode-speed", "100", "--capacity", "1e9", scale=50) as server:
        began_at = time.monotonic()
        server.stream(prompt="a", max_tokens=201)
        assert time.monotonic() - began_at >= 200 / 5000


def test_a_prompt_takes_at_least_its_time() -> None:
    with start_engine("--prefill-speed", "10000", scale=1) as server:
        began_at = time.monotonic()
        server.generate(prompt=" ".join(map(str, range(500))), max_tokens=1)
        assert time.monotonic() - began_at >= 500 / 10_000


def test_an_engine_that_loads_is_not_ready() -> None:
    with start_engine("--fail", "never-ready") as server:
        assert server.ask("/health")[0] == 503
        assert server.ask("/v1/completions", {"prompt": "a"})[0] == 503


def test_an_engine_is_ready_when_it_has_loaded() -> None:
    began_at = time.monotonic()
    with start_engine("--load-seconds", "0.2") as server:
        while server.ask("/health")[0] != 200:
            time.sleep(0.02)
        assert time.monotonic() - began_at >= 0.2


def test_workers_can_outlive_the_engine() -> None:
    with start_engine("--workers", "1", "--fail", "workers-outlive") as server:
        [(worker, _)] = find_children(server.process.pid)
    assert server.process.returncode == 0
    assert is_alive(worker)
    os.kill(worker, signal.SIGKILL)


def test_sigterm_ends_the_engine_and_its_workers() -> None:
    with start_engine("--workers", "2") as server:
        children = find_children(server.process.pid)
        assert [title for _, title in children] == ["VLLM::Worker_TP0", "VLLM::Worker_TP1"]
        server.process.terminate()
        assert server.process.wait(SECONDS) == 0
    assert find_children(server.process.pid) == []
    assert not any(is_alive(pid) for pid, _ in children)


def find_children(parent: int) -> list[tuple[int, str]]:
    """Return ids and titles of a process's children."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            is_child = int(stat.read_text().rpartition(")")[2].split()[1]) == parent
            title = stat.with_name("cmdline").read_text().split("\0")[0]
        except OSError:
            continue
        if is_child:
            found.append((int(stat.parent.name), title))
    return sorted(found)


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("fault", ["unknown", "die-after", "never-ready=3", "die-after=x"])
def test_an_unknown_fault_is_refused(fault: str) -> None:
    with pytest.raises(AssertionError, match="is not a fault"), start_engine("--fail", fault):
        pass


def test_an_address_that_cannot_be_used_is_an_error() -> None:
    with (
        pytest.raises(AssertionError, match="cannot listen"),
        start("engine.py", MODEL, "--host", "256.0.0.1"),
    ):
        pass
