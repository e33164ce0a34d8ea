/// <reference types="node" />
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Gateway } from "../src/index.ts";
import type { Agent } from "@waybill/agent";
import { mediaIn, sessionFor, textOf, toolResultsOf } from "@waybill/agent/adapter";
import type { CallRequest, Played } from "@waybill/conformance";
import { seenByChat } from "@waybill/conformance/model";
import { WaybillError } from "@waybill/protocol";
import type { Json, Message, StatusCode } from "@waybill/protocol";
import type { Reply } from "@waybill/scripted-model";
import { Announcer } from "../src/plugin/announcer.ts";
import { Errands } from "../src/plugin/errands.ts";
import type { Desk } from "../src/plugin/tools.ts";
import { gatewayWith } from "./stage.ts";
import type { Cast } from "./stage.ts";

/** Longer than a case may take: no handoff of the suite is announced because of its length. */
const WAIT_MS = 120_000;

/** What the turn of each message has to do, by the key in the message. */
const scripts = new Map<string, Script>();
/** The desk of the agent that a session hands off for. */
const desks = new Map<string, Desk>();
/** Ends the turn that goes on in a session. */
const underWay = new Map<string, () => Promise<void>>();

const cast: Cast = {
  async model(_, request) {
    const messages = seenByChat(request).messages!;
    const asked = messages.findLastIndex((each) => each.role === "user" && keyIn(each));
    const script = scripts.get(keyIn(messages[asked]!)!)!;
    return script.reply(messages.slice(asked + 1), messages);
  },
  desk: (session) => desks.get(session)!,
};

/** A turn of the gateway's agent, in which its model hands off with the plugin's tool. */
export async function called(request: CallRequest): Promise<Played> {
  const { agent, run, folder, signal, show } = request;
  signal.throwIfAborted();
  const gateway = await gatewayWith(cast);
  const name = createHash("sha256").update(`${folder}\n${run}`).digest("hex").slice(0, 32);
  const sessionKey = `agent:main:calls-${name}`;
  // A run that is repeated takes the place of the one that its process has left behind.
  await underWay.get(sessionKey)?.();
  desks.set(sessionKey, await deskOf(agent, gateway, folder));
  const key = randomUUID();
  const script = new Script(request, sessionKey);
  scripts.set(key, script);
  const unheard = gateway.listen((event, payload) => {
    const { runId, stream, data } = payload as ToolEvent;
    if (event !== "agent" || runId !== key || stream !== "tool" || data.phase !== "update") return;
    for (const { text } of data.partialResult!.content) show(text);
  });
  const stop = async (): Promise<void> => {
    await gateway.request("sessions.abort", { key: sessionKey, runId: key });
    await over;
  };
  const stopped = (): void => void stop().catch(() => undefined);
  const over = turn(gateway, sessionKey, key);
  underWay.set(sessionKey, stop);
  signal.addEventListener("abort", stopped, { once: true });
  try {
    const reason = await over;
    signal.throwIfAborted();
    return script.played(reason);
  } finally {
    unheard();
    signal.removeEventListener("abort", stopped);
    if (underWay.get(sessionKey) === stop) underWay.delete(sessionKey);
  }
}

interface ToolEvent {
  readonly runId?: string;
  readonly stream?: string;
  readonly data: {
    readonly phase?: string;
    readonly partialResult?: { readonly content: readonly { readonly text: string }[] };
  };
}

interface Ended {
  readonly endedAt?: number;
  readonly error?: string;
}

/** From the request to the end of the turn. Gives why it failed, if it did. */
async function turn(
  gateway: Gateway,
  sessionKey: string,
  key: string,
): Promise<string | undefined> {
  const message = `Find it out: ${key}`;
  await gateway.request("agent", { message, sessionKey, idempotencyKey: key, deliver: false });
  for (;;) {
    const waiting = { runId: key, timeoutMs: 15_000 };
    const { endedAt, error } = await gateway.request<Ended>("agent.wait", waiting);
    if (endedAt !== undefined) return error;
  }
}

const known = new WeakMap<Agent, Promise<Desk>>();

/** As the plugin has it, for the agent of a case. */
function deskOf(agent: Agent, gateway: Gateway, folder: string): Promise<Desk> {
  const desk = known.get(agent) ?? openDesk(agent, gateway, folder);
  known.set(agent, desk);
  return desk;
}

async function openDesk(agent: Agent, gateway: Gateway, folder: string): Promise<Desk> {
  const errands = await Errands.open(join(folder, "openclaw", "errands.json"));
  const announcer = new Announcer(agent, gateway, errands, () => undefined);
  return {
    agent,
    hub: { find: () => Promise.reject(new Error("No case of the suite finds an agent.")) },
    waitMs: WAIT_MS,
    keep: (errand) => errands.put(errand),
    announce: (errand, handle) => announcer.announce(errand, handle),
  };
}

/** What the model of one turn says: it hands off, answers what it is asked, and has nothing to add. */
class Script {
  readonly #request: CallRequest;
  readonly #sessionKey: string;
  #played: (() => Played) | undefined;

  constructor(request: CallRequest, sessionKey: string) {
    this.#request = request;
    this.#sessionKey = sessionKey;
  }

  /** What came of it. */
  played(reason: string | undefined): Played {
    if (this.#played === undefined)
      throw new Error(`The turn ended before the handoff did: ${reason ?? "it was stopped"}`);
    return this.#played();
  }

  async reply(since: readonly Message[], heard: readonly Message[]): Promise<Reply> {
    const last = since.flatMap(toolResultsOf).at(-1);
    if (last === undefined) return this.#call("handoff", "", this.#handing());
    const told = wordsIn(last.output);
    const [, id, state = ""] = /^Handoff (\S+) (is completed|has failed|waits)/.exec(told) ?? [];
    if (state === "waits") {
      const { question_id, text } = dataIn(told) as Asked;
      const answer = await this.#request.ask(question_id, text);
      return this.#call("answer", question_id, { handoff_id: id!, question_id, answer });
    }
    this.#played = () => outcomeOf(told, state, since, heard);
    return { text: "That is all." };
  }

  #call(name: string, suffix: string, given: Json): Reply {
    return { calls: [{ id: `${this.#request.step}${suffix}`, name, arguments: given }] };
  }

  #handing(): Json {
    const { capability, to, work, timeoutMs, session } = this.#request;
    const { brief, input, messages = [] } = work;
    const last = messages.at(-1);
    const named = sessionFor(session, this.#sessionKey);
    return JSON.parse(
      JSON.stringify({
        capability: capability.name,
        to,
        input,
        ...(brief ?? (last === undefined ? {} : { instruction: textOf(last) })),
        timeout_seconds: timeoutMs / 1000,
        session: typeof named === "object" ? named.id : named,
      }),
    ) as Json;
  }
}

interface Asked {
  readonly question_id: string;
  readonly text: string;
}

interface Result {
  readonly output: Json;
  readonly said?: readonly Message[];
}

interface Failure {
  readonly status: number;
  readonly message: string;
}

/** What the model knows by the end of the turn, as the suite reads it. */
function outcomeOf(
  told: string,
  state: string,
  since: readonly Message[],
  heard: readonly Message[],
): Played {
  const refusal = /^That was refused with (\d+): ([^]*)$/.exec(told);
  if (refusal !== null) throw failureOf({ status: Number(refusal[1]), message: refusal[2]! });
  if (state === "has failed") throw failureOf(dataIn(told) as Failure);
  if (state !== "is completed") throw new Error(`The tool said: ${told}`);
  const { output, said } = dataIn(told) as Result;
  const images = since.flatMap(mediaIn);
  // The words name an image, and the model is shown it beside them.
  const withBytes = (message: Message): Message => ({
    ...message,
    content: message.content.map((part) =>
      part.type === "image" ? { ...part, data: images.shift()?.data } : part,
    ),
  });
  return {
    output,
    messages: said?.map(withBytes),
    heard: { inWords: "remote", messages: heard },
  };
}

function failureOf({ status, message }: Failure): WaybillError {
  return new WaybillError(status as StatusCode, message);
}

function dataIn(told: string): unknown {
  return JSON.parse(/<untrusted-result>\n[^\n]*\n([^\n]*)\n<\/untrusted-result>/.exec(told)![1]!);
}

function wordsIn(output: unknown): string {
  if (typeof output === "string") return output;
  return (output as readonly { text?: string }[]).map(({ text = "" }) => text).join("");
}

function keyIn(message: Message): string | undefined {
  return /Find it out: ([0-9a-f-]{36})/.exec(textOf(message))?.[1];
}
