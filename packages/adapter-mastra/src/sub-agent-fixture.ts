import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import type { HandoffResult } from "@waybill/agent";
import { wordsOf } from "@waybill/agent/adapter";
import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { seenByChat } from "@waybill/conformance/model";
import { WaybillError } from "@waybill/protocol";
import type { Message } from "@waybill/protocol";
import { modelOf } from "./conformance-fixture.ts";
import { remoteSubAgent } from "./remote-sub-agent.ts";

const SAME_REQUEST =
  "Mastra does not tell a sub-agent which call reached it: who is asked the same again finds its handoff";

/** An agent that delegates to a remote sub-agent. */
export const fixture: AdapterFixture = {
  adapter: "mastra, sub-agent",
  module: new URL(import.meta.url),
  gaps: {
    "call: two steps of a run are two handoffs": SAME_REQUEST,
    "call: a value is handed off in the session that is asked for": SAME_REQUEST,
    "call: a refusal reaches the framework as 422, with its reason":
      "a sub-agent is asked in words, which stand for the one text that the input has to have",
    "call: the steps of a run share its session, where that is asked for":
      "Mastra does not tell a sub-agent the thread of the agent that delegates",
  },
  call: { run: called },
};

async function called(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, signal, session } = request;
  const { messages = [], artifacts } = work;
  let received: HandoffResult | undefined;
  let heard: readonly Message[] = [];
  const remote = remoteSubAgent(agent, capability, {
    name: "remote",
    to,
    timeoutMs,
    session,
    run: () => run,
    history: () => ({ messages, ...(artifacts === undefined ? {} : { artifacts }) }),
    onQuestion: ({ id, text }) => request.ask(id, text!),
    onResult: (result) => (received = result),
  });
  const prompt = work.brief?.instruction ?? wordsOf(work.input ?? "Find it out.");
  const model = await modelOf((asked) => {
    if (asked.index === 0)
      return { calls: [{ id: step, name: "agent-remote", arguments: { prompt } }] };
    heard = seenByChat(asked).messages ?? [];
    return { text: "That is all." };
  });
  const caller = new Agent({
    id: "caller",
    name: "caller",
    instructions: "",
    model,
    maxRetries: 0,
    agents: { remote },
  });
  new Mastra({ agents: { caller }, logger: false });
  const requestContext = new RequestContext();
  requestContext.set("traceparent", request.traceparent);
  let used: Used | undefined;
  const delegation = {
    onDelegationComplete: ({ result }: { result: { usage?: unknown } }) => {
      used = result.usage as Used | undefined;
    },
  };
  const options = { runId: run, requestContext, abortSignal: signal, delegation };
  const stream = await caller.stream("Find it out.", options);
  for await (const { type, payload, data } of stream.fullStream as AsyncIterable<Chunk>) {
    if (type === "data-waybill-progress") request.show(data!.message);
    else if (type === "tool-output") {
      // Text that follows the result is the rest of it.
      if (received === undefined) request.show(payload.output!.payload.text);
    } else if (type === "error" || type === "tool-error") throw causeOf(payload.error);
  }
  signal.throwIfAborted();
  if (received === undefined) throw new Error("The sub-agent was not used.");
  const { output, messages: said, artifacts: files } = received;
  const usage = used && { input_tokens: used.inputTokens, output_tokens: used.outputTokens };
  const told = { as: "agent-remote", messages: heard };
  return { output, messages: said, artifacts: files, usage, heard: told };
}

/** Mastra wraps the error of a sub-agent. */
function causeOf(thrown: unknown): unknown {
  for (let each = thrown; each instanceof Error; each = each.cause)
    if (WaybillError.is(each)) return each;
  return thrown;
}

interface Used {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

interface Chunk {
  readonly type: string;
  readonly data?: { readonly message: string };
  readonly payload: {
    readonly output?: { readonly payload: { readonly text: string } };
    readonly error?: unknown;
  };
}
