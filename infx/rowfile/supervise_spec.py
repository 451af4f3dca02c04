"""The processes that are supervised, as a JSON file describes them; docs/launching.md has a table of the fields."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Mapping

from .supervise_text import find_missing_variables, find_variables, has_open_variable, name_port_variable

CLIENT = "client"  # the name of the command in records; no process has it
MAX_BYTES = 1_000_000
MAX_PROCESSES, MAX_PORTS = 100, 200
_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}\Z")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_UNUSABLE = re.compile(r"[\0\ud800-\udfff]")  # characters that no argument and no variable can have
# Titles that inference engines give to processes without which they do not answer.
WORKERS = ["VLLM::*", "sglang::*", "*multiprocessing.spawn*spawn_main*", "*mpi4py.futures.server*"]
DEFAULTS: dict[str, Any] = {
    "ports": [],
    "after": [],
    "workers": WORKERS,
    "env": {},
    "grace": 30,
    "required": True,
}
PROCESS_FIELDS = {"argv", "ready", *DEFAULTS}
READY_FIELDS = {"path", "tcp", "port", "seconds"}
FIELDS = {"processes", "entry", "limits"}
READY_DEFAULTS: dict[str, Any] = {"seconds": 1800}
LIMIT_DEFAULTS: dict[str, Any] = {"client": 14400, "progress": 1800, "gpu-memory": 300}  # seconds
_NAME_FORM = "a name of a-z, 0-9 and -, at most 41 characters, that begins with a letter"


class SuperviseSpec:
    """Processes, and the client that measures them.

    Attributes:
        processes: in the order in which they start.
        entry: name of the port that the client gets as PORT; empty if there is none.
        limits: seconds, by name; None means without a limit.
    """

    def __init__(self, processes: list[ProcessSpec], entry: str, limits: dict[str, float | None]) -> None:
        self.processes = processes
        self.entry = entry
        self.limits = limits

    def list_ports(self) -> list[str]:
        return [port for process in self.processes for port in process.ports]


class ProcessSpec:
    """A process.

    Attributes:
        ports: names.
        after: names of processes that must be ready first.
        path: that answers 200 when the process is ready; empty: an open port is enough.
        ready_port: the port that is asked; empty: the process counts as ready when it has started.
        ready_seconds: how long it may take to get ready.
        workers: patterns for titles of its children that must live too.
        is_each_needed: whether each pattern needs a child.
        grace: seconds between SIGTERM and SIGKILL.
        is_required: whether the client is stopped if it ends.
    """

    def __init__(self, name: str, values: dict[str, Any]) -> None:
        values = {**DEFAULTS, "is_each_needed": "workers" in values, **values}
        ready = {**READY_DEFAULTS, **values.get("ready", {})}
        self.name = name
        self.argv: list[str] = values["argv"]
        self.environment: dict[str, str] = values["env"]
        self.ports: list[str] = values["ports"]
        self.after: list[str] = values["after"]
        self.path: str = ready.get("path", "")
        self.ready_port: str = ready.get("port", self.ports[0]) if "ready" in values else ""
        self.ready_seconds = float(ready["seconds"])
        self.workers: list[str] = values["workers"]
        self.is_each_needed: bool = values["is_each_needed"]
        self.grace = float(values["grace"])
        self.is_required: bool = values["required"]

    def list_texts(self) -> dict[str, str]:
        """Return the texts that may have variables, by their path in the file."""
        where = "processes." + self.name
        texts = {where + ".argv[" + str(at) + "]": text for at, text in enumerate(self.argv)}
        return {**texts, **{where + ".env." + name: text for name, text in self.environment.items()}}


def parse_spec(data: bytes) -> tuple[SuperviseSpec | None, list[str]]:
    """Return what a file describes, and its faults, each with the path of a field; None if it has faults."""
    faults: list[str] = []

    def join(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in pairs:
            if name in values:
                faults.append(repr(name) + " occurs twice in an object.")
            values[name] = value
        return values

    try:
        values = json.loads(data.decode(), object_pairs_hook=join)
    except (ValueError, RecursionError) as error:
        return None, ["The file is not valid JSON: " + str(error) + "."]
    check = _SpecCheck(faults)
    check.check_all(values)
    if faults:
        return None, faults
    processes = [ProcessSpec(name, value) for name, value in values["processes"].items()]
    ports = [port for process in processes for port in process.ports]
    entry = values.get("entry", ports[0] if len(ports) == 1 else "")
    limits = {**LIMIT_DEFAULTS, **values.get("limits", {})}
    return SuperviseSpec(_sort_processes(processes, faults), entry, limits), faults


def _sort_processes(processes: list[ProcessSpec], faults: list[str]) -> list[ProcessSpec]:
    """Return the processes with each behind those that it waits for; the order of the file decides the rest."""
    ordered: list[ProcessSpec] = []
    while len(ordered) < len(processes):
        names = {process.name for process in ordered}
        free = [process for process in processes if process not in ordered and set(process.after) <= names]
        if not free:
            circle = ", ".join(process.name for process in processes if process not in ordered)
            faults.append("processes: these wait for each other: " + circle + ". Remove an `after`.")
            break
        ordered.append(free[0])
    return ordered


def check_variables(spec: SuperviseSpec, command: list[str], environment: Mapping[str, str]) -> list[str]:
    """Return what is wrong with variables in the texts of a spec and in the arguments of the client."""
    texts = {path: text for process in spec.processes for path, text in process.list_texts().items()}
    texts.update({CLIENT + "[" + str(at) + "]": text for at, text in enumerate(command)})
    own = {name_port_variable(port): "" for port in spec.list_ports()}
    values = {**environment, **own, **({"PORT": "", "BASE_URL": ""} if spec.entry else {})}
    of_entry = set() if spec.entry or not own else {"PORT", "BASE_URL"}
    faults = []
    for path, text in texts.items():
        if has_open_variable(text):
            faults.append(path + ": a variable must be ${NAME} or ${NAME:-default}; write $${ for ${ itself.")
        missing = find_missing_variables(text, values)
        faults += [
            path + ": the variable " + name + " is not set. Export it."
            for name in missing
            if name not in of_entry
        ]
        faults += [
            path
            + ": "
            + name
            + " is that of the port `entry`; add `entry`, one of "
            + ", ".join(spec.list_ports())
            + "."
            for name in sorted(of_entry & find_variables(text))
        ]
    return faults


class _SpecCheck:
    """Collects the faults of a spec."""

    def __init__(self, faults: list[str]) -> None:
        self._faults = faults
        self._owners: dict[str, str] = {}

    def check_all(self, values: Any) -> None:
        if not self._check_object("The file", values, FIELDS, {"processes"}):
            return
        processes = values.get("processes")
        if self._expect("processes", processes, _is_map, "an object with a field for each process"):
            if len(processes) > MAX_PROCESSES:
                self._faults.append("processes: there are more than " + str(MAX_PROCESSES) + ".")
            for name, process in processes.items():
                self._check_process(name, process, set(processes))
        if len(self._owners) > MAX_PORTS:
            self._faults.append("processes: there are more than " + str(MAX_PORTS) + " ports.")
        if "entry" in values:
            form = "the name of a port of a process"
            self._expect(
                "entry", values["entry"], lambda value: _is_text(value) and value in self._owners, form
            )
        self._check_limits(values.get("limits", {}))

    def _check_process(self, name: str, values: Any, names: set[str]) -> None:
        where = "processes." + name
        if not _NAME.match(name) or name == CLIENT:
            self._faults.append(
                where + ": this is not a valid name; expected " + _NAME_FORM + ", not client."
            )
        if not self._check_object(where, values, PROCESS_FIELDS, {"argv"}):
            return
        if "argv" in values:
            form = "a list of texts that begins with a program"
            self._expect(
                where + ".argv", values["argv"], lambda argv: _is_texts(argv) and argv and argv[0], form
            )
        ports = values.get("ports", [])
        if self._expect(where + ".ports", ports, _is_texts, "a list of names"):
            self._check_ports(where + ".ports", name, ports)
            self._check_ready(where + ".ready", values, ports)
        after = values.get("after", [])
        if self._expect(where + ".after", after, _is_texts, "a list of names"):
            unknown = [other for other in after if other not in names or other == name]
            self._faults += [
                where + ".after: no other process is called " + repr(other) + "." for other in unknown
            ]
        self._expect(where + ".workers", values.get("workers", []), _is_texts, "a list of patterns")
        if values.get("workers") and "ready" not in values:
            self._faults.append(
                where + ".workers: they are looked at when the process is ready; it has no `ready`."
            )
        self._expect(where + ".grace", values.get("grace", 0), _is_duration, "a number of seconds")
        self._expect(where + ".required", values.get("required", True), _is_bool, "true or false")
        form = "an object whose fields are names of variables and whose values are texts"
        self._expect(where + ".env", values.get("env", {}), _is_environment, form)

    def _check_ports(self, where: str, process: str, ports: list[str]) -> None:
        for port in ports:
            if not _NAME.match(port):
                self._faults.append(
                    where + ": " + repr(port) + " is not a valid name; expected " + _NAME_FORM + "."
                )
            elif port in self._owners:
                self._faults.append(
                    where + ": " + self._owners[port] + " has a port " + repr(port) + " already."
                )
            self._owners.setdefault(port, process)

    def _check_ready(self, where: str, values: dict[str, Any], ports: list[str]) -> None:
        if "ready" not in values:
            return
        ready = values["ready"]
        if not self._check_object(where, ready, READY_FIELDS, set()):
            return
        if ("path" in ready) == ("tcp" in ready):
            self._faults.append(where + ': expected either "path": "/health" or "tcp": true.')
        if "path" in ready:
            self._expect(
                where + ".path", ready["path"], _is_path, "a path of printable characters that begins with /"
            )
        if "tcp" in ready:
            self._expect(where + ".tcp", ready["tcp"], lambda value: value is True, "true")
        if not ports or ready.get("port", ports[0]) not in ports:
            self._faults.append(where + ".port: expected the name of a port in `ports` of this process.")
        elif "port" not in ready and len(ports) > 1:
            self._faults.append(where + ".port: the process has several ports; expected the name of one.")
        seconds = ready.get("seconds", 1)
        self._expect(
            where + ".seconds", seconds, lambda value: _is_duration(value) and value, "a number above 0"
        )

    def _check_limits(self, limits: Any) -> None:
        if not self._check_object("limits", limits, set(LIMIT_DEFAULTS), set()):
            return
        fine = [
            self._expect(
                "limits." + name, value, _is_limit, "a number of seconds above 0, or null for no limit"
            )
            for name, value in limits.items()
        ]
        client, progress = (limits.get(name, LIMIT_DEFAULTS[name]) for name in ("client", "progress"))
        if all(fine) and "progress" in limits and client and progress and progress > client:
            self._faults.append(
                "limits.progress: it is longer than limits.client, " + format(client, "g") + "."
            )

    def _check_object(self, where: str, values: Any, known: set[str], needed: set[str]) -> bool:
        if not isinstance(values, dict):
            self._faults.append(where + ": expected an object; it is " + _show(values) + ".")
            return False
        place = "" if where == "The file" else where + "."
        expected = "; expected one of " + ", ".join(sorted(known)) + "."
        self._faults += [
            place + name + ": there is no such field" + expected for name in values if name not in known
        ]
        self._faults += [place + name + ": the field is missing." for name in sorted(needed - set(values))]
        return True

    def _expect(self, where: str, value: Any, is_valid: Callable[[Any], Any], form: str) -> bool:
        if is_valid(value):
            return True
        self._faults.append(where + ": expected " + form + "; it is " + _show(value) + ".")
        return False


def _show(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not _UNUSABLE.search(value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_map(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_duration(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e7


def _is_limit(value: Any) -> bool:
    return value is None or (_is_duration(value) and value > 0)


def _is_path(value: Any) -> bool:
    return _is_text(value) and bool(re.match(r"/[!-~]*\Z", value))


def _is_environment(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _VARIABLE_NAME.match(name) and _is_text(text) for name, text in value.items()
    )
