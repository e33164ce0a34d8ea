import asyncio
import sys

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from waybill_sdk import Agent, Work, connect

# The exporter reads OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS.
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)


async def main(url: str = "http://127.0.0.1:7411") -> None:
    async with await connect(url) as hub:
        anna = Agent("anna", hub=hub)

        @anna.serve("shout")
        async def shout(work: Work) -> str:
            work.add_usage(model="gpt-5", requests=1, input_tokens=12, output_tokens=3)
            return str(work.input).upper()

        editor = Agent("editor", hub=hub)
        async with anna, editor:
            print((await editor.hand_off("shout", input="land ahoy").result()).output)


asyncio.run(main(*sys.argv[1:]))
provider.shutdown()
