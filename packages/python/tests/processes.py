"""Other processes: a hub, agents in TypeScript, agents that are killed. They report in lines of
JSON."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
INTEROP = ROOT / "apps" / "interop" / "src"
TESTS = Path(__file__).parent
_PATIENCE_S = 180


class Process:
    def __init__(self, name: str, child: asyncio.subprocess.Process) -> None:
        self.name = name
        self._child = child

    @classmethod
    async def start(cls, *command: str | Path) -> Process:
        child = await asyncio.create_subprocess_exec(
            *map(str, command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=None,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            limit=2**24,
        )
        return cls(Path(str(command[1])).name, child)

    async def line(self) -> str:
        assert self._child.stdout is not None
        line = await asyncio.wait_for(self._child.stdout.readline(), _PATIENCE_S)
        if not line:
            raise AssertionError(f"{self.name} has ended")
        return line.decode().rstrip("\n")

    async def until(self, wanted: str) -> None:
        while await self.line() != wanted:
            pass

    async def json(self) -> dict[str, Any]:
        return dict(json.loads(await self.line()))

    async def say(self, value: dict[str, Any]) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(value).encode() + b"\n")
        await self._child.stdin.drain()

    async def kill(self) -> None:
        await self.end(signal.SIGKILL)

    async def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._child.returncode is None:
            self._child.send_signal(how)
        await self.ended()

    async def ended(self) -> None:
        await asyncio.wait_for(self._child.wait(), _PATIENCE_S)


class Place:
    """A hub with a file, the other processes, and the folder of their keys."""

    def __init__(self, folder: Path, socket: Path | None = None) -> None:
        self.folder = folder
        self._socket = [] if socket is None else [socket]
        self.url = ""
        self.kid = ""
        self._hub: Process | None = None
        self._others: list[Process] = []

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.jwk"

    async def start_hub(self) -> None:
        port = self.url.rpartition(":")[2] or "0"
        self._hub = await Process.start(
            "node", INTEROP / "hub.ts", self.folder, port, *self._socket
        )
        said = await self._hub.json()
        self.url, self.kid = said["url"], said["kid"]

    async def kill_hub(self) -> None:
        assert self._hub is not None
        await self._hub.kill()

    async def typescript(self, program: str, name: str) -> Process:
        started = await Process.start(
            "node", INTEROP / f"{program}.ts", self.url, name, self.key(name)
        )
        self._others.append(started)
        return started

    async def python(self, program: str, name: str, *more: str) -> Process:
        started = await Process.start(
            sys.executable, TESTS / f"{program}.py", self.url, name, self.key(name), *more
        )
        self._others.append(started)
        return started

    async def handed_off(self, line: dict[str, Any]) -> list[dict[str, Any]]:
        """What an agent in TypeScript reports of a handoff that it makes, until the handoff ends."""
        owner = await self.typescript("delegator", "owner")
        assert await owner.json() == {"type": "ready"}
        await owner.say(line)
        said = [await owner.json()]
        while said[-1]["type"] not in ("result", "error", "failure"):
            said.append(await owner.json())
        return said

    async def end_others(self) -> None:
        for each in self._others:
            await each.kill()
        self._others = []

    async def close(self) -> None:
        await self.end_others()
        if self._hub is not None:
            await self._hub.kill()

    async def judge(self) -> dict[str, Any]:
        """The verdict of the history checker in TypeScript on everything that has happened. Ends
        all processes."""
        await self.end_others()
        assert self._hub is not None
        await self._hub.end()
        judge = await Process.start("node", INTEROP / "judge.ts", self.folder)
        verdict = await judge.json()
        await judge.end()
        return verdict
