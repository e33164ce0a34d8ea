import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { changed, HANDOFF } from "./envelope.ts";
import type { Members } from "./envelope.ts";

const TO_WHOEVER = changed(HANDOFF, { to: { capability: "web_research" } });
const MESSAGE = {
  "messaging.system": "waybill",
  "messaging.message.id": HANDOFF["id"],
  "messaging.message.conversation_id": HANDOFF["correlation_id"],
  "messaging.waybill.handoff.id": HANDOFF["handoff_id"],
  "messaging.waybill.capability": "web_research",
};
const named = (operation: string, destination: string, client: string): Members => ({
  ...MESSAGE,
  "messaging.operation.name": operation,
  "messaging.operation.type": operation,
  "messaging.destination.name": destination,
  "messaging.client.id": client,
});
const RESEARCHER = "research-agent-001";

function row(title: string, input: Members, expect: Members): Row {
  return { rules: [], title, input, expect };
}

const invoked = {
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.provider.name": "waybill",
};
const ROWS = [
  { model: "m", requests: 2, input_tokens: 300, cached_input_tokens: 200, output_tokens: 40 },
];

export const TRACING: VectorFile = vectorFile(
  "tracing",
  "tracing",
  "Spans and metrics: their names, kinds and attributes.",
  [
    row(
      "a handoff that carries the span of its sending",
      { operation: "send", handoff: HANDOFF, is_creator: true },
      {
        name: `send ${RESEARCHER}`,
        kind: "PRODUCER",
        attributes: named("send", RESEARCHER, "editor-001"),
      },
    ),
    row(
      "a handoff that carries what the application has given",
      { operation: "send", handoff: HANDOFF, is_creator: false },
      {
        name: `send ${RESEARCHER}`,
        kind: "CLIENT",
        attributes: named("send", RESEARCHER, "editor-001"),
      },
    ),
    row(
      "a handoff to whoever has the capability",
      { operation: "send", handoff: TO_WHOEVER, is_creator: true },
      {
        name: "send web_research",
        kind: "PRODUCER",
        attributes: named("send", "web_research", "editor-001"),
      },
    ),
    row(
      "an attempt",
      { operation: "process", handoff: TO_WHOEVER, agent: RESEARCHER, attempt: 2 },
      {
        name: "process web_research",
        kind: "CONSUMER",
        attributes: {
          ...named("process", "web_research", RESEARCHER),
          "messaging.waybill.attempt": 2,
        },
      },
    ),
    row(
      "the handler of an attempt",
      { operation: "invoke_agent", handoff: HANDOFF, agent: RESEARCHER },
      {
        name: `invoke_agent ${RESEARCHER}`,
        kind: "INTERNAL",
        attributes: {
          ...invoked,
          "gen_ai.agent.id": RESEARCHER,
          "gen_ai.agent.name": RESEARCHER,
          "gen_ai.conversation.id": HANDOFF["correlation_id"],
        },
      },
    ),
    row(
      "a failure",
      { operation: "failure", status: 500 },
      { attributes: { "error.type": "500" } },
    ),
    row("no usage", { operation: "usage", rows: [] }, { attributes: {}, points: [] }),
    row(
      "usage of one model",
      { operation: "usage", rows: ROWS },
      {
        attributes: {
          "gen_ai.usage.input_tokens": 300,
          "gen_ai.usage.cache_read.input_tokens": 200,
          "gen_ai.usage.output_tokens": 40,
          "gen_ai.request.model": "m",
        },
        points: [
          {
            tokens: 300,
            attributes: {
              ...invoked,
              "gen_ai.request.model": "m",
              "gen_ai.token.type": "input",
            },
          },
          {
            tokens: 40,
            attributes: {
              ...invoked,
              "gen_ai.request.model": "m",
              "gen_ai.token.type": "output",
            },
          },
        ],
      },
    ),
    row(
      "usage of a model and of one without a name",
      { operation: "usage", rows: [...ROWS, { output_tokens: 7, reasoning_tokens: 5 }] },
      {
        attributes: {
          "gen_ai.usage.input_tokens": 300,
          "gen_ai.usage.cache_read.input_tokens": 200,
          "gen_ai.usage.output_tokens": 47,
          "gen_ai.usage.reasoning.output_tokens": 5,
        },
        points: [
          { tokens: 300 },
          { tokens: 40 },
          { tokens: 7, attributes: { ...invoked, "gen_ai.token.type": "output" } },
        ],
      },
    ),
    row(
      "the histogram of tokens",
      { operation: "histogram" },
      {
        name: "gen_ai.client.token.usage",
        unit: "{token}",
        description: "Number of input and output tokens used.",
        schema_url: "https://opentelemetry.io/schemas/1.41.0",
        boundaries: Array.from({ length: 14 }, (_, power) => 4 ** power),
      },
    ),
  ],
);
