"""The router passes requests on in turn, lives on when an engine dies, and cuts off what was cut off behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.demo.servers import SECONDS, Server, is_cut_off, start, start_engine


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[Server, Server]]:
    with start_engine() as first, start_engine() as second:
        yield first, second


@pytest.fixture(scope="module")
def router(engines: tuple[Server, Server]) -> Iterator[Server]:
    urls = [word for engine in engines for word in ("--engine", engine.url)]
    with start("router.py", *urls) as server:
        yield server


def count_tokens(server: Server) -> float:
    return server.read_metrics()["vllm:generation_tokens_total{}"]


def test_requests_go_to_the_engines_in_turn(engines: tuple[Server, Server], router: Server) -> None:
    before = [count_tokens(engine) for engine in engines]
    answers = [router.generate(prompt="a b", max_tokens=5) for _ in range(4)]
    assert [count_tokens(engine) - old for engine, old in zip(engines, before, strict=True)] == [10, 10]
    assert len({answer["choices"][0]["text"] for answer in answers}) == 1


def test_answers_pass_through_unchanged(engines: tuple[Server, Server], router: Server) -> None:
    direct, passed = (server.stream(prompt="through", max_tokens=9) for server in (engines[0], router))
    assert [event["choices"] for event in direct] == [event["choices"] for event in passed]
    assert router.ask("/v1/models")[0] == 200
    assert router.ask("/v1/completions", {"prompt": 5})[0] == 400
    assert router.ask("/health") == (200, "")


def test_the_metrics_name_the_engine(engines: tuple[Server, Server], router: Server) -> None:
    metrics = router.read_metrics()
    for number, engine in enumerate(engines):
        assert metrics[f'vllm:generation_tokens_total{{engine="{number}",}}'] == count_tokens(engine)


def test_a_router_lives_on_when_an_engine_dies() -> None:
    with start_engine("--fail", "die-after=1") as first, start_engine() as second:
        urls = ["--engine", first.url, "--engine", second.url]
        with start("router.py", *urls) as engines_health, start("router.py", *urls, "--health", "own") as own:
            assert engines_health.ask("/health")[0] == 200
            first.generate(prompt="the last", max_tokens=1)
            assert first.process.wait(SECONDS) == -9
            assert engines_health.ask("/health")[0] == 503
            assert own.ask("/health")[0] == 200
            statuses = [own.ask("/v1/completions", {"prompt": "a"})[0] for _ in range(2)]
            assert statuses == [502, 200]


def test_separate_roles_read_and_write(engines: tuple[Server, Server]) -> None:
    """The prefill engine makes one token, and only this engine reads the prompt."""
    prefill, decode = engines
    with start("router.py", "--prefill", prefill.url, "--decode", decode.url) as router:
        before = [engine.read_metrics() for engine in engines]
        events = router.stream(prompt=" ".join(["long"] * 32), max_tokens=6, min_tokens=6)
        after = [engine.read_metrics() for engine in engines]
    changes = [{name: new[name] - old[name] for name in new} for old, new in zip(before, after, strict=True)]
    assert [change["vllm:generation_tokens_total{}"] for change in changes] == [1, 6]
    assert events[-1]["usage"]["completion_tokens"] == 6
    assert events[-1]["usage"]["prompt_tokens"] == 32


def test_a_stream_that_is_cut_off_stays_cut_off() -> None:
    body = {"prompt": "a", "max_tokens": 8, "ignore_eos": True, "stream": True}
    with (
        start_engine("--fail", "drop-after=3") as engine,
        start("router.py", "--engine", engine.url) as router,
    ):
        assert is_cut_off(engine, body)
        assert is_cut_off(router, body)


def test_roles_need_each_other() -> None:
    for words in ([], ["--prefill", "127.0.0.1:1"], ["--engine", "127.0.0.1:1", "--decode", "127.0.0.1:2"]):
        with pytest.raises(AssertionError, match="name engines by"), start("router.py", *words):
            pass
