"""The address of a hub. Requests go only to paths below it."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..protocol.error import WaybillError

_SOCKET_SCHEME = {"http": "ws", "https": "wss"}


@dataclass(frozen=True)
class Address:
    url: str
    socket: str
    """The URL of its WebSocket."""
    unix_path: str | None = None
    """The Unix socket to connect to. The host of the URLs is only a name then."""

    def path(self, path: str) -> str:
        base = self.url if self.unix_path is None else f"http://{_NAME}"
        return f"{base}{path}"


_NAME = "localhost"
"""What every hub is called on its own machine."""


def address_of(given: str) -> Address:
    if given.lower().startswith("unix:"):
        return _unix_address(given)
    parts = urlsplit(given)
    scheme = _SOCKET_SCHEME.get(parts.scheme)
    if scheme is None or not parts.hostname or parts.username is not None or parts.query:
        # A password in an address is not repeated in a message that may end up in a log.
        shown = "What was given, with a password in it," if parts.password else f'"{given}"'
        raise WaybillError(
            400,
            f"{shown} is not the address of a hub: it must start with http://, https:// or unix: and have no user, "
            "password or "
            'query, for example "http://127.0.0.1:7411".',
            at="/url",
        )
    base = given.split("#")[0].rstrip("/")
    return Address(base, f"{scheme}{base[len(parts.scheme) :]}/v1/socket")


def _unix_address(given: str) -> Address:
    """`unix:/path`, as nginx and gRPC have it; `unix:///path` is the same. Everything behind is the
    path.
    """
    path = re.sub(r"^//(?=/)", "", given[len("unix:") :])
    if sys.platform == "win32":
        raise WaybillError(
            400,
            f'"{given}" is a Unix socket, and hubs have none on Windows: use the hub\'s URL.',
            at="/url",
        )
    if re.fullmatch(r"/[^\0]*[^\0/]", path) is None:
        raise WaybillError(
            400,
            f'"{given}" is not the address of a hub: behind unix: is the absolute path of its socket, '
            'for example "unix:/srv/waybill/hub.sock".',
            at="/url",
        )
    return Address(f"unix:{path}", f"ws://{_NAME}/v1/socket", path)
