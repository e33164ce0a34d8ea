import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import {
  call,
  conversationOf,
  offerOf,
  outputOf,
  textOf,
  wordsOf,
  wordsOfResult,
} from "@waybill/agent/adapter";
import type { Offer } from "@waybill/agent/adapter";
import { memoryStore, openHub } from "@waybill/hub";
import type { CapabilityInput, Json, Message } from "@waybill/protocol";

/** What the framework gives whatever runs in it. */
interface ThingContext {
  readonly session: string;
  readonly signal?: AbortSignal | undefined;
  readonly answers?: ReadonlyMap<string, Json> | undefined;
  onEvent(event: unknown): void;
}

/** The framework's thing: it replies in words, or waits for an answer. */
type Thing = (
  messages: readonly Message[],
  context: ThingContext,
) => Promise<{ text: string } | { interrupts: { id: string; text: string }[]; state: string }>;

/** The framework's tool. */
type ThingTool = (input: Json, callId: string, context: ThingContext) => Promise<string>;

/** Serve: the thing as a capability. */
function serveThing(thing: Thing, capability: CapabilityInput): Offer {
  return offerOf({
    capability,
    errors: { ThingLimitError: 508 },
    async run({ work, capability: { output_schema }, handoffId, signal, resume, progress }) {
      const ending = await thing(conversationOf(work, output_schema), {
        session: handoffId,
        signal,
        answers: resume?.answers,
        onEvent: progress,
      });
      if ("interrupts" in ending) return { questions: ending.interrupts, state: ending.state };
      return { output: await outputOf(ending.text, output_schema) };
    },
  });
}

/** Call: whoever has a capability, as a tool of the thing. */
function remoteTool(agent: Agent, capability: string): ThingTool {
  return async (input, callId, { session, signal, onEvent, answers }) => {
    const result = await call(agent, {
      step: { run: session, step: callId },
      capability,
      input,
      signal,
      onProgress: onEvent,
      // A framework that can pause throws its interrupt here, and runs the step again with the answer.
      onQuestion: async ({ id, text = id }) => answers?.get(id) ?? Promise.reject(new Error(text)),
    });
    return wordsOfResult(result);
  };
}

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

// A thing that asks before it replies.
const baker = agent("baker");
const baking: Thing = async (messages, { answers }) => {
  const icing = answers?.get("icing");
  if (icing === undefined) {
    return { interrupts: [{ id: "icing", text: "Which icing?" }], state: "before the icing" };
  }
  return { text: `${messages.map(textOf).join()} with ${wordsOf(icing)}` };
};
baker.serve(...serveThing(baking, { name: "bake", takes: "conversation" }));
await baker.start();

const owner = agent("owner");
const order = owner.handoff({ capability: "bake", brief: { instruction: "A cake" } });
for await (const { id, text } of order.questions) {
  console.log(text); // Which icing?
  await order.answer(id, "lemon");
}
console.log((await order.result).output); // A cake with lemon

// A thing that uses another agent as its tool.
const taster = agent("taster");
taster.serve<string>("taste", ({ input }) => `${input} tastes good`);
await taster.start();
const taste = remoteTool(owner, "taste");
console.log(await taste("lemon", "call 1", { session: "tasting", onEvent: console.log }));
// lemon tastes good

await Promise.all([baker, owner, taster].map((each) => each.stop()));
await hub.close();
