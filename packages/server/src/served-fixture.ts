/// <reference types="node" />
import { memoryStore, openHub } from "@waybill/hub";
import type { HubOptions, HubServer, Store } from "@waybill/hub";
import {
  createHandoff,
  createReply,
  digestOf,
  digestOfJws,
  generateKey,
  newId,
  signEnvelope,
  signManifest,
} from "@waybill/protocol";
import type { CapabilityInput, Digest, HandoffEnvelope, PrivateKey } from "@waybill/protocol";
import {
  operatorTokenDomain,
  signHello,
  signOperatorRequest,
  signRequest,
} from "@waybill/protocol/wire";
import type {
  AgentFrame,
  ConsoleRole,
  HubFrame,
  OperatorClaim,
  Problem,
  WireConsoleSession,
} from "@waybill/protocol/wire";
import { WebSocket } from "ws";
import type { ServedHub, ServeOptions } from "./options.ts";
import { serveHub } from "./serve-hub.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown> & Partial<Problem>;
}

export interface World {
  readonly hub: HubServer;
  readonly store: Store;
  readonly served: ServedHub;
  readonly url: string;
  party(id: string, capabilities?: readonly CapabilityInput[]): Promise<Party>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly hub?: Partial<HubOptions>;
  readonly serve?: Partial<ServeOptions>;
}

/** A hub that is served on a port of its own. */
export async function openWorld({ hub: more, serve }: WorldOptions = {}): Promise<World> {
  const store = more?.store ?? memoryStore();
  const hub = await openHub({ store, key: generateKey(), id: "hub", ...more });
  const served = await serveHub({ hub, store, newcomers: "open", ...serve });
  return {
    hub,
    store,
    served,
    url: served.url,
    async party(id, capabilities = []) {
      const party = new Party(id, generateKey(), served.url, hub);
      await party.publish(capabilities);
      return party;
    },
    async close() {
      await served.close();
      await hub.close();
    },
  };
}

export interface Ask {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Sends an unauthenticated request. */
export async function ask(url: string, { method, body, headers }: Ask = {}): Promise<Answer> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { ...(text === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(text === undefined ? {} : { body: text }),
  });
  const answered = await response.text();
  const isJson =
    answered !== "" &&
    /^application\/(problem\+)?json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    text: answered,
    json: isJson ? (JSON.parse(answered) as Answer["json"]) : {},
  };
}

export interface OperatorOver extends Partial<OperatorClaim> {
  readonly body?: unknown;
  readonly token?: string;
}

/** The header of one request of an operator. */
export function asOperator(
  { url, operatorToken }: Pick<ServedHub, "url" | "operatorToken">,
  path: string,
  { body, token = operatorToken, ...over }: OperatorOver = {},
): { readonly authorization: string } {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const claim = {
    host: new URL(url).host,
    id: newId(),
    at: Date.now(),
    method: text === undefined ? "GET" : "POST",
    path,
    ...(text !== undefined && { bodyDigest: digestOf(text) }),
    ...over,
  };
  return { authorization: signOperatorRequest(claim, token) };
}

/** The code of a link that signs in to the console. */
export function codeOf(served: ServedHub, role?: ConsoleRole): string {
  return served.consoleLink(role).split("/").at(-1)!;
}

/** Signs in to the console. */
export async function consoleSession(
  served: ServedHub,
  role?: ConsoleRole,
): Promise<WireConsoleSession> {
  const body = { code: codeOf(served, role) };
  const { json } = await ask(`${served.url}/v1/console/sessions`, { body });
  return json as unknown as WireConsoleSession;
}

/** The header of one request of the console. */
export function asConsole(
  served: ServedHub,
  { session, key }: Pick<WireConsoleSession, "session" | "key">,
  path: string,
  over: OperatorOver = {},
): { readonly authorization: string } {
  const token = `${operatorTokenDomain(served.operatorToken)}.${key}`;
  const { authorization } = asOperator(served, path, { ...over, token });
  return { authorization: `Waybill-Console ${session}.${authorization.split(" ")[1]}` };
}

export interface ProofOver {
  readonly from?: string;
  readonly to?: string;
  readonly domain?: string;
  readonly id?: string;
  readonly at?: number;
  readonly method?: string;
  readonly path?: string;
  readonly bodyDigest?: Digest | undefined;
  readonly key?: PrivateKey;
}

/** An agent that speaks the wire protocol without the SDK. */
export class Party {
  readonly id: string;
  readonly key: PrivateKey;
  readonly instance: string = newId();
  readonly #url: string;
  readonly #hub: Pick<HubServer, "id" | "domain">;

  constructor(id: string, key: PrivateKey, url: string, hub: Pick<HubServer, "id" | "domain">) {
    this.id = id;
    this.key = key;
    this.#url = url;
    this.#hub = hub;
  }

  async publish(capabilities: readonly CapabilityInput[] = []): Promise<Answer> {
    const manifest = signManifest({ agent_id: this.id, capabilities }, this.key);
    return ask(`${this.#url}/v1/agents/${this.id}`, { method: "PUT", body: { manifest } });
  }

  proof(path: string, method: string, body?: string, over: ProofOver = {}): string {
    return signRequest(
      {
        from: this.id,
        to: this.#hub.id,
        domain: this.#hub.domain,
        id: newId(),
        at: Date.now(),
        method,
        path,
        ...(body === undefined ? {} : { bodyDigest: digestOf(body) }),
        ...over,
      },
      over.key ?? this.key,
    );
  }

  /** Asks with a signed request. */
  ask(path: string, { method, body, headers }: Ask = {}, over?: ProofOver): Promise<Answer> {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const verb = method ?? (text === undefined ? "GET" : "POST");
    const authorization = this.proof(path, verb, text, over);
    return ask(this.#url + path, {
      method: verb,
      ...(text === undefined ? {} : { body: text }),
      headers: { authorization, ...headers },
    });
  }

  submit(envelope: string): Promise<Answer> {
    return ask(`${this.#url}/v1/envelopes`, { body: { envelope } });
  }

  poll(query: Record<string, string | number> = {}): Promise<Answer> {
    const all = { instance: this.instance, wait_seconds: 10, ...query };
    const text = Object.entries(all).map(([name, value]) => `${name}=${value}`);
    return this.ask(`/v1/inbox?${text.join("&")}`);
  }

  handoff(to: string, over: Partial<Parameters<typeof createHandoff>[0]> = {}): Signed {
    const envelope = createHandoff({
      from: this.id,
      domain: this.#hub.domain,
      to,
      body: { capability: "work" },
      timeoutMs: 60_000,
      ...over,
    });
    return { envelope, text: signEnvelope(envelope, this.key) };
  }

  accept(handoff: Signed, attempt = 1): string {
    const re = digestOfJws(handoff.text);
    return signEnvelope(
      createReply(handoff.envelope, {
        kind: "receipt",
        from: this.id,
        attempt,
        re,
        body: { status: 101 },
      }),
      this.key,
    );
  }

  result(handoff: Signed, output: unknown = "done", attempt = 1): string {
    const re = digestOfJws(handoff.text);
    return signEnvelope(
      createReply(handoff.envelope, {
        kind: "result",
        from: this.id,
        attempt,
        re,
        body: { status: 200, output: output as string },
      }),
      this.key,
    );
  }

  question(handoff: Signed, ids: readonly string[], text = "how?", attempt = 1): string {
    const re = digestOfJws(handoff.text);
    const questions = ids.map((id) => ({ id, text }));
    return signEnvelope(
      createReply(handoff.envelope, {
        kind: "question",
        from: this.id,
        attempt,
        re,
        body: { questions },
      }),
      this.key,
    );
  }

  /** The answer to one question of an envelope. */
  answer(handoff: Signed, asked: string, id: string, answer: string): string {
    const re = digestOfJws(asked);
    return signEnvelope(
      createReply(handoff.envelope, {
        kind: "answer",
        from: this.id,
        to: handoff.envelope.to as string,
        re,
        body: { question_id: id, answer },
      }),
      this.key,
    );
  }

  /** Opens a socket and says hello. */
  async attach(credit = 16): Promise<Wire> {
    const wire = await Wire.open(this.#url);
    const { nonce } = await wire.next("challenge");
    wire.say({ type: "hello", proof: this.hello(nonce), credit });
    await wire.next("attached");
    return wire;
  }

  hello(nonce: string | undefined): string {
    return signHello(
      {
        from: this.id,
        to: this.#hub.id,
        domain: this.#hub.domain,
        instance: this.instance,
        id: newId(),
        at: Date.now(),
        nonce,
      },
      this.key,
    );
  }
}

export interface Signed {
  readonly envelope: HandoffEnvelope;
  readonly text: string;
}

type FrameOf<Type extends HubFrame["type"]> = Extract<HubFrame, { type: Type }>;

/** One socket, and the frames that have come on it. */
export class Wire {
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
  readonly #frames: HubFrame[] = [];
  readonly #waiting: ((gone?: true) => void)[] = [];
  #number = 0;
  #isGone = false;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => {
      const value = JSON.parse(data.toString()) as HubFrame | HubFrame[];
      this.#frames.push(...(Array.isArray(value) ? value : [value]));
      for (const wake of this.#waiting.splice(0)) wake();
    });
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) =>
      socket.once("close", (code) => {
        this.#isGone = true;
        for (const wake of this.#waiting.splice(0)) wake();
        resolve(code);
      }),
    );
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<Wire> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/socket`, { headers });
    const wire = new Wire(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return wire;
  }

  /** The next matching frame of a type; frames before it are left for others. */
  async next<Type extends HubFrame["type"]>(
    type: Type,
    fits: (frame: FrameOf<Type>) => boolean = () => true,
  ): Promise<FrameOf<Type>> {
    for (;;) {
      const index = this.#frames.findIndex(
        (frame) => frame.type === type && fits(frame as FrameOf<Type>),
      );
      if (index >= 0) return this.#frames.splice(index, 1)[0] as FrameOf<Type>;
      if (this.#isGone) throw new Error(`the socket was closed, and no ${type} has come`);
      await new Promise<void>((resolve) => this.#waiting.push(() => resolve()));
    }
  }

  /** Whether an unread frame of this type has arrived. */
  has(type: HubFrame["type"]): boolean {
    return this.#frames.some((frame) => frame.type === type);
  }

  say(...frames: AgentFrame[]): void {
    this.socket.send(JSON.stringify(frames.length === 1 ? frames[0] : frames));
  }

  async call(call: string, params: object): Promise<Record<string, unknown>> {
    const number = ++this.#number;
    this.say({ type: "call", number, call: call as "submit", params: params as never });
    const reply = await this.next("reply", (frame) => frame.number === number);
    return ("problem" in reply ? { problem: reply.problem } : reply.value) as never;
  }

  async delivery(type: "offer" | "envelope" | "stop"): Promise<Record<string, unknown>> {
    const { delivery } = await this.next("delivery", (frame) => frame.delivery.type === type);
    return { ...delivery };
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}
