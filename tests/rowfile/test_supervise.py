"""Supervised processes: every fault of a server, a client or a port, many times and under load."""

from __future__ import annotations

import json
import re
import signal
import socket
import time
from collections.abc import Iterator

import pytest

from infx.rowfile import supervise_codes as codes
from tests.rowfile.supervising import PATIENCE, SuperviseStage, find_living, load, server, sh, spec


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SuperviseStage]:
    stage = SuperviseStage(tmp_path_factory.mktemp("stage"))
    yield stage
    stage.stop()


@pytest.fixture(params=[10, pytest.param(50, marks=pytest.mark.nightly)])
def runs(request: pytest.FixtureRequest) -> Iterator[int]:
    """Return how often a scene is played; many runs are played under load."""
    if request.param == 10:
        yield 10
        return
    with load():
        yield request.param


ROUTED = (server("engine"), server("router", after=["engine"]))


def test_the_exit_code_of_the_client_is_kept(stage: SuperviseStage, runs: int) -> None:
    """The first answers of the server are 503."""

    def play(name: str) -> None:
        client = sh('echo "$PORT $BASE_URL" && echo problem >&2 && exit 3')
        played = stage.start(name, spec(server("engine", "busy=3")), client).finish()
        assert played.code == 3, played.err
        port = played.record["ports"]["engine"]
        assert played.out == f"{port} http://127.0.0.1:{port}\n"
        assert "\nproblem\n" in played.err
        assert played.error["evidence"] == [played.out.strip(), "problem"]
        assert (played.error["stage"], played.error["type"], played.error["cause"]) == (
            "client",
            "exit-code",
            "benchmark",
        )

    stage.repeat(runs, play)


def test_an_engine_that_dies_behind_a_live_router(stage: SuperviseStage, runs: int) -> None:
    def play(name: str) -> None:
        client = sh("kill -9 $(cat engine.pid); exec sleep 1000")
        played = stage.start(name, spec(*ROUTED, entry="router"), client).finish()
        assert played.code == codes.DIED, played.err
        assert played.error["message"] == "Signal 9 ended the process engine before the client ended."
        assert played.error["evidence"] == [f"engine begins on {played.record['ports']['engine']}"]

    stage.repeat(runs, play)


def test_a_client_that_fails_because_its_engine_died(stage: SuperviseStage, runs: int) -> None:
    def play(name: str) -> None:
        client = sh("kill -9 $(cat engine.pid); exit 1")
        limits = {"SETTLE": PATIENCE}  # the engine may be slower than its client
        played = stage.start(name, spec(server("engine")), client, limits=limits).finish()
        assert played.code == codes.DIED, played.err

    stage.repeat(runs, play)


def test_a_worker_that_dies_while_its_server_answers(stage: SuperviseStage, runs: int) -> None:
    def play(name: str) -> None:
        client = sh("kill -9 $(cat worker.pid); exec sleep 1000")
        played = stage.start(name, spec(server("engine", "worker")), client).finish()
        assert played.code == codes.DIED, played.err
        pid = (played.folder / "worker.pid").read_text()
        worker = f"pid {pid} (VLLM::Worker_TP0 1000)"
        assert played.error["message"] == f"A worker of engine ended before the client: {worker}."

    stage.repeat(runs, play)


def test_a_worker_in_its_own_session_that_outlives_its_server(stage: SuperviseStage, runs: int) -> None:
    """The server listens in a session of its own, ends by SIGTERM, and leaves a worker that ignores SIGTERM."""

    def play(name: str) -> None:
        engine = server("engine", "own-session", "deaf-worker", grace=0.05, workers=["VLLM::*"])
        played = stage.start(name, spec(engine), ["true"]).finish()
        assert (played.code, played.record["error"], played.record["left"]) == (0, None, []), played.err
        assert played.record["processes"][0]["workers"] == ["VLLM::Worker_TP0 1000"]

    stage.repeat(runs, play)


def test_a_client_that_hangs(stage: SuperviseStage, runs: int) -> None:
    """Its child ignores SIGTERM."""

    def play(name: str) -> None:
        client = sh("echo begun; trap '' TERM; sleep 1000 & exec sleep 1000")
        limits = {"progress": 0.2}
        played = stage.start(name, spec(server("engine"), limits=limits), client).finish()
        assert (played.code, played.out) == (codes.NO_PROGRESS, "begun\n"), played.err
        assert (
            played.error["message"]
            == "The client wrote nothing for 0.2 s (`limits.progress`) and was stopped."
        )

    stage.repeat(runs, play)


def test_a_client_that_takes_too_long(stage: SuperviseStage) -> None:
    limits = {"client": 0.3}
    client = sh("while :; do echo more; sleep 0.02; done")
    played = stage.start("long", spec(server("engine"), limits=limits), client).finish()
    assert (played.code, played.error["type"]) == (codes.TOO_LONG, "timeout"), played.err


def test_a_port_that_is_taken_between_choice_and_bind(stage: SuperviseStage, runs: int) -> None:
    """The router has seen the engine's port, so it starts again as well."""

    def play(name: str) -> None:
        engine = server("engine", "tell=first", "await=taken")
        router = {**server("router"), "env": {"UPSTREAM": "${PORT_ENGINE}"}, "after": ["engine"]}
        run = stage.start(name, spec(engine, router, entry="engine"), sh('echo "$PORT"'))
        port = int(run.wait_for("first"))
        with socket.socket() as stranger:
            stranger.bind(("127.0.0.1", port))
            (run.folder / "taken").touch()
            played = run.finish()
        assert played.code == 0, played.err
        assert int(played.out) not in (0, port)
        assert [process["starts"] for process in played.record["processes"]] == [2, 1]
        assert "One of its ports was taken. engine gets new ports." in played.err

    stage.repeat(runs, play)


def test_a_router_whose_port_is_taken_leaves_the_engine_alone(stage: SuperviseStage) -> None:
    engine = server("engine")
    router = server("router", "tell=first", "await=taken", after=["engine"])
    run = stage.start("router", spec(engine, router, entry="router"), ["true"])
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", int(run.wait_for("first"))))
        (run.folder / "taken").touch()
        played = run.finish()
    assert [process["starts"] for process in played.record["processes"]] == [1, 2], played.err


def test_a_stranger_that_answers_on_the_port(stage: SuperviseStage, runs: int) -> None:
    """The server has not bound its port yet. A stranger that answers 200 does not make it ready."""

    def play(name: str) -> None:
        engine = server("engine", "tell=first", "never=taken", grace=0)
        run = stage.start(name, spec(engine), sh('echo "$PORT"'))
        port = int(run.wait_for("first"))
        with socket.socket() as stranger:
            stranger.bind(("0.0.0.0", port))
            stranger.listen()
            (run.folder / "taken").touch()
            played = run.finish()
        assert played.code == 0, played.err
        assert int(played.out) != port
        assert re.search(
            rf"The port {port} \(engine\) belongs to another process: pid \d+ \(.+\)\.", played.err
        )

    stage.repeat(runs, play)


def test_two_servers_with_swapped_ports(stage: SuperviseStage, runs: int) -> None:
    def play(name: str) -> None:
        engine = server("engine", "await=router.begun", port="router", ready={"tcp": True, "seconds": 0.5})
        router = server("router", "tell=router.begun", port="engine", ready={"tcp": True, "seconds": 0.5})
        played = stage.start(name, spec(engine, router, entry="engine"), ["true"]).finish()
        assert played.code == codes.NOT_READY, played.err

    stage.repeat(runs, play)


def test_a_server_that_ends_early(stage: SuperviseStage, runs: int) -> None:
    def play(name: str) -> None:
        played = stage.start(name, spec(server("engine", "exit=0")), ["touch", "client"]).finish()
        assert played.code == codes.NOT_READY, played.err
        assert played.error["message"] == "The process engine ended with 0 before it was ready."
        assert not (played.folder / "client").exists()

    stage.repeat(runs, play)


def test_large_outputs_need_no_memory(stage: SuperviseStage, runs: int) -> None:
    """The log of the server is 1 GB of a sparse file; the client writes into a pipe."""
    size, count = 1 << 30, (20 if runs == 10 else 1000) * 1_000_000

    def play(name: str) -> None:
        client = sh(f"head -c {count} /dev/zero; exit 5")
        played = stage.start(name, spec(server("engine", f"large={size}")), client, out="/dev/null").finish()
        assert played.code == 5, played.err
        assert (played.folder / "supervise-engine.log").stat().st_size > size
        assert played.memory < 60_000_000

    stage.repeat(10, play)


def test_the_end_of_a_large_log_is_evidence(stage: SuperviseStage) -> None:
    engine = server("engine", f"large={1 << 30}")
    played = stage.start("log", spec(engine), sh("kill -9 $(cat engine.pid); exec sleep 1000")).finish()
    assert (played.code, played.error["evidence"][-1]) == (codes.DIED, "the last words"), played.err


def test_a_process_that_never_gets_its_port(stage: SuperviseStage) -> None:
    """The words may also be about a port that the process chooses itself; new ports are tried a few times."""
    engine = server("engine", "say=[Errno 98] Address already in use", "exit=1")
    played = stage.start("never", spec(engine), ["true"]).finish()
    assert (played.code, played.error["cause"]) == (codes.NO_PORTS, "infrastructure"), played.err
    assert played.record["processes"][0]["starts"] == codes.STARTS
    assert played.error["evidence"][-1] == "[Errno 98] Address already in use"


@pytest.mark.parametrize(
    ("name", "engine", "client", "code", "message"),
    [
        ("no-client", server("engine"), ["none"], codes.NOT_STARTED, "The client cannot be started: none: no folder of PATH has it; nothing was started."),
        ("killed", server("engine"), sh("kill -9 $$"), 137, "Signal 9 ended the client."),
        ("no-server", {**server("engine"), "argv": ["none"]}, ["true"], codes.NOT_READY, "The process engine cannot be started: none: no folder of PATH has it; nothing was started."),
        (
            "late", server("engine", "never=nothing", grace=0, ready={"tcp": True, "seconds": 0.1}), ["true"],
            codes.NOT_READY, "The process engine was not ready after 0.1 s (`ready.seconds`): nothing listens on port ",
        ),
    ],
)  # fmt: skip
def test_other_failures(
    name: str, engine: dict[str, object], client: list[str], code: int, message: str, stage: SuperviseStage
) -> None:
    played = stage.start(name, spec(engine), client).finish()
    assert played.code == code, played.err
    assert str(played.error["message"]).startswith(message)
    assert f"supervise: exit code {code}; the record ./supervise.json and the logs " in played.err
    if name.startswith("no-"):  # a server may take half an hour until the next program starts
        assert [process["starts"] for process in played.record["processes"]] == [0]


def test_a_process_that_is_not_required(stage: SuperviseStage) -> None:
    """It fails before or after it is ready; those that wait for it start."""
    monitor = server("monitor", "exit=1", required=False)
    other = server("other", required=False)
    missing = {**server("missing", required=False), "argv": ["none"]}
    engine = server("engine", after=["monitor", "missing", "other"])
    client = sh("kill -9 $(cat other.pid); exec sleep 0.3")
    values = spec(monitor, other, missing, engine, entry="engine")
    played = stage.start("optional", values, client).finish()
    assert (played.code, played.record["error"]) == (0, None), played.err
    assert "Signal 9 ended the process other before the client ended. It is not required." in played.err


def test_a_folder_for_logs_that_cannot_be_written(stage: SuperviseStage) -> None:
    out = {"INFX_SUPERVISE_OUT": "/proc/none"}
    played = stage.start("folder", spec(server("engine")), ["true"], out).finish()
    assert played.code == codes.MACHINE
    assert "supervise: /proc/none cannot be used: No such file or directory." in played.err


STAGES = {
    "gpu-memory": ("asked", server("engine"), ["true"]),
    "start": ("engine.pid", server("engine", "never=nothing"), ["true"]),
    "client": ("client", server("engine"), sh("trap '' TERM INT; touch client; sleep 1000")),
    "stop": ("client", server("engine", "deaf", "deaf-worker"), ["touch", "client"]),
}


def test_signals_in_each_stage(stage: SuperviseStage, runs: int) -> None:
    """Nothing is left behind, and the code is 128 and the signal's number."""
    tools = stage.folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "nvidia-smi").write_text("#!/bin/sh\ntouch $ASKED\nexec sleep 1000\n")
    (tools / "nvidia-smi").chmod(0o755)

    def play(name: str) -> None:
        at = int(name.rpartition("-")[2])
        begun, (file, engine, client) = list(STAGES.items())[at % 4]
        number = (signal.SIGTERM, signal.SIGINT)[at // 4 % 2]
        tool = {"PATH": f"{tools}:/usr/bin:/bin", "ASKED": str(stage.folder / name / file)}
        variables = tool if begun == "gpu-memory" else {}
        run = stage.start(
            name, spec(engine), client, variables, {"CANCEL_GRACE": 0.1, "CANCEL_KILLED": PATIENCE}
        )
        run.wait_for(file)
        run.send(number)
        played = run.finish()
        assert played.code == 128 + number, (begun, played.err)
        assert (played.error["cause"], played.record["left"]) == ("cancelled", []), begun

    stage.repeat(runs, play)


def test_servers_end_with_a_supervision_that_is_killed(stage: SuperviseStage) -> None:
    """Nothing can be stopped after SIGKILL, so the kernel ends the server and the client."""
    run = stage.start("sigkill", spec(server("engine")), sh("touch client; exec sleep 1000"))
    run.wait_for("client")
    run.send(signal.SIGKILL)
    ends_at = time.monotonic() + PATIENCE
    while find_living(run.folder):
        assert time.monotonic() < ends_at
        time.sleep(0.01)
    assert run.finish().code == 137


def test_a_secret_is_not_in_the_evidence(stage: SuperviseStage) -> None:
    client = sh('echo "token: $HF_TOKEN"; exit 1')
    played = stage.start("secret", spec(server("engine")), client, {"HF_TOKEN": "hf_123456"}).finish()
    assert played.error["evidence"] == ["token: ***"]
    assert "hf_123456" not in json.dumps(played.record)
