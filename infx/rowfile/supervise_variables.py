"""The variables of supervised processes and of the client."""

from __future__ import annotations

from .supervise_spec import CLIENT, ProcessSpec, SuperviseSpec
from .supervise_table import MARK
from .supervise_text import fill_variables, find_variables, name_port_variable


class ProcessVariables:
    """The variables of supervised processes.

    A process sees the ports of its own, of processes that it waits for, and those that its texts name. When a port
    changes, the processes that see it start again.
    """

    def __init__(self, spec: SuperviseSpec, inherited: dict[str, str], run: str) -> None:
        self._spec = spec
        ours = {name_port_variable(port) for port in spec.list_ports()} | {"PORT", "BASE_URL", MARK}
        self._inherited = {name: value for name, value in inherited.items() if name not in ours}
        self._environment = inherited
        self._run = run

    def find_seen(self, process: ProcessSpec) -> set[str]:
        """Return the names of the ports that a process sees."""
        named = {name for text in process.list_texts().values() for name in find_variables(text)}
        seen = {port for port in self._spec.list_ports() if name_port_variable(port) in named}
        if self._spec.entry and named & {"PORT", "BASE_URL"}:
            seen.add(self._spec.entry)
        before = {process.name, *process.after}
        for other in reversed(self._spec.processes):  # each is behind those that it waits for
            if other.name in before:
                before.update(other.after)
                seen.update(other.ports)
        return seen

    def list_values(self, numbers: dict[str, int]) -> dict[str, str]:
        """Return the values of all variables in texts."""
        return {**self._environment, **self._list_ports(numbers, set(numbers))}

    def find_path(self, process: ProcessSpec) -> str | None:
        """Return the folders in which the program of a process is searched; None for those of the system."""
        return self.list_environment(process, dict.fromkeys(self._spec.list_ports(), 0)).get("PATH")

    def list_environment(self, process: ProcessSpec, numbers: dict[str, int]) -> dict[str, str]:
        values = self.list_values(numbers)
        own = {name: fill_variables(text, values) for name, text in process.environment.items()}
        ports = self._list_ports(numbers, self.find_seen(process))
        return {**self._inherited, **ports, **own, MARK: self._run + "/" + process.name}

    def list_client_environment(self, numbers: dict[str, int]) -> dict[str, str]:
        return {**self._inherited, **self._list_ports(numbers, set(numbers)), MARK: self._run + "/" + CLIENT}

    def _list_ports(self, numbers: dict[str, int], seen: set[str]) -> dict[str, str]:
        ports = {name_port_variable(port): str(numbers[port]) for port in seen}
        if self._spec.entry in seen:
            ports["PORT"] = str(numbers[self._spec.entry])
            ports["BASE_URL"] = "http://127.0.0.1:" + ports["PORT"]
        return ports
