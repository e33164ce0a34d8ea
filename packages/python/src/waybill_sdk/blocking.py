"""The same without async: a loop in a thread of its own, and calls that wait for it."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Literal, TypeVar, overload

from . import agent as async_agent
from .delegating.blocking_handle import Events, HandoffHandle, InLoop, blocking_all
from .delegating.ending import HandoffResult
from .delegating.fan_out import Settled
from .link import hub as async_hub
from .link.outgoing import Unconfirmed
from .link.socket import OPEN_WITHIN_S
from .link.tasks import log
from .protocol.key import PrivateKey
from .protocol.trust import TrustPolicy

Handler = TypeVar("Handler", bound=Callable[..., Any])

__all__ = ["Agent", "Events", "HandoffHandle", "Hub", "connect"]


def connect(
    url: str | None = None,
    *,
    hub_key: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    timeout: float = OPEN_WITHIN_S,
) -> Hub:
    """Connects to the hub at an address, or of a data folder. Use it with `with`, or close it: its thread runs until
    then.
    """
    loop = _Loop()
    try:
        connecting = async_hub.connect(url, hub_key=hub_key, folder=folder, timeout=timeout)
        return Hub(loop.wait(connecting), loop)
    except BaseException:
        loop.close()
        raise


class _Loop(InLoop):
    def __init__(self) -> None:
        super().__init__(asyncio.new_event_loop())
        self._thread = threading.Thread(target=self.loop.run_forever, name="waybill", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Hub:
    def __init__(self, hub: async_hub.Hub, loop: _Loop) -> None:
        self.hub = hub
        self.loop = loop
        self._running: set[Agent] = set()
        # The thread of the loop ends with the interpreter, and unsent envelopes would be lost.
        atexit.register(self._leave)

    @property
    def id(self) -> str:
        return self.hub.id

    def close(self) -> None:
        atexit.unregister(self._leave)
        self.loop.wait(self.hub.close())
        self.loop.close()

    def joined(self, agent: Agent) -> None:
        """For agents: one that is not stopped releases its work when the interpreter ends."""
        self._running.add(agent)

    def left(self, agent: Agent) -> None:
        self._running.discard(agent)

    def _leave(self) -> None:
        for agent in list(self._running):
            try:
                agent.stop("release")
            except Exception as error:
                log.warning("%s did not stop: %s", agent.id, error)

    def __enter__(self) -> Hub:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


class Agent:
    """`with` starts it, and lets running work end. Handlers are plain functions, each in a thread,
    or async.
    """

    def __init__(
        self,
        id: str,
        *,
        hub: Hub,
        key: PrivateKey | None = None,
        credit: int = 16,
        manifest: dict[str, Any] | None = None,
        trust: TrustPolicy | None = None,
    ) -> None:
        self.id = id
        self._hub = hub
        self._loop = hub.loop
        self.agent = self._loop.call(
            lambda: async_agent.Agent(
                id, key=key, hub=hub.hub, credit=credit, manifest=manifest, trust=trust
            )
        )

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop of its async side, for adapters."""
        return self._loop.loop

    def serve(
        self, capability: str | dict[str, Any], handler: Handler | None = None
    ) -> Callable[[Handler], Handler]:
        return self.agent.serve(capability, handler)

    def hand_off(self, capability: str, **options: Any) -> HandoffHandle:
        handle = self._loop.call(lambda: self.agent.hand_off(capability, **options))
        # It may have started the agent.
        self._hub.joined(self)
        return HandoffHandle(handle, self._loop)

    @overload
    def hand_off_all(
        self, capability: str, inputs: Iterable[Any], *, settled: Literal[True], **options: Any
    ) -> list[Settled]: ...

    @overload
    def hand_off_all(
        self,
        capability: str,
        inputs: Iterable[Any],
        *,
        settled: Literal[False] = False,
        **options: Any,
    ) -> list[HandoffResult]: ...

    def hand_off_all(self, capability: str, inputs: Iterable[Any], **options: Any) -> list[Any]:
        """As `hand_off_all` of an async agent, whose handles `on_handoff` gets."""
        results = self._loop.wait(self.agent.hand_off_all(capability, inputs, **options))
        return blocking_all(results, self._loop)

    def attach(
        self, handoff_id: str, *, acknowledge: Literal["auto", "manual"] = "auto"
    ) -> HandoffHandle:
        handle = self._loop.wait(self.agent.attach(handoff_id, acknowledge=acknowledge))
        return HandoffHandle(handle, self._loop)

    def find(self, capability: str, **query: Any) -> dict[str, Any]:
        return self._loop.wait(self.agent.find(capability, **query))

    def start(self) -> None:
        self._hub.joined(self)
        self._loop.wait(self.agent.start())

    def stop(
        self,
        mode: Literal["finish", "release", "abandon"] = "finish",
        *,
        settle: float = async_agent.SETTLE_WITHIN_S,
    ) -> list[Unconfirmed]:
        """As `stop` of an async agent. Without it the work is released, and everything sent is
        confirmed, when the interpreter ends.
        """
        self._hub.left(self)
        return self._loop.wait(self.agent.stop(mode, settle=settle))

    def __enter__(self) -> Agent:
        self.start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.stop()
