import { Annotation, MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { expect, test } from "vitest";
import * as z from "zod";
import { schemasOf } from "./schemas.ts";
import { serveGraph } from "./serve.ts";
import { world } from "@waybill/conformance/vitest";

const members = { topic: z.string(), facts: z.array(z.string()).default([]), note: z.string() };
const look = (): never => ({ facts: ["it is old"], note: "for itself" }) as never;

test.each([
  ["zod", z.object(members), z.object({ topic: z.string() }), z.object({ note: z.string() })],
  [
    "a StateSchema",
    new StateSchema(members),
    new StateSchema({ topic: z.string() }),
    new StateSchema({ note: z.string() }),
  ],
] as const)("schemas are derived from %s", async (_, state, input, output) => {
  const whole = new StateGraph({ state, input, output } as never)
    .addNode("look", look)
    .addEdge(START, "look")
    .compile();
  expect(schemasOf(whole)).toMatchObject({
    input_schema: { properties: { topic: { type: "string" } }, required: ["topic"] },
    output_schema: { properties: { note: { type: "string" } }, required: ["note"] },
  });
  // Without an input schema, LangGraph accepts any part of the state.
  const plain = new StateGraph(state as never)
    .addNode("look", look)
    .addEdge(START, "look")
    .compile();
  const { input_schema } = schemasOf(plain);
  expect(input_schema).toMatchObject({ properties: { facts: { type: "array" } } });
  expect(input_schema).not.toHaveProperty("required");
  const { agent } = await world();
  const worker = agent("worker");
  worker.serve(...serveGraph(plain, { name: "work" }));
  await worker.start();
  const owner = agent("owner");
  const given = { topic: "rain" };
  const { result } = owner.handoff({ capability: "work", input: given });
  expect((await result).output).toEqual({ ...given, facts: ["it is old"], note: "for itself" });
  await expect(
    owner.handoff({ to: "worker", capability: "work", input: { topic: 7 } }).result,
  ).rejects.toMatchObject({ status: 422 });
});

test("a graph without a schema is described by whoever serves it, and messages are a conversation", () => {
  const annotated = new StateGraph(Annotation.Root({ topic: Annotation<string> }))
    .addNode("look", () => ({}))
    .addEdge(START, "look")
    .compile();
  expect(schemasOf(annotated)).toEqual({});
  const talking = new StateGraph(new StateSchema({ messages: MessagesValue }))
    .addNode("look", () => ({}))
    .addEdge(START, "look")
    .compile();
  expect(schemasOf(talking)).toEqual({ takes: "conversation" });
});
