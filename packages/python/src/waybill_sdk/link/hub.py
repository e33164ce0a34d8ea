"""A served hub: its identity, and its public queries."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from ..protocol.error import WaybillError
from ..protocol.instant import now_ms, parse_time
from ..protocol.json_text import parse_json
from ..protocol.manifest import VerifiedManifest, check_domain, verify_manifest
from ..protocol.problem import error_of_response
from ..protocol.shape import anything, boolean, instant, integer, listed, record, text
from .address import Address, address_of
from .hub_folder import data_folder, hub_of_folder
from .retry import retry
from .socket import ANSWER_WITHIN_S, OPEN_WITHIN_S, HubSocket
from .unreachable import unreachable

_published = record(
    {"manifests": listed(record({"manifest": text(), "at": instant}))}, {"next": integer(1)}
)
_well_known = record({"hub": text(), "domain": text(), "manifest": text()})
_found = record({"fits": listed(anything), "left_out": listed(anything)})
_upload = record({"received": integer(), "complete": boolean}, {"size": integer()})
Published = list[tuple[str, int]]
# The longest time without any bytes. A hub compares what it has of a blob with the digest before it
# answers.
_BLOB_TIMEOUT = httpx.Timeout(120.0, connect=OPEN_WITHIN_S)


def read_published(value: Any) -> tuple[Published, int | None]:
    """Signed manifests, each with the time at which the hub accepted it, and where to continue."""
    _published(value, "")
    page = [(each["manifest"], parse_time(each["at"]) or 0) for each in value["manifests"]]
    return page, value.get("next")


async def manifest_pages(ask: Callable[[dict[str, Any]], Awaitable[Any]]) -> Published:
    """All manifests of an agent by sequence, page by page."""
    found: Published = []
    after = 0
    while True:
        page, following = read_published(await ask({"after": after}))
        found += page
        # A list that does not advance is not followed forever.
        if following is None or following <= after:
            return found
        after = following


def read_found(value: Any) -> dict[str, Any]:
    _found(value, "")
    return dict(value)


async def connect(
    url: str | None = None,
    *,
    hub_key: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    timeout: float = OPEN_WITHIN_S,
) -> Hub:
    """Connects to the hub at an address: a URL, or `unix:` and the path of its socket on this
    machine. Waits for a hub that is not up yet; raises a 503 when the time is over.

    Without an address it connects to the one that the environment names (`WAYBILL_HUB`), or to the
    hub that runs in a data folder on this machine (`folder`, `WAYBILL_DATA`, or `.waybill`): over
    its Unix socket if it has one.

    `hub_key` is its custody domain, or the thumbprint of a current key of it. By default the first
    hub that answers is trusted, and no other one for the life of this connection.
    """
    if url is None and folder is None:
        url = os.environ.get("WAYBILL_HUB") or None
    if url is not None:
        address_of(url)
    data = data_folder(folder)
    last: WaybillError | None = None

    async def meet() -> Hub:
        nonlocal last
        hub: Hub | None = None
        try:
            at, key = (url, None) if url is not None else hub_of_folder(data)
            hub = Hub(address_of(at), hub_key or key)
            await hub.meet()
            return hub
        except BaseException as error:
            if hub is not None:
                await hub.close()
            if isinstance(error, WaybillError):
                last = error
            raise

    try:
        return await retry(meet, asyncio.get_running_loop().time() + timeout)
    except WaybillError as error:
        # A try that was aborted because the time was over says less than the one before it.
        if last is not None and isinstance(error.__cause__, asyncio.TimeoutError):
            raise last from last.__cause__
        raise


class Hub:
    def __init__(self, address: Address, pinned: str | None) -> None:
        self.id = ""
        self.domain = ""
        """Its custody domain: the thumbprint of the key that signed its first manifest."""
        self.address = address
        self._pinned = pinned
        self._known: VerifiedManifest | None = None
        path = address.unix_path
        self._http = httpx.AsyncClient(
            timeout=OPEN_WITHIN_S,
            follow_redirects=False,
            transport=None if path is None else httpx.AsyncHTTPTransport(uds=path),
        )

    async def __aenter__(self) -> Hub:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def meet(self) -> None:
        """Asks the hub for its identity, and accepts it if it is the expected one."""
        said = await self._request("GET", "/.well-known/waybill")
        _well_known(said, "")
        hub, domain = said["hub"], said["domain"]
        is_known = self._known is not None and self._known.text == said["manifest"]
        if not is_known or domain != self.domain:
            self._check(hub, domain, await self.manifests(hub))
        if self.id not in ("", hub):
            raise WaybillError(
                401,
                f"The hub at {self.address.url} was {self.id}, and is now {hub}: a different hub answers at this address.",
            )
        self.id, self.domain = hub, domain

    async def manifests(self, agent: str) -> Published:
        """All manifests of an agent, by sequence."""
        return await self._of_agent(agent, manifest_pages)

    async def newest_manifest(self, agent: str) -> str | None:
        """The newest manifest of an agent, if the hub knows one."""

        async def ask(of: Callable[[dict[str, Any]], Awaitable[Any]]) -> Published:
            return read_published(await of({"newest": "true"}))[0]

        found = await self._of_agent(agent, ask)
        return found[0][0] if found else None

    async def _of_agent(
        self,
        agent: str,
        read: Callable[[Callable[[dict[str, Any]], Awaitable[Any]]], Awaitable[Published]],
    ) -> Published:
        path = f"/.well-known/waybill/agents/{quote(agent, safe='')}"
        try:
            return await read(lambda query: self._request("GET", f"{path}?{urlencode(query)}"))
        except WaybillError as error:
            if error.status == 404:
                return []
            raise

    async def publish(self, agent: str, manifest: str, invitation: str | None = None) -> None:
        body = {"manifest": manifest}
        if invitation is not None:
            body["invitation"] = invitation
        await self._request("PUT", f"/v1/agents/{quote(agent, safe='')}", body)

    async def blob_upload(self, path: str, headers: dict[str, str]) -> dict[str, Any]:
        """How much the hub has of a blob from the agent that has signed the request."""
        return await self._blob("GET", path, headers, None)

    async def put_blob(
        self, path: str, headers: dict[str, str], octets: AsyncIterator[bytes]
    ) -> dict[str, Any]:
        """Uploads the bytes of a blob, with backpressure."""
        return await self._blob("PUT", path, headers, octets)

    async def _blob(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        octets: AsyncIterator[bytes] | None,
    ) -> dict[str, Any]:
        url = self.address.path(path)
        try:
            response = await self._http.request(
                method, url, headers=headers, content=octets, timeout=_BLOB_TIMEOUT
            )
        except httpx.HTTPError as error:
            raise unreachable(self.address.url, error) from error
        if not response.is_success:
            raise error_of_response(response.status_code, response.text)
        value = parse_json(response.content)
        _upload(value, "")
        return dict(value)

    async def read_blob(self, path: str, headers: dict[str, str]) -> AsyncGenerator[bytes, None]:
        """The bytes of a blob, or of the part of it that the headers name."""
        url = self.address.path(path)
        try:
            async with self._http.stream(
                "GET", url, headers=headers, timeout=_BLOB_TIMEOUT
            ) as response:
                if not response.is_success:
                    text = (await response.aread()).decode("utf-8", "replace")
                    raise error_of_response(response.status_code, text)
                if response.status_code != (206 if "Range" in headers else 200):
                    raise WaybillError(
                        500,
                        f"{self.address.url} does not return the requested part of a blob: something between it and "
                        "this agent may have changed the request.",
                    )
                async for piece in response.aiter_raw():
                    yield piece
        except httpx.HTTPError as error:
            raise unreachable(self.address.url, error) from error

    async def open_socket(self) -> HubSocket:
        # Another server may have taken the hub's place while it was unreachable.
        await self.meet()
        socket = await HubSocket.open(self.address)
        if (socket.hub, socket.domain) == (self.id, self.domain):
            return socket
        await socket.close()
        raise WaybillError(
            401,
            f"The socket of {self.id} leads to another hub: {socket.hub} of the custody domain {socket.domain}.",
        )

    async def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        url = self.address.path(path)
        try:
            # The client's own limit applies to each piece of an answer, however many there are.
            asked = self._http.request(method, url, json=body)
            response = await asyncio.wait_for(asked, ANSWER_WITHIN_S)
        except (httpx.HTTPError, asyncio.TimeoutError) as error:
            raise unreachable(self.address.url, error) from error
        if response.is_redirect:
            raise WaybillError(
                404,
                f"{url} redirects to another address: connect to that address if it belongs to the hub.",
            )
        if not response.is_success:
            raise error_of_response(response.status_code, response.text)
        return parse_json(response.content) if response.content else None

    def _check(self, hub: str, domain: str, published: Published) -> None:
        """Accepts all manifests of the hub in order of their sequence, or raises."""
        chain: list[VerifiedManifest] = []
        for each, at in published:
            chain.append(verify_manifest(each, previous=chain[-1] if chain else None, at=at))
        if not chain or chain[-1].agent != hub:
            raise WaybillError(
                401, f"The hub at {self.address.url} does not show a manifest of {hub}."
            )
        newest, known = chain[-1], self._known
        if known is not None and all(each.digest != known.digest for each in chain):
            raise WaybillError(
                401,
                f"THE HUB HAS CHANGED: {known.agent} at {self.address.url} was known by {_kids(known)}; now "
                f"{newest.agent} is there, with {_kids(newest)}, and nothing that leads from the one to the other. Either somebody else "
                "answers there, or the hub lost its key or its store. To trust what is there now, connect again; to be "
                "sure of it, pin its key with hub_key.",
            )
        check_domain(domain, chain)
        if self._pinned not in (None, domain):
            pinned = newest.keys.get(self._pinned)
            if pinned is None or not pinned.is_valid_at(now_ms()):
                raise WaybillError(
                    401,
                    f"THIS IS NOT THE PINNED HUB: {self._pinned} is neither the custody domain nor a current key of "
                    f"{newest.agent} at {self.address.url}, "
                    f"which has {_kids(newest)}. Pin another key only if the hub's operator confirms it.",
                )
        self._known = newest


def _kids(manifest: VerifiedManifest) -> str:
    return ", ".join(manifest.keys)
