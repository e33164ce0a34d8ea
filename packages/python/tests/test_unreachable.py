"""If no hub answers, connect says why and what to do, and keeps the cause."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from waybill_sdk import WaybillError, connect

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def _refused(url: str, timeout: float = 0.3) -> WaybillError:
    with pytest.raises(WaybillError) as caught:
        await connect(url, timeout=timeout)
    error = caught.value
    assert error.status == 503
    assert error.__cause__ is not None
    return error


async def test_nothing_listens() -> None:
    url = f"http://127.0.0.1:{_free_port()}"
    error = await _refused(url)
    assert f"No hub answers at {url}: nothing listens there. Start the hub" in str(error)


async def test_the_host_is_unknown() -> None:
    error = await _refused("http://no-such-host.invalid", timeout=2)
    assert "the host name is unknown (DNS). Check the spelling" in str(error)


async def _cut(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def _plain(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    writer.close()


@pytest.mark.parametrize(
    ("handler", "scheme", "says"),
    [
        (_cut, "http", "was cut before an answer came. Check that the address"),
        (_plain, "https", "does not speak TLS. If the hub serves no TLS"),
    ],
)
async def test_something_else_listens(handler: Handler, scheme: str, says: str) -> None:
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    error = await _refused(f"{scheme}://127.0.0.1:{port}", timeout=2)
    server.close()
    assert says in str(error)
