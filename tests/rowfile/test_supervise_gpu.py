"""The memory of GPUs, as nvidia-smi and amd-smi report it: stand-ins on PATH."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from infx.rowfile import supervise_codes as codes
from infx.rowfile.supervise_gpu import (
    GpuError,
    GpuUse,
    find_dirty,
    find_held,
    parse_amd,
    parse_amd_holders,
    parse_nvidia,
)
from tests.rowfile.supervising import Supervised, SuperviseStage, server, spec

# Answers with the lines of the file `used`, which a scene changes; the processes are in `held`.
NVIDIA = """\
#!/bin/sh
echo "$*" >> "$TOOLS/asked"
case $1 in
  --query-gpu=*) cat "$TOOLS/used";;
  --query-compute-apps=*) cat "$TOOLS/held"; test ! -e "$TOOLS/later" || mv "$TOOLS/later" "$TOOLS/used";;
esac
"""
FREE, FULL = "0, GPU-a, 500, 80000\n", "0, GPU-a, 70000, 80000\n"
HELD = "GPU-a, 4242, VLLM::Worker_TP0, 69000\nGPU-b, 1, other, 1\n"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SuperviseStage]:
    stage = SuperviseStage(tmp_path_factory.mktemp("stage"))
    yield stage
    stage.stop()


def play(
    stage: SuperviseStage, name: str, client: str, files: dict[str, str], seconds: float = 60
) -> Supervised:
    tools = stage.folder / f"{name}-tools"
    tools.mkdir()
    (tools / "nvidia-smi").write_text(files.pop("nvidia-smi", NVIDIA))
    (tools / "nvidia-smi").chmod(0o755)
    for file, text in {"held": HELD, **files}.items():
        (tools / file).write_text(text)
    variables = {"TOOLS": str(tools), "PATH": f"{tools}:/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": "0"}
    values = spec(server("engine"), limits={"gpu-memory": seconds})
    return stage.start(name, values, ["sh", "-c", client], variables).finish()


def test_the_start_waits_until_the_memory_is_free(stage: SuperviseStage) -> None:
    played = play(stage, "waits", "true", {"used": FULL, "later": FREE})
    assert (played.code, played.record["left"]) == (0, []), played.err


def test_memory_that_stays_in_use(stage: SuperviseStage) -> None:
    """A GPU of another row does not matter."""
    played = play(stage, "dirty", "touch client", {"used": FULL + "1, GPU-b, 80000, 80000\n"}, 0.2)
    assert (played.code, played.error["cause"]) == (codes.GPU_MEMORY, "infrastructure"), played.err
    assert played.error["message"] == (
        "The memory of the GPUs was not free after 0.2 s: GPU 0 uses 88% of its memory"
        "; held by pid 4242 VLLM::Worker_TP0."
    )
    assert not (played.folder / "client").exists()


@pytest.mark.parametrize("code", [0, 3])
def test_memory_that_does_not_come_back(code: int, stage: SuperviseStage) -> None:
    """The next start waits for it; a good result stays good."""
    client = f'echo "{FULL.strip()}" > "$TOOLS/used"; exit {code}'
    played = play(stage, f"held{code}", client, {"used": FREE}, 0.2)
    assert played.code == code, played.err
    [left] = played.record["left"]
    assert left == (
        "The memory of the GPUs did not come back: GPU 0 uses 88% of its memory; held by pid 4242 VLLM::Worker_TP0."
    )


def test_memory_that_comes_back_late(stage: SuperviseStage) -> None:
    client = f'echo "{FULL.strip()}" > "$TOOLS/used"; echo "{FREE.strip()}" > "$TOOLS/later"'
    played = play(stage, "late", client, {"used": FREE})
    assert (played.code, played.record["left"]) == (0, []), played.err


def test_a_tool_that_fails_is_not_waited_for(stage: SuperviseStage) -> None:
    played = play(stage, "fails", "true", {"nvidia-smi": "#!/bin/sh\necho no driver; exit 9\n"})
    assert played.code == 0
    assert "the memory of the GPUs is not watched: nvidia-smi ended with 9: no driver" in played.err


def test_a_limit_of_null_asks_nothing(stage: SuperviseStage) -> None:
    values = spec(server("engine"), limits={"gpu-memory": None})
    tools = stage.folder / "unused"
    tools.mkdir()
    (tools / "nvidia-smi").write_text("#!/bin/sh\nexit 1\n")
    (tools / "nvidia-smi").chmod(0o755)
    played = stage.start("null", values, ["true"], {"PATH": f"{tools}:/usr/bin:/bin"}).finish()
    assert (played.code, "nvidia-smi" in played.err) == (0, False)


def test_answers_of_nvidia_smi() -> None:
    text = "0, GPU-a, 1, 80000\n1, GPU-b, [N/A], [N/A]\nbroken\n2, GPU-c, 79000, 80000\n3, GPU-d, 0, 0\n"
    uses = parse_nvidia(text)  # a GPU that shares the machine's memory has none of its own
    assert uses == [GpuUse("0", "GPU-a", 1, 80000), GpuUse("2", "GPU-c", 79000, 80000)]
    assert find_dirty(uses) == [uses[1]]
    assert find_held(uses, [GpuUse("2", "GPU-c", 75000, 80000)]) == []  # 4000 is 5% of 80000
    assert find_held(uses, [GpuUse("2", "GPU-c", 74999, 80000)]) == [uses[1]]


@pytest.mark.parametrize("is_new", [False, True])
def test_answers_of_amd_smi(is_new: bool) -> None:
    """Newer versions put the list into an object."""
    gpus = [
        {"gpu": 0, "mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}, "used_vram": {"value": 283}}},
        {"gpu": 1, "mem_usage": {"total_vram": 100, "used_vram": 50}},
        {"gpu": 2, "mem_usage": "N/A"},
    ]
    text = json.dumps({"gpu_data": gpus} if is_new else gpus)
    assert parse_amd(text) == [GpuUse("0", "0", 283, 196592), GpuUse("1", "1", 50, 100)]
    process = {"process_info": {"name": "python3", "pid": 7}}
    holders = json.dumps([{"gpu": 0, "process_list": [process, "N/A"]}, {"gpu": 1, "process_list": "N/A"}])
    assert parse_amd_holders(holders, {"0", "1"}) == ["pid 7 python3"]
    assert parse_amd_holders(holders, {"1"}) == []


def test_an_answer_of_amd_smi_that_is_not_json() -> None:
    with pytest.raises(GpuError):
        parse_amd("no GPUs")
    assert parse_amd("3") == []
