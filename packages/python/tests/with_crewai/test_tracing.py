"""The spans of handoffs and attempts, as @waybill/agent makes them, with a real OpenTelemetry SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tracing
from conftest import Cast
from crews import crew, final, member, task
from opentelemetry import context, trace
from processes import Place, Process
from tracing import ended, id_of, parent_of, span, spans, told, trace_of

from waybill_sdk import BlockingWork, WaybillError, Work
from waybill_sdk.crewai import RemoteMember, serve


@pytest.fixture(autouse=True)
def _spans() -> Iterator[None]:
    tracing.register()
    tracing.exporter.clear()
    yield
    tracing.exporter.clear()


def expect_child(name: str, parent: str) -> None:
    assert parent_of(span(name)) == id_of(span(parent)), name
    assert trace_of(span(name)) == trace_of(span(parent))


async def test_one_trace_connects_the_delegator_to_a_child_of_the_recipient(
    cast: Cast,
) -> None:
    worker, lead, owner = [await cast.agent(name) for name in ("worker", "lead", "owner")]
    app = trace.get_tracer("app")

    @worker.serve("square")
    def square(work: BlockingWork) -> int:
        with app.start_as_current_span("in a thread"):
            return int(work.input**2)

    @lead.serve("sum")
    async def total(work: Work) -> Any:
        with app.start_as_current_span("own"):
            pass
        # Begun in another context, like a framework with its own workers.
        token = context.attach(context.Context())
        part = work.hand_off("square", to="worker", input=3)
        context.detach(token)
        return (await part.result()).output

    await worker.start()
    await lead.start()
    with app.start_as_current_span("job"):
        job = owner.hand_off("sum")
    assert (await job.result()).output == 9
    await ended("process sum")
    await ended("process worker")

    expect_child("send sum", "job")
    expect_child("process sum", "send sum")
    expect_child("invoke_agent lead", "process sum")
    expect_child("own", "invoke_agent lead")
    expect_child("send worker", "invoke_agent lead")
    expect_child("process worker", "send worker")
    expect_child("invoke_agent worker", "process worker")
    expect_child("in a thread", "invoke_agent worker")
    sent = span("send sum")
    carried = str(job.envelope["traceparent"])
    assert carried.startswith(f"00-{trace_of(sent)}-{id_of(sent)}-")


async def test_spans_have_the_names_and_attributes_of_the_conventions_without_content(
    cast: Cast,
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("secret_keeping")
    async def keep(work: Work) -> str:
        return "hush"

    await worker.start()
    handoff = owner.hand_off("secret_keeping", to="worker", brief={"instruction": "hush"})
    await handoff.result()
    await ended("process worker")
    envelope = handoff.envelope
    messaging = {
        "messaging.system": "waybill",
        "messaging.destination.name": "worker",
        "messaging.message.id": envelope["id"],
        "messaging.message.conversation_id": envelope["correlation_id"],
        "messaging.waybill.handoff.id": envelope["handoff_id"],
        "messaging.waybill.capability": "secret_keeping",
    }
    good = {"status": "UNSET", "description": None}
    assert told(span("send worker")) == {
        **good,
        "kind": "PRODUCER",
        "attributes": {
            **messaging,
            "messaging.operation.name": "send",
            "messaging.operation.type": "send",
            "messaging.client.id": "owner",
        },
    }
    assert told(span("process worker")) == {
        **good,
        "kind": "CONSUMER",
        "attributes": {
            **messaging,
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "messaging.client.id": "worker",
            "messaging.waybill.attempt": 1,
        },
    }
    [link] = span("process worker").links
    assert f"{link.context.span_id:016x}" == id_of(span("send worker"))
    assert told(span("invoke_agent worker")) == {
        **good,
        "kind": "INTERNAL",
        "attributes": {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": "waybill",
            "gen_ai.agent.id": "worker",
            "gen_ai.agent.name": "worker",
            "gen_ai.conversation.id": envelope["correlation_id"],
        },
    }
    for each in tracing.exporter.get_finished_spans():
        assert each.instrumentation_scope is not None
        assert str(each.instrumentation_scope.schema_url).endswith("schemas/1.41.0")
        assert "hush" not in each.to_json()


async def test_each_attempt_has_its_own_spans_and_a_failed_one_has_its_status(
    cast: Cast,
) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("flaky")
    async def flaky(work: Work) -> str:
        if work.attempt == 1:
            raise WaybillError(500, "hush", retryable=True)
        return "done"

    await worker.start()
    assert (await owner.hand_off("flaky").result()).attempt == 2
    await ended("process flaky", 2)
    sent, attempts = span("send flaky"), spans("process flaky")
    assert [each.attributes["messaging.waybill.attempt"] for each in attempts] == [1, 2]
    for each in attempts:
        assert (trace_of(each), parent_of(each)) == (trace_of(sent), id_of(sent))
    for name in ("process flaky", "invoke_agent worker"):
        first, second = map(told, spans(name))
        assert (first["status"], first["description"]) == ("ERROR", "TASK_FAILED")
        assert first["attributes"]["error.type"] == "500"
        assert second["status"] == "UNSET"


async def test_a_refused_or_stopped_handoff_shows_in_its_spans(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")
    begun = asyncio.Event()

    @worker.serve("endless")
    async def endless(work: Work) -> str:
        begun.set()
        await asyncio.sleep(3600)
        return "never"

    await worker.start()
    with pytest.raises(WaybillError):
        await owner.hand_off("unknown").result()
    await ended("send unknown")
    assert told(span("send unknown"))["attributes"]["error.type"] == "404"

    handoff = owner.hand_off("endless")
    await begun.wait()
    await handoff.cancel()
    await ended("process endless")
    assert told(span("process endless"))["attributes"]["error.type"] == "499"
    assert told(span("invoke_agent worker"))["attributes"]["error.type"] == "499"


async def test_a_given_trace_context_is_sent_unchanged(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("work")
    async def work(work: Work) -> str:
        return f"{work.envelope['traceparent']} {work.envelope['tracestate']}"

    await worker.start()
    given = f"00-{'a' * 32}-{'b' * 16}-01"
    handoff = owner.hand_off("work", traceparent=given, tracestate="vendor=1")
    assert (await handoff.result()).output == f"{given} vendor=1"
    await ended("process work")
    assert told(span("send work"))["kind"] == "CLIENT"
    assert {parent_of(span(name)) for name in ("send work", "process work")} == {"b" * 16}
    assert trace_of(span("process work")) == "a" * 32


async def test_tokens_are_on_the_span_of_the_attempt_and_in_the_histogram(cast: Cast) -> None:
    worker, owner = await cast.agent("worker"), await cast.agent("owner")

    @worker.serve("work")
    async def work(work: Work) -> str:
        work.add_usage(
            model="tracing-test", input_tokens=300, cached_input_tokens=200, output_tokens=40
        )
        return "done"

    await worker.start()
    await owner.hand_off("work").result()
    await ended("invoke_agent worker")
    attributes = told(span("invoke_agent worker"))["attributes"]
    assert {name: each for name, each in attributes.items() if "usage" in name} == {
        "gen_ai.usage.input_tokens": 300,
        "gen_ai.usage.cache_read.input_tokens": 200,
        "gen_ai.usage.output_tokens": 40,
    }
    [scope] = [
        each
        for resource in tracing.reader.get_metrics_data().resource_metrics
        for each in resource.scope_metrics
        if each.scope.name == "waybill_sdk"
    ]
    [metric] = scope.metrics
    points = [
        each for each in metric.data.data_points if "tracing-test" in each.attributes.values()
    ]
    assert (metric.name, metric.unit) == ("gen_ai.client.token.usage", "{token}")
    assert {(each.attributes["gen_ai.token.type"], each.sum) for each in points} == {
        ("input", 300),
        ("output", 40),
    }
    assert list(points[0].explicit_bounds)[:4] == [1, 4, 16, 64]


async def test_one_trace_connects_a_crew_in_python_and_a_graph_in_typescript(
    place: Place, cast: Cast
) -> None:
    graph = await place.typescript("traced-graph-recipient", "worker")
    await graph.until("ready")
    lead, owner = await cast.agent("lead"), await cast.agent("owner")

    def made(_work: Work) -> Any:
        remote = RemoteMember(
            agent=lead, capability="research", role="researcher", to="worker", run="crew"
        )
        return crew(task(remote), task(member("poet", final("A poem."))))

    serve(lead, "poem", made)
    await lead.start()
    with trace.get_tracer("app").start_as_current_span("job"):
        job = owner.hand_off("poem", brief={"instruction": "Write about the sea."})
    assert (await job.result()).output == "A poem."
    await ended("process poem")
    theirs = await told_by(graph, lambda found: "process worker" in found)

    expect_child("send poem", "job")
    expect_child("process poem", "send poem")
    expect_child("invoke_agent lead", "process poem")
    sent = span("send worker")
    assert trace_of(sent) == trace_of(span("job"))
    process, invoked = theirs["process worker"], theirs["invoke_agent worker"]
    assert process["parent"] == id_of(sent)
    assert invoked["parent"] == process["id"]
    assert theirs["research"]["parent"] == invoked["id"]
    assert {each["trace"] for each in theirs.values()} == {trace_of(span("job"))}
    # Both sides report the same for one handoff.
    shared = told(sent)["attributes"]
    for name in ("messaging.waybill.handoff.id", "messaging.message.conversation_id"):
        assert process["attributes"][name] == shared[name]


async def told_by(
    graph: Process, is_enough: Callable[[dict[str, Any]], bool]
) -> dict[str, dict[str, Any]]:
    """The spans of the TypeScript process, by their names."""
    found: dict[str, dict[str, Any]] = {}
    while not is_enough(found):
        each = await graph.json()
        found[each["name"]] = each
    return found
