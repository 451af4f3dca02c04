"""Series: the measurements that are compared over time, and the rows of them that a store keeps.

Two rows belong to one series if everything that distinguishes a measurement is equal, except the concurrency. The
image and the recipe's fingerprint are not part of it: a new image is measured to be compared with the image before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote

from infx.bench.config import Component, KvOffloading, Parallelism, Worker
from infx.bench.identity import digest
from infx.bench.names import AGENTIC
from infx.bench.row import Roles, Row
from infx.records import record
from infx.results.identity import ROLES, plan_identity
from infx.results.lenient import ResultKind, Scalar, identify_point
from infx.results.row import RowFaultError

MAX_NAME = 120  # characters of a key in a file's name, which file systems limit to 255 bytes
_DIGITS = 16  # of the digest that makes the name of a file unique
# Labels of one kind of hardware that differ only in one of these words at the end.
_HARDWARE_SUFFIX = re.compile(r"-(?:multinode|trt|disagg)$")


@record
class Series:
    """Everything that distinguishes a measurement, except the concurrency. Names are in lower case."""

    model_prefix: str
    hardware: str
    framework: str
    precision: str
    spec_decoding: str
    disagg: bool
    isl: int  # tokens; 0 for AgentX
    osl: int  # tokens; 0 for AgentX
    layout: Parallelism | Roles  # without empty fields
    kv_offloading: str = KvOffloading.NONE.value
    kv_offload_backend: str | None = None  # its name; a new version is not a new series

    @property
    def is_multinode(self) -> bool:
        return isinstance(self.layout, Roles)

    @property
    def is_agentic(self) -> bool:
        return (self.isl, self.osl) == (0, 0)

    @cached_property
    def key(self) -> str:
        """The series as text, which never changes and is different for different series.

        It consists of words with one blank between them. A character that is not a letter, a digit, `.`, `_` or `-` is
        written like in an address, as `%` and two hex digits for each of its bytes.
        """
        names = (self.model_prefix, self.hardware, self.framework, self.precision, self.spec_decoding)
        lengths = AGENTIC if self.is_agentic else f"{self.isl}-{self.osl}"
        offload = [] if self.kv_offloading == KvOffloading.NONE else ["kv", self.kv_offloading]
        backend = [] if self.kv_offload_backend is None else [f"backend-{self.kv_offload_backend}"]
        words = [
            *names,
            lengths,
            *offload,
            *backend,
            *(["disagg"] if self.disagg else []),
            *self.spell_layout(),
        ]
        return " ".join(_escape(word) for word in words)

    def spell_layout(self) -> list[str]:
        """Return the words of the key that name the layout."""
        if isinstance(self.layout, Roles):
            return [
                *("prefill", *_spell_worker(self.layout.prefill, self.hardware)),
                *("decode", *_spell_worker(self.layout.decode, self.hardware)),
            ]
        return _spell_engine(self.layout)

    @property
    def file_name(self) -> str:
        return name_file(self.key)


def name_file(key: str) -> str:
    """Return the name of a series' file, which is safe on every system and different for different keys."""
    readable = key.replace(" ", "_")[:MAX_NAME].lstrip(".-")  # neither hidden nor like an option
    return f"{readable}-{digest(key)[:_DIGITS]}.json"


def name_hardware(label: str) -> str:
    """Return the hardware of a runner label: lower case, without one `-multinode`, `-trt` or `-disagg` at the end."""
    return _HARDWARE_SUFFIX.sub("", label.strip().lower())


def _escape(word: str) -> str:
    # quote keeps letters, digits, `_`, `.`, `-` and `~`.
    return quote(word, safe="", errors="surrogatepass").replace("~", "%7E") or "%"


def _spell_engine(engine: Parallelism) -> list[str]:
    sizes = (("pp", engine.pp), ("dcp", engine.dcp_size), ("pcp", engine.pcp_size), ("ep", engine.ep))
    other = [f"{name}{size}" for name, size in sizes if size != 1]
    return [f"tp{engine.tp}", *other, *(["dpa"] if engine.dp_attn else [])]


def _spell_worker(worker: Worker, hardware: str) -> list[str]:
    if not worker.num_worker:
        return ["0"]
    own = [] if worker.hardware in (None, hardware) else [f"on-{worker.hardware}"]
    return [str(worker.num_worker), *own, *_spell_engine(worker)]


def identify_series(values: Mapping[str, Any]) -> Series:
    """Return the series of a throughput result, in every form in which tools write it.

    Raises RowFaultError with a clause for each field that is missing or unreadable.
    """
    identity = identify_point(values)
    fields = dict(identity.fields)
    is_agentic = identity.kind is ResultKind.AGENTIC
    roles = [f"{role}_" for role in ROLES] if f"{ROLES[0]}_num_workers" in fields else []
    sizes = [prefix + name for prefix in roles for name in ("num_workers", "tp")] if roles else ["tp"]
    needed = [*identity.find_absent(), *([] if is_agentic else ["isl", "osl"]), *sizes]
    if absent := [name for name in dict.fromkeys(needed) if fields[name] is None]:
        raise RowFaultError([f"{name} is missing" for name in absent])
    backend = values.get("kv_offload_backend") if fields.get("kv_offload_backend") else None
    return Series(
        model_prefix=_name(fields["infmax_model_prefix"]),
        hardware=name_hardware(str(fields["hw"])),
        framework=_name(fields["framework"]),
        precision=_name(fields["precision"]),
        spec_decoding=_name(fields["spec_decoding"]),
        disagg=bool(fields["disagg"]),
        isl=0 if is_agentic else _number(fields["isl"]),
        osl=0 if is_agentic else _number(fields["osl"]),
        layout=_read_roles(fields, values) if roles else Parallelism(**_read_engine(fields, "")),
        kv_offloading=_name(fields.get("kv_offloading") or KvOffloading.NONE.value),
        kv_offload_backend=_name(backend["name"] if isinstance(backend, dict) else backend)
        if backend
        else None,
    )


def identify_planned(row: Row) -> Series:
    """Return the series of a planned throughput row, whose results belong to it."""
    values: dict[str, Any] = {name: accepted[0] for name, accepted in plan_identity(row).items() if accepted}
    if isinstance(backend := values.get("kv_offload_backend"), Component):
        values["kv_offload_backend"] = {"name": backend.name, "version": backend.version}
    return identify_series(values)


def _read_roles(fields: Mapping[str, Scalar], values: Mapping[str, Any]) -> Roles:
    workers = [_read_worker(fields, values, role) for role in ROLES]
    return Roles(prefill=workers[0], decode=workers[1])


def _read_worker(fields: Mapping[str, Scalar], values: Mapping[str, Any], role: str) -> Worker:
    count = _number(fields[f"{role}_num_workers"])
    # A role without GPUs has tp 0, and the numbers that its fields happen to have are not compared.
    if not count or not fields[f"{role}_tp"]:
        return Worker(num_worker=0, tp=0, ep=1, dp_attn=False)
    hardware = values.get(f"{role}_hardware") or values.get(f"{role}_hw")
    return Worker(
        num_worker=count,
        hardware=name_hardware(str(hardware if hardware is not None else fields["hw"])),
        **_read_engine(fields, f"{role}_"),
    )


def _read_engine(fields: Mapping[str, Scalar], prefix: str) -> dict[str, Any]:
    engine = {name: fields[prefix + name] for name in ("tp", "pp", "dcp_size", "pcp_size")}
    return engine | {"ep": fields[f"{prefix}ep"] or 1, "dp_attn": bool(fields[f"{prefix}dp_attention"])}


def _name(value: object) -> str:
    return str(value).lower()


def _number(value: Scalar) -> int:
    assert isinstance(value, int), "identify_point reads numbers"
    return value


@record
class StoredRow:
    """A published throughput row.

    Attributes:
        series: the key of its series.
        run, attempt: where it was measured; a publication may contain rows of several runs.
        row_id: its id in the plan. A row with several concurrencies is stored as several.
        commit: the measured commit.
        measured_at: when; the newest row of a series and concurrency is the baseline.
        values: the row as JSON.
    """

    series: str
    conc: int
    run: int
    attempt: int
    row_id: str
    commit: str
    measured_at: datetime
    values: Mapping[str, Any]

    @property
    def key(self) -> tuple[int, int, str, int]:
        """What identifies the row in a publication."""
        return self.run, self.attempt, self.row_id, self.conc

    @property
    def age(self) -> tuple[datetime, int, int, str]:
        """A value that is greatest for the newest row."""
        return self.measured_at, self.run, self.attempt, self.row_id


def make_row(
    values: Mapping[str, Any], *, run: int, attempt: int, row_id: str, commit: str, measured_at: datetime
) -> StoredRow:
    """Return the row of a throughput result. Raises RowFaultError like `identify_series`."""
    conc = dict(identify_point(values).fields)["conc"]
    return StoredRow(
        series=identify_series(values).key,
        conc=_number(conc),
        run=run,
        attempt=attempt,
        row_id=row_id,
        commit=commit,
        measured_at=measured_at,
        values=values,
    )


Newest = Mapping[str, Mapping[int, StoredRow]]  # series' key → concurrency → its newest row


@record
class Publication:
    """The rows that were published for a merge.

    Attributes:
        run, attempt: the sweep that was published; a repeated publication of it replaces its rows by their keys.
        commit: the merge commit.
        origin: how the sweep became official, such as `reused` or `merge`.
    """

    run: int
    attempt: int
    commit: str
    origin: str
    published_at: datetime
    rows: tuple[StoredRow, ...]


@record
class Withdrawal:
    """A person's decision that no row of a run is a baseline: no row that it published or measured."""

    run: int
    reason: str
    by: str
    withdrawn_at: datetime


@record
class PublicationSummary:
    """A publication without its rows, as a store lists it."""

    run: int
    attempt: int
    commit: str
    origin: str
    published_at: datetime
    row_count: int
    withdrawal: Withdrawal | None = None
