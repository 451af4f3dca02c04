"""The memory of GPUs: how much is used, and by which processes. A machine without the tools has no GPUs here."""

from __future__ import annotations

import json
import shutil
from typing import Any, Callable, List, Mapping, NamedTuple

from .launch_process import Ended

ASK_SECONDS = 10.0  # for one question
CLEAN_SHARE = 0.10  # of a GPU's memory that may be used before the start
BACK_SHARE = 0.05  # of a GPU's memory that may be used in addition to what was used before the start
Ask = Callable[[List[str]], Ended]  # runs a program; the argument is its argv


class GpuError(Exception):
    """The tool does not answer. is_final: whether asking again is useless. message: a sentence."""

    def __init__(self, message: str, *, is_final: bool) -> None:
        super().__init__(message)
        self.message = message
        self.is_final = is_final


class GpuUse(NamedTuple):
    """The memory of a GPU, in MiB or another unit.

    Attributes:
        name: its index.
        key: by which `list_holders` names it.
    """

    name: str
    key: str
    used: float
    total: float


class GpuTool:
    """Asks nvidia-smi, or else amd-smi."""

    def __init__(self, ask: Ask, environment: Mapping[str, str]) -> None:
        found = [
            name for name in ("nvidia-smi", "amd-smi") if shutil.which(name, path=environment.get("PATH"))
        ]
        self.name = found[0] if found else ""
        self._ask = ask
        names = (
            ("CUDA_VISIBLE_DEVICES",)
            if self.name == "nvidia-smi"
            else ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
        )
        visible = [environment[name] for name in names if name in environment]
        self._visible = [word.strip() for word in visible[0].split(",")] if visible else None

    def read(self) -> list[GpuUse]:
        """Return the memory of the GPUs that the processes see. Raises GpuError."""
        if self.name == "nvidia-smi":
            fields = "--query-gpu=index,uuid,memory.used,memory.total"
            uses = parse_nvidia(self._run([self.name, fields, "--format=csv,noheader,nounits"]))
        else:
            uses = parse_amd(self._run([self.name, "metric", "--mem-usage", "--json"]))
        return [use for use in uses if self._is_visible(use)]

    def _is_visible(self, use: GpuUse) -> bool:
        if self._visible is None or all(word == "all" for word in self._visible):
            return True
        return any(
            word == use.name or (word.startswith("GPU-") and use.key.startswith(word))
            for word in self._visible
        )

    def list_holders(self, uses: list[GpuUse]) -> list[str]:
        """Return the processes that hold memory of GPUs, in words, as far as the tool knows them."""
        keys = {use.key for use in uses}
        try:
            if self.name == "nvidia-smi":
                fields = "--query-compute-apps=gpu_uuid,pid,process_name,used_memory"
                text = self._run([self.name, fields, "--format=csv,noheader,nounits"])
                rows = [[word.strip() for word in line.split(",")] for line in text.splitlines()]
                return [" ".join(["pid", *row[1:3]]) for row in rows if len(row) > 3 and row[0] in keys]
            return parse_amd_holders(self._run([self.name, "process", "--json"]), keys)
        except GpuError:
            return []

    def _run(self, argv: list[str]) -> str:
        ended = self._ask(argv)
        if ended.is_overdue:
            raise GpuError(self.name + " does not answer.", is_final=False)
        if ended.code:
            last = " ".join(ended.lines[-1:])
            raise GpuError(self.name + " ended with " + str(ended.code) + ": " + last, is_final=True)
        return ended.text


def parse_nvidia(text: str) -> list[GpuUse]:
    """Return the memory of each GPU; one that shares the machine's memory has none of its own."""
    uses = []
    for line in text.splitlines():
        words = [word.strip() for word in line.split(",")]
        try:
            use = GpuUse(words[0], words[1], float(words[2]), float(words[3]))
        except (ValueError, IndexError):
            continue
        uses.append(use)
    return [use for use in uses if use.total > 0]


def parse_amd(text: str) -> list[GpuUse]:
    uses = []
    for values in _list_amd(text):
        memory = values.get("mem_usage")
        used, total = (_read_amount(memory, name) for name in ("used_vram", "total_vram"))
        if used is not None and total:
            uses.append(GpuUse(str(values.get("gpu")), str(values.get("gpu")), used, total))
    return uses


def parse_amd_holders(text: str, keys: set[str]) -> list[str]:
    holders = []
    for values in _list_amd(text):
        processes = values.get("process_list")
        for process in processes if isinstance(processes, list) else []:
            info = process.get("process_info", process) if isinstance(process, dict) else {}
            if str(values.get("gpu")) in keys and isinstance(info, dict) and "pid" in info:
                holders.append("pid " + str(info["pid"]) + " " + str(info.get("name", "")))
    return holders


def _list_amd(text: str) -> list[dict[str, Any]]:
    """Return the objects of the GPUs; newer versions put the list into an object."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise GpuError("amd-smi does not answer with JSON.", is_final=True) from None
    if isinstance(values, dict):
        values = values.get("gpu_data")
    return [item for item in values if isinstance(item, dict)] if isinstance(values, list) else []


def _read_amount(memory: Any, name: str) -> float | None:
    amount = memory.get(name) if isinstance(memory, dict) else None
    value = amount.get("value") if isinstance(amount, dict) else amount
    return float(value) if isinstance(value, (int, float)) else None


def find_dirty(uses: list[GpuUse]) -> list[GpuUse]:
    """Return GPUs that are not free enough for a start."""
    return [use for use in uses if use.used > use.total * CLEAN_SHARE]


def find_held(uses: list[GpuUse], before: list[GpuUse]) -> list[GpuUse]:
    """Return GPUs whose memory has not come back."""
    earlier = {use.key: use.used for use in before}
    return [use for use in uses if use.used > earlier.get(use.key, 0.0) + use.total * BACK_SHARE]


def describe_uses(uses: list[GpuUse], holders: list[str]) -> str:
    """Return which memory is in use and who holds it, as the end of a sentence."""
    parts = [
        "GPU " + use.name + " uses " + format(use.used / use.total, ".0%") + " of its memory" for use in uses
    ]
    held = "; held by " + ", ".join(holders[:8]) if holders else "; the tool names no process that holds it"
    return ", ".join(parts[:8]) + held
