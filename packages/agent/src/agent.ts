import { createHandoff, newId, WaybillError } from "@waybill/protocol";
import type {
  CapabilityInput,
  HandoffEnvelope,
  Json,
  ManifestInput,
  PrivateKey,
  TrustPolicy,
} from "@waybill/protocol";
import { systemClock } from "./clock.ts";
import type { Clock } from "./clock.ts";
import type { AgentContext } from "./context.ts";
import { handoffGroup } from "./delegating/group.ts";
import type { GroupHandle, GroupOptions } from "./delegating/group.ts";
import { HandoffHandle } from "./delegating/handle.ts";
import { DEFAULT_TIMEOUT_MS } from "./delegating/options.ts";
import type { HandoffOptions, ParentedOptions } from "./delegating/options.ts";
import { isSameWork } from "./delegating/same-work.ts";
import type { Delivery, HandoffView, Hub } from "./hub.ts";
import { Link } from "./link/link.ts";
import { publishManifest } from "./link/manifest.ts";
import { Peers } from "./link/peers.ts";
import { Signer } from "./link/signer.ts";
import type { Log } from "./log.ts";
import { servedAs } from "./serving/capabilities.ts";
import type { Served } from "./serving/capabilities.ts";
import { Serving } from "./serving/serving.ts";
import type { Handler } from "./serving/work.ts";

export interface AgentOptions {
  readonly id: string;
  readonly key: PrivateKey;
  readonly hub: Hub;
  /** More for its manifest than its id, keys and capabilities. */
  readonly manifest?: Omit<ManifestInput, "agent_id" | "capabilities"> | undefined;
  /** How many attempts it works on at once, 16 where it is left out. */
  readonly credit?: number | undefined;
  /** Whose manifests are believed. Left out: those that the hub has let in. */
  readonly trust?: TrustPolicy | undefined;
  readonly clock?: Clock | undefined;
  readonly newId?: (() => string) | undefined;
  readonly log?: Log | undefined;
}

export interface StopOptions {
  /**
   * `finish` lets the work end; `release` gives it back at once. `abandon` says nothing at all, like
   * a crash: the hub notices when the leases run out.
   */
  readonly mode?: "finish" | "release" | "abandon" | undefined;
}

export interface Agent {
  readonly id: string;
  /** Offers a capability. Before the start: what an agent can do is in its signed manifest. */
  serve<Input = Json>(capability: string | CapabilityInput, handler: Handler<Input>): void;
  /**
   * Hands off, starting the agent where that was not done. With a `handoffId` that was used before
   * it finds that handoff again, in this process or after a restart, if the work is the same; other
   * work under the same id is a 409.
   */
  handoff(options: HandoffOptions): HandoffHandle;
  /** Several at once, joined by a rule. */
  handoffAll(options: readonly HandoffOptions[], group: GroupOptions): GroupHandle;
  /** Finds a handoff again that this agent has made, after a restart too. */
  attach(handoffId: string, options?: Pick<HandoffOptions, "acknowledge">): Promise<HandoffHandle>;
  /** Publishes the manifest and attaches to the hub. */
  start(): Promise<void>;
  stop(options?: StopOptions): Promise<void>;
}

const CREDIT = 16;

export function createAgent(options: AgentOptions): Agent {
  return new LinkedAgent(options);
}

class LinkedAgent implements Agent {
  readonly id: string;
  readonly #options: AgentOptions;
  readonly #context: AgentContext;
  readonly #served: Served[] = [];
  readonly #offered: CapabilityInput[] = [];
  readonly #serving: Serving;
  readonly #handles = new Map<string, HandoffHandle>();
  /** Handles that are being made for handoffs of an earlier life. */
  readonly #attaching = new Map<string, Promise<HandoffHandle>>();
  #started: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: AgentOptions) {
    const { id, key, hub, clock = systemClock(), log = () => undefined } = options;
    const makeId = options.newId ?? (() => newId());
    const peers = new Peers(hub, clock, options.trust);
    const link = new Link({ id, key, hub, clock, newId: makeId, instance: makeId(), peers, log });
    this.id = id;
    this.#options = options;
    this.#context = {
      id,
      hub,
      clock,
      signer: new Signer(key, clock),
      source: { now: () => clock.now(), newId: makeId },
      link,
      peers,
      log,
      forget: (handoffId) => this.#handles.delete(handoffId),
    };
    this.#serving = new Serving({
      context: this.#context,
      served: this.#served,
      handoff: (parented) => this.#handoff(parented),
    });
  }

  serve<Input = Json>(capability: string | CapabilityInput, handler: Handler<Input>): void {
    if (this.#started !== undefined) {
      throw new WaybillError(
        403,
        `${this.id} has started, and its manifest says what it can do: call serve before start.`,
      );
    }
    const input = typeof capability === "string" ? { name: capability } : capability;
    this.#served.push(servedAs(this.id, input, handler as Handler));
    this.#offered.push(input);
  }

  start(): Promise<void> {
    this.#started ??= this.#start().catch((error: unknown) => {
      // The hub may be there the next time.
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #start(): Promise<void> {
    const { hub, link } = this.#context;
    const { manifest, key, credit = CREDIT } = this.#options;
    await publishManifest(
      hub,
      { ...manifest, agent_id: this.id, capabilities: this.#offered },
      key,
    );
    await link.open(this.#served.length === 0 ? 0 : credit, (delivery) => this.#take(delivery));
  }

  handoff(options: HandoffOptions): HandoffHandle {
    return this.#handoff(options);
  }

  handoffAll(all: readonly HandoffOptions[], group: GroupOptions): GroupHandle {
    // One job: where nobody says which, the first handoff gives its correlation id to the others.
    const correlationId = all[0]?.correlationId ?? this.#context.source.newId();
    return handoffGroup(all.length, group, (index, place) =>
      this.#handoff({ correlationId, ...all[index]!, group: place }),
    );
  }

  #handoff(options: ParentedOptions): HandoffHandle {
    const { id, source } = this.#context;
    const { to, tags, minReliability, timeoutMs, deadline, parent, acknowledge, signal } = options;
    const { capability, version, input, brief, messages, artifacts, contract, metadata } = options;
    const isUntimed = timeoutMs === undefined && deadline === undefined && parent === undefined;
    const envelope = createHandoff(
      {
        from: id,
        to: to ?? { capability, version, tags, min_reliability: minReliability },
        body: { capability, version, input, brief, messages, artifacts, contract, metadata },
        deadline,
        timeoutMs: isUntimed ? DEFAULT_TIMEOUT_MS : timeoutMs,
        handoffId: options.handoffId,
        parent,
        correlationId: options.correlationId,
        group: options.group,
        replayOf: options.replayOf,
        traceparent: options.traceparent,
        tracestate: options.tracestate,
      },
      source,
    );
    const known = this.#handles.get(envelope.handoff_id);
    if (known !== undefined) {
      if (isSameWork(known.envelope.body, envelope.body)) return known;
      throw takenBy(envelope.handoff_id);
    }
    const handle = this.#handle(envelope, acknowledge === "manual");
    this.#sendFirst(handle, signal).catch((error: unknown) =>
      handle.fail(WaybillError.from(error)),
    );
    return handle;
  }

  async #sendFirst(handle: HandoffHandle, signal: AbortSignal | undefined): Promise<void> {
    await this.start();
    if (this.#isStopped) throw stopped(this.id);
    if (signal?.aborted === true)
      throw new WaybillError(499, "It was cancelled before it was sent.");
    await this.#submit(handle);
    if (signal === undefined) return;
    const cancel = () => {
      const { reason } = signal as { reason: unknown };
      handle
        .cancel(reason instanceof Error ? reason.message : undefined)
        .catch((error: unknown) => this.#context.log({ event: "failure", agent: this.id, error }));
    };
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
  }

  /**
   * Where the hub has another handoff under this id, it may be this agent's own, made before a
   * restart. Asking only then, and not first, costs nothing where nothing was repeated, and also
   * finds one that was on its way to the hub meanwhile.
   */
  async #submit(handle: HandoffHandle): Promise<void> {
    try {
      await handle.submit();
    } catch (error) {
      if (!WaybillError.is(error, 409)) throw error;
      const until = Date.parse(handle.envelope.deadline);
      const own = await this.#context.link.persist(() => this.#find(handle.id), until);
      if (own === undefined) throw error;
      if (!isSameWork(own.envelope.body, handle.envelope.body)) throw takenBy(handle.id, error);
      await adopt(handle, own);
    }
  }

  #handle(envelope: HandoffEnvelope, isManual: boolean): HandoffHandle {
    const handle = new HandoffHandle(this.#context, envelope, isManual);
    this.#handles.set(handle.id, handle);
    return handle;
  }

  async attach(
    handoffId: string,
    { acknowledge }: Pick<HandoffOptions, "acknowledge"> = {},
  ): Promise<HandoffHandle> {
    await this.start();
    const known = this.#handles.get(handoffId) ?? this.#attaching.get(handoffId);
    if (known !== undefined) return known;
    const attaching = this.#attach(handoffId, acknowledge === "manual");
    this.#attaching.set(handoffId, attaching);
    return attaching.finally(() => this.#attaching.delete(handoffId));
  }

  async #attach(handoffId: string, isManual: boolean): Promise<HandoffHandle> {
    const own = await this.#find(handoffId);
    if (own === undefined) {
      throw new WaybillError(
        404,
        `The hub knows of no handoff ${handoffId} of ${this.id}. If it was never in custody, hand off again with this handoffId.`,
      );
    }
    const known = this.#handles.get(handoffId);
    if (known !== undefined) return known;
    const handle = this.#handle(own.envelope, isManual);
    try {
      await adopt(handle, own);
    } catch (error) {
      // Half of what has happened is no handle: the next try makes another.
      handle.fail(WaybillError.from(error));
      throw error;
    }
    return handle;
  }

  /** A handoff of this agent, as the hub has it. */
  async #find(handoffId: string): Promise<Own | undefined> {
    const view = await this.#context.hub.handoff(handoffId, this.id);
    if (view === undefined) return undefined;
    const { envelope, text } = await this.#context.peers.verify(view.envelope, {
      receivedAt: view.receivedAt,
    });
    const isOwn = envelope.kind === "handoff" && envelope.from === this.id;
    return isOwn && envelope.handoff_id === handoffId ? { view, envelope, text } : undefined;
  }

  #take(delivery: Delivery): void {
    if (delivery.type === "offer") this.#serving.offered(delivery);
    else if (delivery.type === "stop") this.#serving.stopped(delivery);
    else {
      this.#pass(delivery).catch((error: unknown) => {
        const { handoffId } = delivery;
        this.#context.log({ event: "failure", agent: this.id, handoffId, error });
      });
    }
  }

  async #pass(delivery: Extract<Delivery, { type: "envelope" }>): Promise<void> {
    const { id, handoffId, envelope, receivedAt } = delivery;
    const { link, log } = this.#context;
    const isTaken = await this.#serving.answered(delivery);
    // What comes in while its handle is being made would otherwise be nobody's.
    await this.#attaching.get(handoffId)?.catch(() => undefined);
    const handle = this.#handles.get(handoffId);
    if (handle !== undefined) await handle.receive(envelope, receivedAt);
    else if (!isTaken) log({ event: "unclaimed", agent: this.id, handoffId });
    link.seen(id);
  }

  async stop({ mode = "finish" }: StopOptions = {}): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#started?.catch(() => undefined);
    const { link } = this.#context;
    if (mode === "abandon") this.#serving.abandon(stopped(this.id));
    else {
      link.setCredit(0);
      await (mode === "finish"
        ? this.#serving.finish()
        : this.#serving.release(`${this.id} is stopping.`));
    }
    await link.close(mode === "abandon" ? "abandoned" : "closed");
    for (const handle of this.#handles.values()) handle.fail(stopped(this.id));
  }
}

interface Own {
  readonly view: HandoffView;
  readonly envelope: HandoffEnvelope;
  readonly text: string;
}

/** Gives a handle everything that has happened to its handoff so far. */
async function adopt(handle: HandoffHandle, { view, envelope, text }: Own): Promise<void> {
  handle.found(envelope, text);
  const { acceptance, questions, ending, receivedAt } = view;
  for (const each of [acceptance, ...questions, ending]) {
    if (each !== undefined) await handle.receive(each, receivedAt);
  }
}

function takenBy(handoffId: string, cause?: unknown): WaybillError {
  return new WaybillError(
    409,
    `The handoff id ${handoffId} stands for other work of this agent: its capability, input, brief, messages or artifacts are not these. Give new work an id of its own, or repeat it as it was.`,
    { at: "/handoff_id", cause },
  );
}

function stopped(id: string): WaybillError {
  return new WaybillError(
    503,
    `${id} has stopped here; its handoffs go on. Attach to them by their ids once it runs again.`,
  );
}
