"""The page on LangSmith and Langfuse, with the exporter of OpenTelemetry in Python.

No account of a vendor can be reached from here. These tests show that the exporter, with the
page's settings, posts what the page says, and not how a vendor processes it.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from processes import Place

PACKAGES = Path(__file__).parents[3]
PAGE = PACKAGES / "agent" / "TRACING.md"
EXAMPLE = PACKAGES / "python" / "examples" / "tracing.py"

VENDORS = {
    "LangSmith": (
        "/otel/v1/traces",
        {"x-api-key": "YOUR_API_KEY", "langsmith-project": "YOUR_PROJECT"},
    ),
    "Langfuse": (
        "/api/public/otel/v1/traces",
        {"authorization": "Basic YOUR_BASE64_KEYS", "x-langfuse-ingestion-version": "4"},
    ),
}


def settings_of(vendor: str) -> dict[str, str]:
    """The settings under a vendor's heading on the page."""
    block = PAGE.read_text("utf-8").split(f"## {vendor}\n")[1].split("```sh\n")[1].split("```")[0]
    return dict(line.split("=", 1) for line in block.strip().splitlines())


class Receiver:
    """Stands in for the vendor's host."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, dict[str, str], bytes]] = []

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await self._head(reader):
            asked, *lines = head.decode("latin-1").strip().split("\r\n")
            headers = {
                name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
            }
            body = await reader.readexactly(int(headers["content-length"]))
            if headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            self.posted.append((asked, headers, body))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
        writer.close()

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        try:
            return await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return b""


@pytest.mark.parametrize("vendor", VENDORS)
async def test_the_settings_of_the_page_make_the_exporter_post_spans_there(
    place: Place, vendor: str
) -> None:
    path, wanted = VENDORS[vendor]
    settings, receiver = settings_of(vendor), Receiver()
    server = await asyncio.start_server(receiver.take, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    local = f"http://127.0.0.1:{port}{urlsplit(settings['OTEL_EXPORTER_OTLP_ENDPOINT']).path}"
    env = {name: each for name, each in os.environ.items() if name != "OTEL_SDK_DISABLED"}
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        EXAMPLE,
        place.url,
        stdout=asyncio.subprocess.PIPE,
        env={
            **env,
            **settings,
            "OTEL_EXPORTER_OTLP_ENDPOINT": local,
            "WAYBILL_KEYS": str(place.folder / "keys"),
        },
    )
    output, _ = await asyncio.wait_for(child.communicate(), 60)
    server.close()
    assert output.decode() == "LAND AHOY\n"
    assert receiver.posted
    names: set[str] = set()
    for asked, headers, body in receiver.posted:
        assert asked == f"POST {path} HTTP/1.1"
        assert {name: headers.get(name) for name in wanted} == wanted
        assert headers["content-type"] == "application/x-protobuf"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            names.update(span.name for scope in resource.scope_spans for span in scope.spans)
        assert b"land ahoy" not in body.lower()
    assert names == {"send shout", "process shout", "invoke_agent anna"}
