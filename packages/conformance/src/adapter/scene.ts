/// <reference types="node" />
import { deepEqual } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, loadKey } from "@waybill/agent";
import type { Agent, Clock, Handler, HandoffHandle, HandoffOptions, Hub } from "@waybill/agent";
import { call, offerOf, refuseQuestion } from "@waybill/agent/adapter";
import { ledgerEntries, ledgerHistory, memoryStore, openHub } from "@waybill/hub";
import type { HubServer, Store } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import type { ServedHub } from "@waybill/server";
import {
  createReply,
  generateKey,
  parseEnvelope,
  parseManifest,
  readCompact,
  signEnvelope,
} from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type {
  Capability,
  CapabilityInput,
  Envelope,
  EnvelopeKind,
  HandoffEnvelope,
  Json,
  PrivateKey,
} from "@waybill/protocol";
import { RunningClock, settled, StillClock } from "./clock.ts";
import type { MovableClock } from "./clock.ts";
import type { Act, AdapterFixture, CallRequest, PeerFixture, Played, Stage } from "./fixture.ts";
import { sharedPeer } from "./peer/peer.ts";
import { PeerAgent } from "./peer/peer-agent.ts";
import { startPeerRecipient } from "./peer/peer-recipient.ts";
import type { ActName } from "./process/acts.ts";
import { startRecipient } from "./process/recipient.ts";
import type { Recipient } from "./process/recipient.ts";
import { CAPABILITY } from "./sample.ts";

export interface ServingOptions {
  readonly id?: string | undefined;
  readonly capability?: Partial<CapabilityInput> | undefined;
  /** What the agent is connected to, if not to the hub itself. */
  readonly hub?: Hub | undefined;
}

/** An agent that serves through the adapter, in any process. */
export interface Serving {
  stop(options?: { readonly mode?: "finish" | "release" | "abandon" }): Promise<void>;
  /** Hands off a child, from inside a run that plays. */
  part(stage: Stage, capability: string, input: Json): Promise<Json>;
}

/** A call, with defaults for everything that a case is not about. */
export interface Calling extends Partial<Omit<CallRequest, "agent" | "capability" | "folder">> {
  readonly capability?: Partial<CapabilityInput> | undefined;
}

export interface SceneOptions {
  readonly serving: AdapterFixture;
  readonly calling: AdapterFixture;
  /** The clock stands still in a scene, unless processes take part, which have clocks of their own. */
  readonly time?: Clock | undefined;
}

/** A hub for one case, its agents, and what can be observed of them from outside. */
export class Scene {
  readonly clock: MovableClock;
  readonly hub: HubServer;
  /** What the case waits for, for the message if it never comes. */
  waitsFor = "its agents to start";
  readonly #servingBy: AdapterFixture;
  readonly #callingBy: AdapterFixture;
  readonly #time: Clock;
  readonly #store: Store;
  readonly folder: string;
  readonly #keys = new Map<string, PrivateKey>();
  readonly #agents: Agent[] = [];
  readonly #children: Recipient[] = [];
  /** The same for an adapter in another language: its hubs at their addresses, and its agents. */
  readonly #served = new Map<Hub, Promise<ServedHub>>();
  readonly #peerAgents: PeerAgent[] = [];
  #peerCaller: Promise<PeerAgent> | undefined;
  #callersHub: Hub | undefined;
  #owner: Agent | undefined;
  #caller: Agent | undefined;
  #isDisposed = false;

  private constructor(
    { serving, calling }: SceneOptions,
    parts: { clock: MovableClock; time: Clock; store: Store; hub: HubServer; folder: string },
  ) {
    this.#servingBy = serving;
    this.#callingBy = calling;
    this.clock = parts.clock;
    this.#time = parts.time;
    this.hub = parts.hub;
    this.#store = parts.store;
    this.folder = parts.folder;
  }

  static async open(options: SceneOptions): Promise<Scene> {
    const { serving, calling, time } = options;
    const hasPeer = (serving.peer ?? calling.peer) !== undefined;
    const clock = hasPeer ? new RunningClock() : new StillClock();
    const store = memoryStore();
    // Retries come at once: no case is about the length of a backoff.
    const terms = { backoffMs: 0 };
    const hub = await openHub({ store, key: generateKey(), clock: time ?? clock, terms });
    const folder = await mkdtemp(join(tmpdir(), "waybill-adapter-"));
    return new Scene(options, { clock, time: time ?? clock, store, hub, folder });
  }

  /** An agent of the suite's own, or of the adapter under test. One id has one key. */
  agent(id: string, hub: Hub = this.hub): Agent {
    const key = this.#keys.get(id) ?? generateKey();
    this.#keys.set(id, key);
    const agent = createAgent({ id, key, hub, clock: this.#time });
    this.#agents.push(agent);
    return agent;
  }

  /** The adapter that serves. */
  get serving(): AdapterFixture {
    return this.#servingBy;
  }

  /** The names of the served agent and its parts. */
  get servedNames(): readonly string[] {
    const { serve, peer } = this.#servingBy;
    return (peer ?? serve)?.names ?? [];
  }

  /** Whether the served agent shows a model's text instead of milestones. */
  get streams(): boolean {
    const { serve, peer } = this.#servingBy;
    return (peer ?? serve)?.streams ?? false;
  }

  /** The delegator of the work that the adapter serves. */
  get owner(): Agent {
    return (this.#owner ??= this.agent("owner"));
  }

  /** The agent that calls from inside the adapter's framework. */
  get caller(): Agent {
    return (this.#caller ??= this.agent("caller"));
  }

  /** Wraps the caller's hub, before the caller exists. */
  lineCaller(line: (hub: Hub) => Hub): void {
    this.#callersHub = line(this.hub);
    if (this.#callingBy.peer === undefined) this.#caller = this.agent("caller", this.#callersHub);
  }

  /** Replaces the caller, as if its process had crashed and another had been started. */
  async restartCaller(): Promise<void> {
    await (await this.#peerCaller)?.stop("abandon");
    await this.#caller?.stop({ mode: "abandon" });
    this.#caller = undefined;
    this.#peerCaller = undefined;
  }

  /** Cancels a handoff of the caller's from outside its run. */
  async cancelElsewhere(handoff: HandoffEnvelope): Promise<void> {
    const reason = "somebody else's decision";
    if (this.#callingBy.peer === undefined) {
      await (await this.caller.attach(handoff.handoff_id)).cancel(reason);
      return;
    }
    const to = typeof handoff.to === "string" ? handoff.to : this.hub.id;
    const cancel = createReply(handoff, { kind: "cancel", from: "caller", to, body: { reason } });
    await this.hub.submit(signEnvelope(cancel, await loadKey(this.#keyFile("caller"))));
  }

  /** Lets the caller serve an agent that does nothing but call. */
  async serveWhole(capability: string): Promise<void> {
    if (this.#callingBy.peer !== undefined) {
      return (await this.#calling()).serveWhole(capability, this.#request({}));
    }
    const run = async ({ handoffId }: { readonly handoffId: string }) => ({
      output: (await this.call({ run: handoffId })).output ?? "in words",
    });
    this.caller.serve(...offerOf({ capability: { name: capability }, run }));
    await this.caller.start();
  }

  /** Lets the adapter serve an agent that plays `act`. */
  async serve(act: Act, options: ServingOptions = {}): Promise<Serving> {
    const { id = "worker", hub } = options;
    const capability = { ...CAPABILITY, ...options.capability };
    const { serve, peer: process } = this.#servingBy;
    if (process !== undefined) {
      const peer = await this.#peerAgent(process, id, hub);
      await peer.serve(capability, act, this.folder);
      return {
        stop: ({ mode = "finish" } = {}) => peer.stop(mode),
        part: (...args) => peer.part(...args),
      };
    }
    const agent = this.agent(id, hub);
    agent.serve(...(await serve!.offer({ capability, act, folder: this.folder })));
    await agent.start();
    return {
      stop: async (how) => void (await agent.stop(how)),
      async part(stage, name, input) {
        if (serve!.part !== undefined) return serve!.part(agent, stage, name, input);
        const step = { run: stage.run, step: "part" };
        const asked = { step, capability: name, input, onQuestion: refuseQuestion };
        return (await call(agent, asked)).output as Json;
      },
    };
  }

  /** Lets the adapter serve an agent in a process of its own. */
  async start(act: ActName): Promise<Recipient> {
    const { module, peer } = this.#servingBy;
    const { folder, hub } = this;
    const recipient =
      peer === undefined
        ? await startRecipient({ module, act, folder, hub })
        : await startPeerRecipient({
            ...(await this.#attaching("worker")),
            fixture: peer,
            hub,
            act,
            capability: CAPABILITY,
            folder,
          });
    this.#children.push(recipient);
    return recipient;
  }

  async #peerAgent(peer: PeerFixture, id: string, hub?: Hub): Promise<PeerAgent> {
    const attaching = await this.#attaching(id, hub);
    const made = await PeerAgent.open(sharedPeer(peer), attaching);
    this.#peerAgents.push(made);
    return made;
  }

  async #attaching(id: string, hub: Hub = this.hub) {
    const key = this.#keyFile(id);
    await loadKey(key);
    const served =
      this.#served.get(hub) ??
      serveHub({
        hub: { ...this.hub, attach: hub.attach, submit: hub.submit },
        store: this.#store,
      });
    this.#served.set(hub, served);
    return { id, key, url: (await served).url };
  }

  #keyFile(id: string): string {
    return join(this.folder, `${id}.jwk`);
  }

  #calling(): Promise<PeerAgent> {
    return (this.#peerCaller ??= this.#peerAgent(
      this.#callingBy.peer!,
      "caller",
      this.#callersHub,
    ));
  }

  /** Hands work to the agent that the adapter serves. */
  handoff(options: Partial<HandoffOptions> = {}, owner: Agent = this.owner): HandoffHandle {
    const { name } = CAPABILITY;
    const isEmpty = (options.brief ?? options.messages) === undefined;
    const input = isEmpty ? { query: "rain" } : undefined;
    return owner.handoff({ capability: name, input, timeoutMs: 60_000, ...options });
  }

  /** Lets a plain agent serve what the adapter is to call. */
  async receive(
    handler: Handler,
    { id = "remote", capability, hub }: ServingOptions = {},
  ): Promise<Agent> {
    const agent = this.agent(id, hub);
    agent.serve({ ...CAPABILITY, ...capability }, handler);
    await agent.start();
    return agent;
  }

  /** Lets the adapter's framework call a remote agent. */
  call(calling: Calling = {}): Promise<Played> {
    const called = this.#call(this.#request(calling));
    // A case may await something else first.
    called.catch(() => undefined);
    return called;
  }

  async #call(request: Omit<CallRequest, "agent">): Promise<Played> {
    const { call: framework, peer } = this.#callingBy;
    return peer === undefined
      ? framework!.run({ ...request, agent: this.caller })
      : (await this.#calling()).call(request);
  }

  #request(calling: Calling): Omit<CallRequest, "agent"> {
    return {
      to: undefined,
      run: "run-1",
      step: "step-1",
      work: { input: { query: "rain" } },
      timeoutMs: 60_000,
      session: undefined,
      traceparent: undefined,
      signal: new AbortController().signal,
      show: () => undefined,
      ask: () => Promise.reject(new Error("nobody was to be asked")),
      ...calling,
      capability: asPublished({ ...CAPABILITY, ...calling.capability }),
      folder: this.folder,
    };
  }

  /** The second door: the signed envelopes of all handoffs, from the ledger. */
  async said<Kind extends EnvelopeKind>(kind: Kind): Promise<Extract<Envelope, { kind: Kind }>[]> {
    const found: Envelope[] = [];
    for await (const { type, content } of ledgerEntries(this.#store)) {
      if (type !== "envelope") continue;
      const envelope = parseEnvelope(readCompact(content).payload);
      if (envelope.kind === kind) found.push(envelope);
    }
    return found as Extract<Envelope, { kind: Kind }>[];
  }

  /** Waits until `look` returns something, in turns of the event loop. */
  async until<Value>(
    what: string,
    look: () => Value | Promise<Value>,
  ): Promise<NonNullable<Value>> {
    this.waitsFor = what;
    for (;;) {
      const found = await look();
      if (found !== undefined && found !== null && found !== false) return found;
      await settled();
      if (this.#isDisposed) throw new Error(`gave up waiting for ${what}`);
    }
  }

  wait<Value>(what: string, promise: Promise<Value>): Promise<Value> {
    this.waitsFor = what;
    return promise;
  }

  /** After every case: the ledger keeps the promises of the protocol. */
  async verify(): Promise<void> {
    const history = [];
    for await (const entry of ledgerHistory(this.#store)) history.push(entry);
    const report = checkHistory(history, { isComplete: false, hub: this.hub.id });
    deepEqual(report.violations, []);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await Promise.all(this.#children.map((each) => each.kill()));
    await Promise.all(this.#agents.map((agent) => agent.stop({ mode: "abandon" })));
    // A scene that was stopped before, or never started, has nothing to end.
    await Promise.allSettled(this.#peerAgents.map((agent) => agent.stop("abandon")));
    await Promise.all([...this.#served.values()].map(async (served) => (await served).close()));
    await this.hub.close();
    await this.#store.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function asPublished(capability: CapabilityInput): Capability {
  return parseManifest({ agent_id: "remote", capabilities: [capability] }).capabilities[0]!;
}
