"""Files of a handoff to an AutoGen agent."""

from __future__ import annotations

from typing import Any

from autogen_agentchat.agents import AssistantAgent
from conftest import Cast
from teams import model

from waybill_sdk.adapter.media import artifact_of
from waybill_sdk.autogen import serve


async def test_a_model_is_told_the_name_and_type_of_each_file_that_it_is_not_shown(
    cast: Cast,
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    mind = model("I have read it.")
    serve(worker, "read", lambda _: AssistantAgent("reader", model_client=mind))
    await worker.start()
    page = artifact_of("page\n.pdf", "application/pdf", b"%PDF-1.4")
    picture = {name: page[name] for name in ("media_type", "digest")}
    picture |= {"name": "tree.png", "media_type": "image/png", "url": "https://example.org/tree"}
    text: list[Any] = [{"type": "text", "text": "Read it."}]
    messages = [{"role": "user", "name": "anna", "content": text}]
    await owner.hand_off("read", to="worker", messages=messages, artifacts=[page, picture]).result()
    (call,) = mind.create_calls
    told = call["messages"][-1]
    assert told.source == "anna"
    assert told.content.split("\n") == [
        "Read it.",
        "[The file page .pdf, of type application/pdf, goes along.]",
        "[The file tree.png, of type image/png, at https://example.org/tree, goes along.]",
    ]
