"""An agent in a process of its own, to be killed. It does the same work as the one in TypeScript."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from waybill_sdk import Agent, WaybillError, Work, connect, load_key


async def echo(work: Work) -> Any:
    return {"value": work.input.get("value"), "by": work.agent, "attempt": work.attempt}


async def messages(work: Work) -> Any:
    given = work.body
    return work.result("read", messages=given.get("messages"), artifacts=given.get("artifacts"))


async def again(work: Work) -> Any:
    (file,) = work.artifacts
    octets = await file.bytes()
    turned = {"name": file["name"], "media_type": file["media_type"], "bytes": octets[::-1]}
    return work.result({"bytes": len(octets)}, artifacts=[turned])


async def progress(work: Work) -> Any:
    for step in (1, 2, 3):
        await work.progress(f"step {step}", fraction=step / 4)
    return {"value": "done"}


async def ask(work: Work) -> Any:
    return {"answer": await work.ask("Which?", id="q")}


async def pause(work: Work) -> Any:
    if work.resume is None:
        return work.pause({"id": "p", "text": "Go on?"}, state="halfway")
    return {"state": work.resume.state, "answer": work.resume.answers["p"]}


async def fail(_work: Work) -> Any:
    raise WaybillError(500, "The oven is cold.", cause=RuntimeError("no gas"), retryable=False)


async def empty(_work: Work) -> Any:
    return ""


async def hang(work: Work) -> Any:
    print("hanging")
    try:
        await asyncio.Event().wait()
    finally:
        print("stopped")


KINDS = {
    each.__name__: each for each in (again, echo, messages, progress, ask, pause, fail, empty, hang)
}


def serve(agent: Agent) -> None:
    @agent.serve({"name": "work", "lease_seconds": 1, "max_attempts": 10})
    async def work(given: Work) -> Any:
        return await KINDS[given.input["kind"]](given)


async def main() -> None:
    url, name, key = sys.argv[1:]
    async with await connect(url) as hub:
        agent = Agent(name, key=load_key(key), hub=hub)
        serve(agent)
        async with agent:
            print("ready")
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
