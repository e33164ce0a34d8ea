import { createAgent } from "@waybill/agent";
import { ledgerEntries, memoryStore, openHub } from "@waybill/hub";
import { createHandoff, generateKey, signEnvelope, signManifest } from "@waybill/protocol";
import { expect, test } from "vitest";
import { styleFor } from "../terminal/style.ts";
import { buildTrace } from "./build.ts";
import { traceJson } from "./json.ts";
import { signatureChecks } from "./signatures.ts";
import type { Trace, TraceHandoff } from "./trace.ts";
import { traceText } from "./tree.ts";

const style = styleFor(false);

/** A job with a child handoff, recorded by a hub in this process; `forge` changes a signed envelope. */
async function traced(
  forge: (text: string) => string = (text) => text,
  intruder?: string,
): Promise<Trace> {
  const store = memoryStore();
  const hub = await openHub({ store, key: generateKey(), id: "hub" });
  const [anna, bert, editor] = ["anna", "bert", "editor"].map((id) =>
    createAgent({ id, key: generateKey(), hub }),
  ) as [
    ReturnType<typeof createAgent>,
    ReturnType<typeof createAgent>,
    ReturnType<typeof createAgent>,
  ];
  anna.serve("review", async ({ ask, handoff, addUsage }) => {
    addUsage({ model: "large", requests: 1, input_tokens: 1200, cached_input_tokens: 1000 });
    addUsage({ output_tokens: 80, cost: { amount: "0.0042", currency: "USD" } });
    await ask("Approve?");
    return (await handoff({ capability: "count", input: "draft" }).result).output!;
  });
  bert.serve("count", ({ input, addUsage }) => {
    addUsage({ model: "small", requests: 2, input_tokens: 30, output_tokens: 3 });
    return (input as string).length;
  });
  await Promise.all([anna.start(), bert.start()]);
  const handle = editor.handoff({
    capability: "review",
    input: null,
    contract: { max_tokens: 1300, max_cost: { amount: "0.0041", currency: "USD" } },
  });
  for await (const { id } of handle.questions) await handle.answer(id, true);
  await handle.result;
  await handle.acknowledge();
  const entries = await Array.fromAsync(ledgerEntries(store));
  const manifests = await Promise.all(
    ["hub", "anna", "bert", "editor"].map(
      async (agent) => (await hub.manifests({ agent })).manifests,
    ),
  );
  const job = handle.envelope.correlation_id;
  if (intruder !== undefined) {
    const key = generateKey();
    await hub.publish(
      signManifest({ agent_id: intruder, capabilities: [{ name: "review" }] }, key),
    );
    const envelope = createHandoff({
      from: intruder,
      domain: hub.domain,
      to: intruder,
      body: { capability: "review" },
      correlationId: job,
      timeoutMs: 60_000,
    });
    await hub.submit(signEnvelope(envelope, key));
  }
  const stored = await store.correlated(job, { limit: 10 });
  const recorded = await Promise.all(
    stored.map(async ({ id, delegator }) => ({
      view: (await hub.handoff(id, delegator))!,
      entries: entries
        .filter((each) => each.handoffId === id)
        .map((each) => ({
          ...each,
          content: each.type === "envelope" ? forge(each.content) : each.content,
        })),
    })),
  );
  await Promise.all([anna, bert, editor].map((agent) => agent.stop()));
  await hub.close();
  return buildTrace(job, recorded, { hub: "hub", ...signatureChecks(manifests) });
}

test("children appear where they were handed off, and all signatures are valid", async () => {
  const trace = await traced();
  expect(trace).toMatchObject({ count: 2, signatures: { failed: 0 } });
  const [review] = trace.handoffs;
  expect(review!.events.map(({ type }) => type)).toEqual([
    "handoff",
    "offered",
    "accepted",
    "question",
    "answer",
    "result",
    "acknowledged",
  ]);
  expect(review!.children).toMatchObject([
    { capability: "count", delegator: "anna", recipient: "bert", state: "completed" },
  ]);
  const text = traceText(trace, 100, Date.now(), style);
  const order = [
    "hands off",
    "asks: Approve?",
    "answers: true",
    "├─ ✔ count anna → bert",
    "result: 5",
    "acknowledges it",
  ];
  const places = order.map((each) => text.indexOf(each));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  expect(JSON.parse(JSON.stringify(traceJson(trace)))).toMatchObject({
    handoffs: [{ children: [{ capability: "count" }] }],
  });
});

test("tokens and cost appear with each handoff and with the job, as do exceeded caps", async () => {
  const trace = await traced();
  for (const columns of [100, 80]) {
    const text = traceText(trace, columns, Date.now(), style);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
  }
  const text = traceText(trace, 100, Date.now(), style);
  expect(text.split("\n").slice(1, 3)).toEqual([
    expect.stringContaining("2 handoffs"),
    "used 1,313 tokens: 1,230 in (1,000 cached), 83 out · 3 requests · 0.0042 USD",
  ]);
  expect(text).toContain(
    "│ used 1,280 tokens: 1,200 in (1,000 cached), 80 out · 1 request · 0.0042 USD",
  );
  expect(text).toContain("│  │ used 33 tokens: 30 in, 3 out · 2 requests");
  expect(text).toContain(
    "│ ! anna broke the contract in attempt 1: it used 1313 tokens, and 1300 were agreed",
  );
  expect(text).toContain("attempt 1: it cost 0.0042 USD, and 0.0041 were agreed");
  expect(JSON.parse(JSON.stringify(traceJson(trace)))).toMatchObject({
    usage: {
      total: { requests: 3, input_tokens: 1230, costs: [{ amount: "0.0042", currency: "USD" }] },
    },
    handoffs: [
      {
        usage: { total: { input_tokens: 1200, output_tokens: 80 } },
        breaches: [
          { by: "anna", term: "max_tokens", attempt: 1 },
          { by: "anna", term: "max_cost", attempt: 1 },
        ],
        children: [{ usage: { rows: [{ model: "small", input_tokens: 30 }] }, breaches: [] }],
      },
    ],
  });
});

test("usage with an invalid signature does not count", async () => {
  const trace = await traced(
    (text) => `${text.slice(0, -3)}${text.at(-3) === "A" ? "B" : "A"}${text.slice(-2)}`,
  );
  expect(trace.usage).toEqual([]);
  expect(traceText(trace, 100, Date.now(), style)).not.toContain("used");
});

test("foreign handoffs under a job's id are listed apart from it", async () => {
  const trace = await traced(undefined, "stranger");
  expect(trace).toMatchObject({ count: 2, apart: [{ delegator: "stranger", state: "open" }] });
  expect(trace.endedAt).toBeDefined();
  const text = traceText(trace, 80, Date.now(), style);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const [job, apart] = text.split("! Not part of this job: its delegator is not a party to it.");
  expect(job).not.toContain("stranger");
  expect(apart).toContain("review stranger → stranger");
  expect(JSON.parse(JSON.stringify(traceJson(trace)))).toMatchObject({
    handoffs: [{ delegator: "editor" }],
    apart: [{ delegator: "stranger" }],
  });
  const usual = await traced();
  expect(usual.apart).toEqual([]);
  expect(traceText(usual, 80, Date.now(), style)).not.toContain("Not part of this job");
});

test("reasons for waiting are shown in full on narrow terminals", async () => {
  const trace = await traced();
  const [review] = trace.handoffs;
  const reason = `refuses the input: /depth: must be of type integer; ${"/topic: is missing; ".repeat(6)}`;
  const waitsFor = [{ agent_id: "anna", why: "input" as const, reason }];
  const waiting = { ...trace, handoffs: [{ ...review!, waitsFor }] };
  const text = traceText(waiting, 80, Date.now(), style);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const told = text.replaceAll(/\n│ +/g, " ");
  expect(told).toContain(`! waits: anna ${reason.trim()}`);
  expect(JSON.parse(JSON.stringify(traceJson(waiting)))).toMatchObject({
    handoffs: [{ waits_for: waitsFor }],
  });
});

test("an invalid signature is reported at its event", async () => {
  // Changes the last letter of the signature; the content stays the same.
  const trace = await traced(
    (text) => `${text.slice(0, -3)}${text.at(-3) === "A" ? "B" : "A"}${text.slice(-2)}`,
  );
  expect(trace.signatures.held).toBe(0);
  expect(trace.signatures.failed).toBeGreaterThan(10);
  const text = traceText(trace, 100, Date.now(), style);
  expect(text).toContain("✗ signature ✗ receipt");
  expect(text).toMatch(/✗ \d+ of \d+ signatures are not valid/);
});

test("a handoff in a session shows the state of its conversation, also in 80 columns", async () => {
  const trace = await traced();
  const [review] = trace.handoffs;
  const shown = (session: TraceHandoff["session"]) =>
    traceText({ ...trace, handoffs: [{ ...review!, session }] }, 80, Date.now(), style);
  expect(shown({ id: "trip-42", state: "continued" })).toContain(
    "│ session trip-42: continues the conversation\n",
  );
  expect(shown({ id: "trip-42", state: undefined })).toContain("│ session trip-42\n");
  const lost = shown({ id: "x".repeat(128), state: "lost" });
  expect(lost.replaceAll(/\n│ +/g, " ")).toContain("is lost, so a new one begins");
  for (const line of lost.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(shown(undefined)).not.toContain("session");
});
