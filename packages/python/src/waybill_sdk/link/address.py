"""The address of a hub. Requests go only to paths below it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from ..protocol.error import WaybillError

_SOCKET_SCHEME = {"http": "ws", "https": "wss"}


@dataclass(frozen=True)
class Address:
    url: str
    socket: str

    def path(self, path: str) -> str:
        return f"{self.url}{path}"


def address_of(given: str) -> Address:
    parts = urlsplit(given)
    scheme = _SOCKET_SCHEME.get(parts.scheme)
    if scheme is None or not parts.hostname or parts.username is not None or parts.query:
        # A password in an address is not repeated in a message that may end up in a log.
        shown = "What was given, with a password in it," if parts.password else f'"{given}"'
        raise WaybillError(
            400,
            f"{shown} is not the address of a hub: it must start with http:// or https:// and have no user, "
            "password or "
            'query, for example "http://127.0.0.1:7411".',
            at="/url",
        )
    base = given.split("#")[0].rstrip("/")
    return Address(base, f"{scheme}{base[len(parts.scheme) :]}/v1/socket")
