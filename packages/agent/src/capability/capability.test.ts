import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { isId, WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { type } from "arktype";
import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { Agent } from "../agent.ts";
import type { GroupHandle } from "../delegating/group.ts";
import type { HandoffHandle } from "../delegating/handoff-handle.ts";
import type { HandoffResult } from "../delegating/ending.ts";
import { World } from "../world-fixture.ts";
import { capability } from "./capability.ts";

const research = capability({
  name: "web_research",
  version: "1.2",
  description: "Finds out what is known",
  input: z.object({ topic: z.string().min(2), depth: z.int().default(1) }),
  output: z.object({ summary: z.string(), sources: z.array(z.url()).default([]) }),
  questions: { language: z.enum(["en", "de"]), years: z.coerce.number() },
  lease_seconds: 30,
});

interface Topic {
  topic: string;
  year?: number;
}

test("a declared capability types input, output and questions on both sides", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(research, async ({ input, ask }) => {
    expectTypeOf(input).toEqualTypeOf<{ topic: string; depth: number }>();
    const language = await ask("language", "Which language shall it be in?");
    expectTypeOf(language).toEqualTypeOf<"en" | "de">();
    const years = await ask("years");
    expectTypeOf(years).toEqualTypeOf<number>();
    // @ts-expect-error no such question is declared
    await ask("colour").catch(() => undefined);
    return {
      summary: `${input.topic} ${input.depth} ${language} ${years + 1}`,
      secret: "left out",
    };
  });
  await worker.start();

  const owner = world.agent("owner");
  const handoff = owner.handoff(research, { input: { topic: "tea" } });
  const answering = (async () => {
    for await (const question of handoff.questions) {
      expectTypeOf(question.name).toEqualTypeOf<"language" | "years" | undefined>();
      if (question.name === "language") {
        expect(question.text).toBe("Which language shall it be in?");
        expect(question.schema).toMatchObject({ enum: ["en", "de"] });
        // @ts-expect-error the answer is one of two words
        const wrong = handoff.answer(question, "fr");
        await expect(wrong).rejects.toMatchObject({ status: 422 });
        await handoff.answer(question, "de");
      } else if (question.name === "years") await handoff.answer("years", "3");
    }
  })();
  const result = await handoff.result;
  expectTypeOf(result).toEqualTypeOf<HandoffResult<{ summary: string; sources: string[] }>>();
  expect(result.output).toEqual({ summary: "tea 1 de 4", sources: [] });
  expect(result.by).toBe("worker");
  await answering;

  const again = await owner.attach(research, handoff.id);
  expectTypeOf(again).toEqualTypeOf<typeof handoff>();
  expect((await again.result).output.summary).toBe("tea 1 de 4");
  const other = capability({ name: "other" });
  await expect(owner.attach(other, handoff.id)).rejects.toThrow("and not to other");
  await Promise.all([owner.stop(), worker.stop()]);
});

test("the manifest has the JSON Schema of the declaration, and its terms", async () => {
  expect(research.manifest).toMatchObject({
    name: "web_research",
    version: "1.2",
    description: "Finds out what is known",
    lease_seconds: 30,
    input_schema: { type: "object", required: ["topic"] },
    output_schema: { type: "object", required: ["summary", "sources"] },
  });
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(research, () => ({ summary: "" }));
  await worker.start();
  const { fits } = await world.hub.find({ capability: "web_research", version: "^1.1" });
  expect(fits.map((each) => each.agent_id)).toEqual(["worker"]);
  await worker.stop();
});

test("input that does not match its schema is not sent, and the error names the place", async () => {
  const world = await World.open();
  const owner = world.agent("owner");
  // @ts-expect-error the topic is missing
  const missing = owner.handoff(research, { input: { depth: 2 } });
  await expect(missing.result).rejects.toMatchObject({
    status: 422,
    at: "/topic",
    message: expect.stringMatching(/^The input for web_research was not sent.*\/topic: /),
  });
  await expect(missing.custody).rejects.toMatchObject({ status: 422 });
  const short = owner.handoff(research, { input: { topic: "t", depth: 1.5 } });
  await expect(short.result).rejects.toThrow(/\/topic: .*; \/depth: /);
  expect(await world.history()).not.toContainEqual(expect.objectContaining({ type: "envelope" }));
  // @ts-expect-error an input has to be given
  expectTypeOf(() => owner.handoff(research, {})).returns.toBeObject();
  await owner.stop();
});

test("input that only the schema library can reject is refused before it is accepted", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  const even = capability({
    name: "halve",
    input: z.object({ n: z.int().refine((n) => n % 2 === 0, "must be even") }),
    output: z.int(),
  });
  let calls = 0;
  worker.serve(even, ({ input: { n } }) => {
    calls++;
    return n / 2;
  });
  await worker.start();
  const owner = world.agent("owner");
  const odd = owner.handoff({ to: "worker", capability: "halve", input: { n: 3 } });
  await expect(odd.accepted).rejects.toMatchObject({ status: 422 });
  await expect(odd.result).rejects.toThrow("/n: must be even");
  expect(calls).toBe(0);
  expect((await owner.handoff(even, { input: { n: 4 } }).result).output).toBe(2);
  await Promise.all([owner.stop(), worker.stop()]);
});

test("an output that breaks its schema is a 520 that names the places", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(research, () => ({ summary: 1, sources: ["no address"] }) as never);
  await worker.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff(research, { input: { topic: "tea" } });
  await handoff.custody;
  // The hub retries it once.
  await world.clock.advance(5_000);
  await expect(handoff.result).rejects.toMatchObject({
    status: 520,
    message: expect.stringMatching(/\/summary: .*; \/sources\/0: /),
  });
  await Promise.all([owner.stop(), worker.stop()]);
});

test("the output of another implementation is checked too, and kept in the error", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve({ name: "web_research", version: "1.2" }, () => ({ summary: 7 }));
  await worker.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff(research, { input: { topic: "tea" } });
  const error = await handoff.result.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    status: 520,
    message: expect.stringContaining("The output of worker for web_research"),
    cause: { output: { summary: 7 }, by: "worker" },
  });
  await Promise.all([owner.stop(), worker.stop()]);
});

test("an undeclared question of another implementation can be answered directly", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve({ name: "web_research", version: "1.3" }, async ({ ask }) => ({
    summary: await ask({ id: "colour", text: "Which colour?" }),
    sources: [],
  }));
  await worker.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff(research, { input: { topic: "tea" } });
  for await (const question of handoff.questions) {
    if (question.name === undefined) await handoff.answer(question, "green");
  }
  expect((await handoff.result).output.summary).toBe("green");
  await Promise.all([owner.stop(), worker.stop()]);
});

test("a paused question is answered by name, and its answer is read in the next attempt", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(research, async ({ resume, ask, pause, result }) => {
    if (resume === undefined) return pause({ years: "How many?", language: {} }, "the state");
    expect(resume.state).toBe("the state");
    const output = { summary: `${await ask("years")} ${await ask("language")}` };
    return result({ output, effects: "none" });
  });
  await worker.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff(research, { input: { topic: "tea" } });
  for await (const question of handoff.questions) {
    expect(question.isPaused).toBe(true);
    if (question.name === "years") await handoff.answer(question, 12);
    else await handoff.answer("language", "en");
  }
  expect((await handoff.result).output.summary).toBe("12 en");
  await Promise.all([owner.stop(), worker.stop()]);
});

test("asking twice under one name asks two questions", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(research, async ({ ask }) => {
    const answers = [
      await ask("years"),
      await ask("years"),
      await ask("years", { part: "birth", text: "Since birth?" }),
    ];
    return { summary: answers.join(" ") };
  });
  await worker.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff(research, { input: { topic: "tea" } });
  const asked: string[] = [];
  for await (const question of handoff.questions) {
    asked.push(question.id);
    if (question.name === "years") await handoff.answer(question, asked.length);
  }
  expect(asked).toEqual(["years", "years/2", "years/birth"]);
  expect((await handoff.result).output.summary).toBe("1 2 3");
  await Promise.all([owner.stop(), worker.stop()]);
});

test("Valibot and ArkType declare capabilities as zod does", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  const shout = capability({
    name: "shout",
    input: toStandardJsonSchema(v.object({ text: v.pipe(v.string(), v.minLength(1)) })),
    output: toStandardJsonSchema(v.object({ loud: v.string() })),
  });
  worker.serve(shout, ({ input }) => {
    expectTypeOf(input).toEqualTypeOf<{ text: string }>();
    return { loud: input.text.toUpperCase() };
  });
  const count = capability({
    name: "count",
    input: type({ words: "string[]" }),
    output: type("number.integer >= 0"),
  });
  worker.serve(count, ({ input }) => {
    expectTypeOf(input).toEqualTypeOf<{ words: string[] }>();
    return input.words.length;
  });
  await worker.start();
  expect(count.manifest.output_schema).toMatchObject({ type: "integer", minimum: 0 });
  const owner = world.agent("owner");
  const loud = await owner.handoff(shout, { input: { text: "tea" } }).result;
  expectTypeOf(loud.output).toEqualTypeOf<{ loud: string }>();
  expect(loud.output).toEqual({ loud: "TEA" });
  const counted = await owner.handoff(count, { input: { words: ["a", "b"] } }).result;
  expectTypeOf(counted.output).toEqualTypeOf<number>();
  expect(counted.output).toBe(2);
  for (const wrong of [
    owner.handoff(shout, { input: { text: "" } }),
    owner.handoff(count, { input: { words: [1 as never] } }),
  ]) {
    await expect(wrong.result).rejects.toMatchObject({ status: 422, at: /^\/(text|words\/0)$/ });
  }
  await Promise.all([owner.stop(), worker.stop()]);
});

test("a schema without JSON Schema is refused with what to pass beside it", () => {
  const input = v.object({ text: v.string() });
  expect(() => capability({ name: "shout", input })).toThrow(
    /^The input of shout can't be published.*valibot.*input_schema.*toStandardJsonSchema/,
  );
  const given = capability({ name: "shout", input, input_schema: { text: "string" } });
  expect(given.manifest.input_schema).toEqual({ text: "string" });
  expect(() => capability({ name: "when", output: z.date() })).toThrow(
    /^The output of when can't be published.*output_schema/,
  );
  expect(() => capability({ name: "ask", questions: { when: z.date() } })).toThrow(
    /answer to when of ask.*question_schemas: \{ when: … \}/,
  );
  // @ts-expect-error a JSON Schema is not a Standard Schema
  expect(() => capability({ name: "raw", input: { type: "string" } })).toThrow(
    "The input of raw is not a Standard Schema",
  );
});

test("a declaration that no manifest can contain throws at once", () => {
  expect(() => capability({ name: "zu viel" })).toThrow('for example "zu_viel"');
  expect(() => capability({ name: "x", lease_seconds: -1 })).toThrow("lease_seconds");
  expect(() => capability({ name: "x", questions: { "a/b": z.string() } })).toThrow('"a/b"');
  const length = z.string().transform((text) => text.length);
  // @ts-expect-error the output is a length, which the schema of a text does not take
  capability({ name: "x", output: length, output_schema: true });
});

test("a handler that returns nothing, or the wrong type, does not compile", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  // @ts-expect-error nothing is returned
  worker.serve(research, () => undefined);
  const second = world.agent("second");
  // @ts-expect-error nothing is returned
  second.serve(research, async () => {});
  const third = world.agent("third");
  // @ts-expect-error the summary is a text
  third.serve(research, () => ({ summary: 1 }));
  const fourth = world.agent("fourth");
  // @ts-expect-error a result has the output, whatever else it has
  fourth.serve(research, ({ result }) => result({ messages: [] }));
  const fifth = world.agent("fifth");
  // @ts-expect-error nothing is returned, and an empty success is none
  fifth.serve("anything", () => undefined);
  const sixth = world.agent("sixth");
  // @ts-expect-error nothing is returned, in the end
  sixth.serve("anything", async () => {});
});

test("without a declaration the caller states the types of input and output", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve<Topic>("report", async ({ input, progress, ask, pause }) => {
    const topic: Topic = { topic: input.topic };
    await progress({ data: topic });
    expectTypeOf(ask).toBeCallableWith({ text: "Which?", data: topic });
    expectTypeOf(pause).toBeCallableWith([{ text: "Which?", data: topic }], "the state");
    return topic;
  });
  await worker.start();
  const owner = world.agent("owner");
  const topic: Topic = { topic: "tea" };
  const plain = owner.handoff({ capability: "report", input: topic });
  expectTypeOf(plain).toEqualTypeOf<HandoffHandle>();
  expectTypeOf((await plain.result).output).toEqualTypeOf<Json | undefined>();
  const typed = owner.handoff<Topic>({ capability: "report", input: topic });
  expectTypeOf((await typed.result).output).toEqualTypeOf<Topic>();
  expect((await typed.result).output).toEqual({ topic: "tea" });
  // @ts-expect-error a function has no JSON
  const wrong = owner.handoff({ capability: "report", input: { topic: () => "tea" } });
  await expect(wrong.result).rejects.toMatchObject({ status: 400 });
  // @ts-expect-error a bigint has no JSON
  const big = owner.handoff({ capability: "report", input: { n: 1n } });
  await expect(big.result).rejects.toMatchObject({ status: 400 });
  const unknown: Record<string, unknown> = { topic: "tea" };
  expect((await owner.handoff({ capability: "report", input: unknown }).result).output).toEqual({
    topic: "tea",
  });
  // @ts-expect-error nobody has awaited it
  owner.handoff<Topic>({ capability: "report", input: Promise.resolve(topic) });
  // @ts-expect-error a Map is {} in JSON
  expectTypeOf(() => owner.handoff({ capability: "report", input: new Map() })).toBeFunction();
  await Promise.all([owner.stop(), worker.stop()]);
});

test("agents, handles and groups have no members beyond the public API", () => {
  expectTypeOf<keyof HandoffHandle>().toEqualTypeOf<
    | "id"
    | "envelope"
    | "text"
    | "digest"
    | "custody"
    | "deltas"
    | "accepted"
    | "result"
    | "hasEnded"
    | "usage"
    | "progress"
    | "questions"
    | "answer"
    | "cancel"
    | "acknowledge"
  >();
  expectTypeOf<keyof Agent>().toEqualTypeOf<
    "id" | "serve" | "handoff" | "handoffAll" | "attach" | "start" | "stop" | "closed"
  >();
  expectTypeOf<keyof GroupHandle>().toEqualTypeOf<"id" | "handles" | "result">();
});

test("an invalid id throws where it is passed, with a valid suggestion", async () => {
  const world = await World.open();
  expect(() => world.agent("Äpfel & Birnen")).toThrow(
    /"Äpfel & Birnen" is not an agent id.*for example "apfel-birnen"/,
  );
  expect(() => world.agent("")).toThrow('for example "editor-001"');
  const agent = world.agent("anna");
  expect(() => agent.serve("web research!", () => 1)).toThrow('for example "web_research"');
  expect(() => agent.handoff({ capability: "" })).toThrow("is not a capability name");
  expect(() => agent.handoff({ capability: "x", to: "Bert" })).toThrow(/not an agent id: .*"bert"/);
  for (const member of ["handoffId", "correlationId", "replayOf"]) {
    const thrown = errorOf(() => agent.handoff({ capability: "x", [member]: "1" }));
    expect(thrown).toMatchObject({ status: 400, at: `/${member}` });
    expect(thrown.message).toContain(`"1" is not a ${member}: it must be a UUID of version 7`);
    expect(isId(/for example "([^"]+)"/.exec(thrown.message)?.[1])).toBe(true);
  }
  await expect(agent.attach("1")).rejects.toThrow("is not a handoffId");
  await agent.stop();
});

function errorOf(action: () => unknown): WaybillError {
  try {
    action();
  } catch (error) {
    if (WaybillError.is(error)) return error;
  }
  throw new Error("expected a WaybillError");
}
