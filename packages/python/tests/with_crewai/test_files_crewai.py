"""Images and files with CrewAI's own file support: for the models of a crew, and from its tasks to
other agents."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from conftest import Cast, refused
from crewai import Crew, Task
from crewai_files import FileBytes, ImageFile
from crews import action, crew, final, member, seeing, task

from waybill_sdk import Agent, HandoffHandle, Work
from waybill_sdk.adapter.media import artifact_of
from waybill_sdk.crewai import RemoteMember, RemoteTool, files, serve

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPgEpEDAABoAD1UCKP3AAAAAElFTkSuQmCC"
)
IMAGE = {"type": "image", "media_type": "image/png", "name": "pixel.png", "data": PIXEL}
DIGEST = "sha256:38cde640a8c23c5b3df30608d15afeb0d1680c1100eef2b86f6f9c0c689829f3"
URL = f"data:image/png;base64,{PIXEL}"


def ask(owner: Agent, *parts: dict[str, Any], **options: Any) -> HandoffHandle:
    content = [{"type": "text", "text": "What is it?"}, *parts]
    messages = [{"role": "user", "name": "anna", "content": content}]
    return owner.hand_off("look", to="worker", messages=messages, **options)


async def serving(cast: Cast, *made: Crew) -> Agent:
    worker = await cast.agent("worker")
    crews = iter(made)
    serve(worker, "look", lambda _: next(crews))
    await worker.start()
    return await cast.agent("owner")


def shown(made: Crew) -> list[str]:
    return [each["image_url"]["url"] for each in made.agents[0].llm.seen]


async def test_every_model_of_a_crew_is_shown_an_image(cast: Cast) -> None:
    first, second = seeing("painter", final("a tree")), seeing("critic", final("an oak"))
    owner = await serving(cast, crew(task(first), task(second, "Which tree?")))
    assert (await ask(owner, IMAGE).result()).output == "an oak"
    for each in (first, second):
        assert [block["image_url"]["url"] for block in each.llm.seen] == [URL]
    # The text says which file is meant.
    assert "What is it?" in first.llm.asked[0]
    assert "pixel.png" in first.llm.asked[0]


async def test_a_later_turn_of_a_session_shows_it_again(cast: Cast) -> None:
    first, second = (crew(task(seeing("painter", final("a tree")))) for _ in range(2))
    owner = await serving(cast, first, second)
    await ask(owner, IMAGE, session="files").result()
    await ask(owner, session="files").result()
    assert (shown(first), shown(second)) == ([URL], [URL])


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"type": "audio", "media_type": "audio/wav", "data": "UklGRgAAAABXQVZF"}, "no place"),
        ({**IMAGE, "media_type": "image/tiff"}, "image/tiff"),
        (
            {"type": "image", "media_type": "image/png", "url": "http://127.0.0.1:1/a.png"},
            "fetch its URL",
        ),
    ],
)
async def test_a_part_that_a_model_can_not_be_shown_is_refused_before_the_call(
    cast: Cast, part: dict[str, Any], reason: str
) -> None:
    painter = seeing("painter", final("a tree"))
    owner = await serving(cast, crew(task(painter)))
    error = await refused(ask(owner, part))
    assert error.status == 422
    assert part["media_type"] in error.message
    assert reason in error.message
    assert painter.llm.asked == []


async def test_one_text_only_model_in_a_crew_refuses_it_too(cast: Cast) -> None:
    painter = seeing("painter", final("a tree"))
    owner = await serving(cast, crew(task(painter), task(member("critic", final("an oak")))))
    error = await refused(ask(owner, IMAGE))
    assert error.status == 422
    assert "critic: the model saying takes words alone" in error.message
    assert painter.llm.asked == []


async def test_an_artifact_is_shown_only_to_models_that_accept_it(cast: Cast) -> None:
    image = {name: IMAGE[name] for name in ("name", "media_type", "data")}
    artifacts = [{**image, "digest": DIGEST}]
    painter = seeing("painter", final("a tree"))
    owner = await serving(cast, crew(task(painter), task(member("critic", final("an oak")))))
    assert (await ask(owner, artifacts=artifacts).result()).output == "an oak"
    assert [block["image_url"]["url"] for block in painter.llm.seen] == [URL]


async def test_a_model_is_told_of_each_file_that_it_is_not_shown(cast: Cast) -> None:
    # CrewAI tells a model with image support that it has this file, but the model's host rejects
    # it.
    scan = artifact_of("scan.tiff", "image/tiff", b"a scan")
    page = artifact_of("page.txt", "text/plain", b"a page")
    placed = {"name": "tree.png", "media_type": "image/png", "digest": DIGEST, "url": "https://a/t"}
    painter, critic = seeing("painter", final("a tree")), member("critic", final("an oak"))
    owner = await serving(cast, crew(task(painter), task(critic)))
    await ask(owner, artifacts=[scan, page, placed]).result()
    assert painter.llm.seen == []
    for each in (painter, critic):
        (asked,) = each.llm.asked
        assert "[The file tree.png, of type image/png, at https://a/t, goes along.]" in asked
        for name in ("scan.tiff, of type image/tiff", "page.txt, of type text/plain"):
            assert f"[The file {name}, goes along, and is not shown here: " in asked


async def test_without_the_file_support_of_crewai_the_models_are_told_of_all_files(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_IS_INSTALLED", False)
    critic = member("critic", final("an oak"))
    owner = await serving(cast, crew(task(critic, "Look.")))
    await ask(owner, artifacts=[artifact_of("page.txt", "text/plain", b"a page")]).result()
    assert "[The file page.txt, of type text/plain, goes along.]" in critic.llm.asked[0]


@pytest.mark.parametrize("is_sync", [False, True])
async def test_the_files_of_a_task_and_of_its_crew_are_sent_to_a_remote_member(
    cast: Cast, is_sync: bool
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    got: list[Any] = []

    async def look(work: Work) -> str:
        got.extend(work.body["artifacts"])
        return "seen"

    worker.serve("look")(look)
    await worker.start()
    await owner.start()
    pixel = base64.urlsafe_b64decode(PIXEL + "=" * (-len(PIXEL) % 4))
    image = ImageFile(source=FileBytes(data=pixel, filename="pixel.png"))
    page = FileBytes(data=b"a page", filename="page.txt")
    remote = RemoteMember(role="looker", agent=owner, capability="look", to="worker")
    looking = Task(
        description="Look.", expected_output="-", agent=remote, input_files={"pixel": image}
    )
    made = Crew(agents=[remote], tasks=[looking])
    if is_sync:
        await made.kickoff_async(input_files={"page": page})
    else:
        await made.akickoff(input_files={"page": page})
    assert sorted((each["name"], each["media_type"], each["data"]) for each in got) == [
        ("page.txt", "text/plain", base64.urlsafe_b64encode(b"a page").decode().rstrip("=")),
        ("pixel.png", "image/png", PIXEL),
    ]


@pytest.mark.parametrize("is_sync", [False, True])
@pytest.mark.parametrize("made", ["member", "tool"])
async def test_the_files_of_a_result_are_available_to_later_tasks(
    cast: Cast, is_sync: bool, made: str
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    image = {**{name: IMAGE[name] for name in ("name", "media_type", "data")}, "digest": DIGEST}
    page = artifact_of("page.bin", "application/x-page", b"a page" * 20_000)
    sent: list[Any] = []

    @worker.serve("paint")
    async def paint(work: Work) -> Any:
        return work.result("Here.", artifacts=[image, page])

    @worker.serve("frame")
    async def frame(work: Work) -> str:
        sent.extend(work.artifacts)
        return "framed"

    await worker.start()
    await owner.start()
    remote: dict[str, Any] = {"agent": owner, "capability": "paint"}
    painter: Any = RemoteMember(role="painter", **remote)
    if made == "tool":
        tool = RemoteTool(name="painter", description="-", result_as_answer=True, **remote)
        painter = member("artist", action("painter", request="-"), tools=[tool])
    critic = seeing("critic", final("an oak"))
    framer = RemoteMember(role="framer", agent=owner, capability="frame")
    team = crew(task(painter), task(critic), task(framer))
    await (team.kickoff_async if is_sync else team.akickoff)(inputs={"instruction": "-"})
    assert [block["image_url"]["url"] for block in critic.llm.seen] == [URL]
    for told in ('"painter pixel.png"', '"painter page.bin"', '"files":["pixel.png","page.bin"]'):
        assert told in critic.llm.asked[0]
    got = {each["name"]: await each.bytes() for each in sent}
    assert sorted(got) == ["painter page.bin", "painter pixel.png"]
    assert got["painter page.bin"] == b"a page" * 20_000
