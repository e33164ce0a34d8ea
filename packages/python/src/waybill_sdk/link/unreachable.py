"""Why no hub answers at an address, and what to do about it."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl

import httpx

from ..protocol.error import WaybillError

_CUT = (
    "the connection was cut before an answer came",
    "Check that the address is a hub's. A hub that serves TLS is addressed with https.",
)
_BY_NUMBER = {
    errno.ECONNREFUSED: (
        "nothing listens there",
        "Start the hub, or check host and port of the address.",
    ),
    errno.ECONNRESET: _CUT,
    errno.ENOENT: (
        "there is no such socket",
        "Start the hub, or check the path of the address.",
    ),
    errno.EACCES: (
        "this user may not connect to it",
        "A hub's Unix socket is for the user that runs the hub: use its URL.",
    ),
    errno.EHOSTUNREACH: ("there is no route to the host", "Check the network."),
    errno.ENETUNREACH: ("there is no route to its network", "Check the network."),
}
_ADDRESS = "Check the address."


def unreachable(url: str, cause: BaseException) -> WaybillError:
    """The 503 for an address where no hub answers. Its cause is the raised error."""
    why, todo = _reason(cause)
    return WaybillError(503, f"No hub answers at {url}: {why}. {todo}", cause=cause)


def _reason(raised: BaseException) -> tuple[str, str]:
    error: BaseException | None = raised
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return (
                "its TLS certificate is not trusted on this machine",
                "If it is the hub's own, name the certificate of its authority in SSL_CERT_FILE.",
            )
        if isinstance(error, ssl.SSLError):
            return (
                "what listens there does not speak TLS",
                "If the hub serves no TLS, its address begins with http: and not with https:.",
            )
        if isinstance(error, socket.gaierror):
            return (
                "the host name is unknown (DNS)",
                "Check the spelling of the host, and that this machine's DNS knows it.",
            )
        if isinstance(error, (TimeoutError, asyncio.TimeoutError, httpx.TimeoutException)):
            return (
                "it has not answered in time",
                f"{_ADDRESS} If the hub runs there, look at its log.",
            )
        if isinstance(error, OSError) and error.errno in _BY_NUMBER:
            return _BY_NUMBER[error.errno]
        # Several addresses were tried: each failed for a reason of its own.
        several = getattr(error, "exceptions", None)
        error = several[0] if several else (error.__cause__ or error.__context__)
    if isinstance(raised, httpx.RemoteProtocolError):
        return _CUT
    return str(raised).rstrip(".") or type(raised).__name__, _ADDRESS
