import { remoteAgent, serveAgent } from "@waybill/adapter-autogen";
import type { MessageMembers } from "@waybill/adapter-autogen";
import { conversationOf } from "@waybill/agent/adapter";
import type { AdapterFixture } from "@waybill/conformance";
import type { CapabilityInput, Json, Message } from "@waybill/protocol";
import { artifactsOf, filesOf, inBase64, inBase64Url } from "./files.ts";
import type { File } from "./files.ts";
import { Staff } from "./staff.ts";
import type { Asked } from "./worker-process.ts";

type Offering = Parameters<NonNullable<AdapterFixture["serve"]>["offer"]>[0];
type Calling = Parameters<NonNullable<AdapterFixture["call"]>["run"]>[0];
type Stage = Parameters<Offering["act"]>[0];

/** What an agent reports after sending to another one. */
interface Outcome {
  readonly output: Json;
  readonly files: readonly File[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  readonly heard: readonly Message[];
  readonly received: readonly Message[];
}

const ONE_WAY = "what an agent raises crosses AutoGen's wire as its text alone";
const OWN_MEMBERS =
  "AutoGen's LLMMessage has what a model is shown: members that only some understand are lost, and what a tool gives is a text";

/** The run in which an act is played. */
const runs = new WeakMap<Stage, { readonly staff: Staff; readonly key: string }>();

/**
 * AutoGen's workers, over gRPC: a core agent with a scripted model is served, and another sends to a
 * remote agent.
 */
export const fixture: AdapterFixture = {
  adapter: "autogen, gRPC",
  module: new URL(import.meta.url),
  startsProcesses: true,
  gaps: {
    "serve: the cause of a framework's error is reported": ONE_WAY,
    "call: a history goes out whole, with its roles, names and tool calls": OWN_MEMBERS,
  },

  serve: {
    names: ["player"],
    async offer({ capability, act }) {
      const { host } = await Staff.open(
        (staff) => (asked, signal) => play(act, staff, asked, signal),
      );
      const form = formOf(capability);
      return serveAgent(host, {
        agentType: "player",
        messageType: form.type,
        members: form.members,
        stop: "Stop",
        capability,
      });
    },
    async part(agent, stage, capability, given) {
      const { staff, key } = runs.get(stage)!;
      staff.hire(remoteAgent(agent, { capability, reply: "Given" }));
      const answer = await staff.has(key, "part", { given });
      return (answer as { text?: string }).text ?? answer;
    },
  },

  call: {
    async run(request) {
      let heard: readonly Message[] = [];
      const staff = await Staff.open(() => async ({ messages }) => {
        heard = messages;
        return { output: "So it is.", files: [] };
      });
      try {
        const { output, files, usage, received } = await send(staff, request);
        return {
          output,
          messages: received,
          artifacts: artifactsOf(files),
          usage: usage
            ? { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens }
            : undefined,
          heard: { as: "anybody", messages: heard.map(inBase64Url) },
        };
      } finally {
        await staff.close();
      }
    },
  },
};

interface Form {
  readonly type: string;
  readonly members: MessageMembers;
}

const IN_VALUES: Form = { type: "Given", members: { files: "files", usage: "usage" } };
const IN_WORDS: Form = {
  type: "Talk",
  members: { ...IN_VALUES.members, conversation: "context", received: "received" },
};

function formOf({ takes = "structured" }: Pick<CapabilityInput, "takes">): Form {
  return takes === "structured" ? IN_VALUES : IN_WORDS;
}

/** One request to the model of a served agent, played by the suite's act. */
async function play(
  act: Offering["act"],
  staff: Staff,
  asked: Asked,
  signal: AbortSignal,
): Promise<object> {
  const { messages, history, files, message, key, traceparent } = asked;
  let shown: Promise<unknown> = Promise.resolve();
  const stage: Stage = {
    work: { messages: messages.map(inBase64Url), artifacts: artifactsOf(files) },
    history,
    run: message.split(":")[0]!,
    traceparent: traceparent ?? undefined,
    signal,
    show: (text) => void (shown = shown.then(() => staff.has(key, "show", { message: text }))),
    ask: (id, text) => staff.has(key, "ask", { id, text }),
  };
  runs.set(stage, { staff, key });
  const { output = null, messages: said = [], artifacts, usage = null } = await act(stage);
  await shown;
  return { output, messages: said.map(inBase64), files: filesOf(artifacts), usage };
}

/** One step of a core agent, which sends to a remote agent. */
async function send(staff: Staff, request: Calling): Promise<Outcome> {
  const { agent, capability, to, timeoutMs, session, show, ask } = request;
  const { type: reply, members } = formOf(capability);
  staff.hire(
    remoteAgent(agent, {
      capability: capability.name,
      to,
      timeoutMs,
      session,
      reply,
      members,
      onProgress: ({ message = "" }) => show(message),
      onQuestion: ({ id, text = id }) => ask(id, text),
    }),
  );
  const { run, step, signal, traceparent } = request;
  const { value } = await staff.host.ask({
    target: { type: "caller", key: "default" },
    message: { type: "Order", value: orderOf(request) },
    run: `${run} ${step}`,
    requestId: `${run} ${step}`,
    signal,
    traceparent,
  });
  return value as unknown as Outcome;
}

function orderOf({ run, traceparent = "", work, capability }: Calling): Json {
  const isGiven = formOf(capability) === IN_VALUES;
  return {
    to: "anybody",
    key: run.replaceAll(" ", "_"),
    traceparent,
    given: isGiven ? work.input : null,
    said: isGiven ? [] : conversationOf(work, capability.output_schema).map(inBase64),
    files: filesOf(work.artifacts),
  } as unknown as Json;
}
