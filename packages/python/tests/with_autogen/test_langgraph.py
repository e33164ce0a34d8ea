"""A node of a real LangGraph graph is a real AutoGen team, with a served hub."""

from __future__ import annotations

from typing import Any

import pytest
from processes import Place, Process


async def team(place: Place) -> Process:
    worker = await place.python("with_autogen/recipient_autogen", "worker")
    await worker.until("ready")
    return worker


async def graph(place: Place) -> Process:
    owner = await place.typescript("graph-delegator", "grapher")
    assert await owner.json() == {"type": "ready"}
    return owner


async def run(owner: Process, thread: str, capability: str, **options: Any) -> None:
    line = {"thread": thread, "capability": capability, "to": "worker", "words": "Please."}
    await owner.say({**line, **options})


async def ended(owner: Process) -> dict[str, Any]:
    said = await owner.json()
    while said["type"] == "progress":
        said = await owner.json()
    return said


async def test_it_answers_the_node(place: Place) -> None:
    await team(place)
    owner = await graph(place)
    await run(owner, "greeting", "greet")
    said = [await owner.json(), await owner.json()]
    assert said[0]["type"] == "progress"
    assert said[1] == {"type": "result", "said": "hello from autogen"}


async def test_its_question_interrupts_the_graph(place: Place) -> None:
    await team(place)
    owner = await graph(place)
    await run(owner, "asking", "plan", answer="Lisbon")
    question = await ended(owner)
    assert question["type"] == "question"
    assert "Which city?" in str(question["question"])
    assert await ended(owner) == {"type": "result", "said": "It is settled. DONE"}


async def test_an_exceeded_deadline_ends_the_node(place: Place) -> None:
    await team(place)
    owner = await graph(place)
    await run(owner, "late", "hang", words="for ever", timeoutMs=2_000)
    said = await ended(owner)
    assert (said["type"], said["status"]) == ("error", 504)


async def test_stopping_a_run_stops_the_team(place: Place) -> None:
    worker = await team(place)
    owner = await graph(place)
    await run(owner, "stopped", "hang", words="for ever")
    await worker.until("hanging")
    await owner.say({"thread": "stopped", "isStop": True})
    assert (await ended(owner))["type"] == "error"
    await worker.until("stopped")


async def test_a_team_that_is_killed_is_replaced_by_another(place: Place) -> None:
    worker = await team(place)
    owner = await graph(place)
    await run(owner, "killed", "hang")
    await worker.until("hanging")
    await worker.kill()
    await team(place)
    assert await ended(owner) == {"type": "result", "said": "done after all"}


@pytest.mark.parametrize("capability", ["greet", "plan"])
async def test_a_graph_that_is_killed_finds_its_handoff_again(
    place: Place, capability: str
) -> None:
    worker = await team(place)
    owner = await graph(place)
    thread = f"left {capability}"
    await run(owner, thread, capability)
    assert (await owner.json())["type"] in ("progress", "question")
    await owner.kill()
    again = await graph(place)
    await run(again, thread, capability, answer="Lisbon")
    said = await ended(again)
    if said["type"] == "question":
        said = await ended(again)
    assert said["type"] == "result"
    assert said["said"] == (
        "hello from autogen" if capability == "greet" else "It is settled. DONE"
    )
    await worker.kill()
