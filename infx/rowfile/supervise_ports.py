"""Ports of supervised processes: all are chosen together, and each is held until the process that binds it starts."""

from __future__ import annotations

import random
import socket

FIRST, LAST = 10_000, 65_535  # lower ports belong to well-known services
TRIES = 2_000
_RANGE = "/proc/sys/net/ipv4/ip_local_port_range"


class PortError(Exception):
    """No port is free."""


class PortHolder:
    """Holds ports by sockets that are bound to them, so that no other process gets them.

    Attributes:
        numbers: by the port's name.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._sockets: dict[str, socket.socket] = {}

    def choose(self, names: list[str]) -> None:
        """Choose ports that are free now, different from all others. Raises PortError.

        The sockets of these names stay open, so that the same port is not chosen twice.
        """
        earlier = {self.numbers.get(name, 0) for name in names}
        for name in names:
            self.release(name)
        candidates = find_candidates(_read_ephemeral())
        for name in names:
            bound = _bind_any(candidates, {*earlier, *self.numbers.values()})
            self._sockets[name], self.numbers[name] = bound, bound.getsockname()[1]

    def release(self, name: str) -> None:
        """Let a port go, right before the process starts that binds it."""
        held = self._sockets.pop(name, None)
        if held is not None:
            held.close()

    def release_all(self) -> None:
        for name in list(self._sockets):
            self.release(name)


def find_candidates(ephemeral: tuple[int, int]) -> list[int]:
    """Return the ports that the kernel gives to no outgoing connection.

    ephemeral: the first and the last port that it does give. A port of these may be taken at any moment.
    """
    return [*range(FIRST, min(ephemeral[0], LAST + 1)), *range(max(ephemeral[1] + 1, FIRST), LAST + 1)]


def _read_ephemeral() -> tuple[int, int]:
    try:
        with open(_RANGE, encoding="ascii") as file:
            first, last = map(int, file.read().split())
    except (OSError, ValueError):
        return 32_768, 60_999
    return first, last


def _bind_any(candidates: list[int], taken: set[int]) -> socket.socket:
    """Return a socket that is bound to a free port; the kernel chooses if no candidate is free."""
    for attempt in range(TRIES + 1):
        port = random.choice(candidates) if candidates and attempt < TRIES else 0
        if port in taken:
            continue
        try:
            bound = _bind(port)
        except OSError:
            continue
        if bound.getsockname()[1] not in taken:
            return bound
        bound.close()
    raise PortError("No port is free on this machine.")


def _bind(port: int) -> socket.socket:
    """Bind a port of all addresses, of both versions of IP where the machine has them. Raises OSError."""
    if socket.has_ipv6:
        try:
            bound = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        except OSError:
            return _bind_to(socket.socket(socket.AF_INET, socket.SOCK_STREAM), "", port)
        try:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            return _bind_to(bound, "::", port)
        except OSError as error:
            if error.errno == 98:  # EADDRINUSE
                raise
    return _bind_to(socket.socket(socket.AF_INET, socket.SOCK_STREAM), "", port)


def _bind_to(unbound: socket.socket, host: str, port: int) -> socket.socket:
    try:
        unbound.bind((host, port))
    except OSError:
        unbound.close()
        raise
    return unbound
