import { newId, WaybillError } from "@waybill/protocol";
import type {
  CapabilityInput,
  Json,
  ManifestInput,
  PrivateKey,
  ProvenKey,
  TrustPolicy,
} from "@waybill/protocol";
import { systemClock } from "@waybill/protocol/wire";
import type { Clock, Hub } from "@waybill/protocol/wire";
import { Artifacts } from "./artifacts/artifacts.ts";
import type { AgentContext } from "./context.ts";
import { isDeclaration } from "./capability/capability.ts";
import type { CapabilityDeclaration, OutputOf } from "./capability/capability.ts";
import { Acknowledgements } from "./delegating/acknowledgements.ts";
import { declaredHandle } from "./delegating/declared-handoff.ts";
import { Delegating } from "./delegating/delegating.ts";
import { delegatorOver } from "./delegating/delegator.ts";
import type { Delegator } from "./delegating/delegator.ts";
import type { HandoffHandle } from "./delegating/handoff-handle.ts";
import type { AttachOptions } from "./delegating/options.ts";
import { Deliveries } from "./deliveries.ts";
import { OwnKey } from "./identity/own-key.ts";
import { checkAgentId, checkCapabilityName, checkId } from "./ids.ts";
import { Link } from "./link/link.ts";
import { Outgoing } from "./link/outgoing.ts";
import type { Unconfirmed } from "./link/outgoing.ts";
import { Peers } from "./link/peers.ts";
import { Signer } from "./link/signer.ts";
import type { Log } from "./log.ts";
import { Presence, stopped } from "./presence.ts";
import { servedAs } from "./serving/capabilities.ts";
import type { Served } from "./serving/capabilities.ts";
import type { HandlerOf, Servable } from "./serving/declared.ts";
import { Serving } from "./serving/serving.ts";
import type { Handler } from "./serving/work.ts";

/** The identity of an agent, and its settings. */
export interface AgentOptions {
  /** Its name at the hub: 1 to 128 of a-z 0-9 . _ -, beginning and ending with a letter or digit. */
  readonly id: string;
  /**
   * Its signing key, to which its name at the hub is bound. By default the application keeps one on
   * disk for this agent at this hub, in the folder of the environment variable `WAYBILL_KEYS`, or else
   * in `.waybill/keys` beside the application's package.json.
   */
  readonly key?: PrivateKey | undefined;
  /** The hub to attach to: `await connect(url)`, or `await openHub(…)` in the same process. */
  readonly hub: Hub;
  /** Members of its manifest besides its id, keys and capabilities. */
  readonly manifest?: Omit<ManifestInput, "agent_id" | "capabilities"> | undefined;
  /**
   * How many attempts it works on at once, over all its capabilities; 16 by default. More than that
   * waits at the hub. A capability may have a lower limit of its own, `concurrency`.
   */
  readonly credit?: number | undefined;
  /**
   * Admits it to a hub that requires invitations: the output of `waybill invite`. It is used at the
   * first registration, and never sent. By default the environment variable `WAYBILL_INVITATION`.
   */
  readonly invitation?: string | undefined;
  /**
   * Artifacts larger than this are uploaded to the hub, and the envelope refers to them by digest; by
   * default `INLINE_ARTIFACT_BYTES`. Smaller ones are sent inline, up to four times this in one
   * envelope.
   */
  readonly inlineArtifactBytes?: number | undefined;
  /**
   * The public half of a key that is kept offline, as `waybill keys recovery` prints it. With it the
   * agent keeps its name after its key is lost or stolen. By default the one that it has listed
   * before.
   */
  readonly recoveryKey?: ProvenKey | undefined;
  /** Whose manifests are trusted. By default all that the hub has admitted. */
  readonly trust?: TrustPolicy | undefined;
  /** The clock, by default the system's. A simulation passes its own. */
  readonly clock?: Clock | undefined;
  /** Makes the ids of its envelopes: UUIDs of version 7. */
  readonly newId?: (() => string) | undefined;
  /** Makes the salts of its envelopes; by default 128 bits of the system's randomness. */
  readonly newSalt?: (() => string) | undefined;
  /** Called on every event: attached, offered, accepted, finished, and failures. */
  readonly log?: Log | undefined;
}

/** How an agent stops. */
export interface StopOptions {
  /**
   * `finish` lets running work end; `release` gives it back at once. `abandon` sends nothing, like a
   * crash: the hub notices when the leases expire.
   */
  readonly mode?: "finish" | "release" | "abandon" | undefined;
  /**
   * How long to wait for the hub's receipts for what this agent has sent: cancels, results, progress,
   * answers, acknowledgements and handoffs. 5,000 by default.
   */
  readonly settleMs?: number | undefined;
}

/**
 * Serves capabilities and hands work off, under its own name and key. The first handoff starts it if
 * that was not done.
 */
export interface Agent extends Delegator {
  /** Its name at the hub. */
  readonly id: string;
  /**
   * Settles when the agent receives no deliveries any more: with the reason if its hub refuses it when
   * it reconnects, or if another process has attached under its id; with undefined once the agent has
   * stopped. It never rejects, and a hub that is out of reach does not settle it.
   */
  readonly closed: Promise<WaybillError | undefined>;
  /**
   * Offers a capability: a declared one, one by name, or one as in a manifest. It has to be called
   * before the start, because the signed manifest lists what an agent can do.
   *
   * The handler of a declared capability gets its input as parsed by the schema, and its output is
   * checked. Without a declaration `serve<Topic>(…)` states the type of the input; input that does not
   * match `input_schema` is refused before the handler is called.
   *
   * @example
   * ```ts
   * agent.serve(research, async ({ input, ask }) => {
   *   const language = await ask("language", "Which language shall it be in?");
   *   return { summary: await summarize(input.topic, language) };
   * });
   * agent.serve<string>("translate", ({ input }) => `${input}, translated`);
   * ```
   */
  serve<Input = Json, Offered extends Servable = string | CapabilityInput>(
    capability: Offered,
    handler: HandlerOf<Offered, Input>,
  ): void;
  /** Finds a handoff to a declared capability again, also after a restart. */
  attach<Declaration extends CapabilityDeclaration>(
    capability: Declaration,
    handoffId: string,
    options?: AttachOptions,
  ): Promise<HandoffHandle<OutputOf<Declaration>, Declaration["questions"]>>;
  /** Finds a handoff that this agent has made again, also after a restart. */
  attach<Output = Json | undefined>(
    handoffId: string,
    options?: AttachOptions,
  ): Promise<HandoffHandle<Output>>;
  /** Publishes the manifest and attaches to the hub. */
  start(): Promise<void>;
  /**
   * Takes no more work, lets running work finish, waits for the hub's receipts for what this agent has
   * sent, and detaches. Returns what the hub has not confirmed in time, usually nothing.
   *
   * @example
   * ```ts
   * const interrupted = new AbortController();
   * process.once("SIGINT", () => interrupted.abort());
   * await graph.invoke(input, { signal: interrupted.signal }).finally(() => agent.stop());
   * ```
   */
  stop(options?: StopOptions): Promise<readonly Unconfirmed[]>;
}

const CREDIT = 16;
/** Far longer than a hub takes, and acceptable after Ctrl-C. */
const SETTLE_MS = 5_000;

/**
 * Makes an agent. It does nothing yet: `start()`, or the first handoff, publishes its manifest and
 * attaches it to its hub.
 *
 * @example
 * ```ts
 * const agent = createAgent({ id: "editor", hub: await connect("http://127.0.0.1:7411") });
 * const { output } = await agent.handoff(research, { input: { topic: "tea" } }).result;
 * await agent.stop();
 * ```
 */
export function createAgent(options: AgentOptions): Agent {
  return new LinkedAgent(options);
}

class LinkedAgent implements Agent {
  readonly id: string;
  readonly handoff: Delegator["handoff"];
  readonly handoffAll: Delegator["handoffAll"];
  readonly closed: Promise<WaybillError | undefined>;
  readonly #context: AgentContext;
  readonly #served: Served[] = [];
  readonly #offered: CapabilityInput[] = [];
  readonly #presence: Presence;
  readonly #delegating: Delegating;
  readonly #serving: Serving;
  #stopping: Promise<readonly Unconfirmed[]> | undefined;

  constructor(options: AgentOptions) {
    const { id, hub, clock = systemClock(), log = () => undefined } = options;
    const { manifest, invitation, recoveryKey, credit = CREDIT } = options;
    checkAgentId(id);
    const makeId = options.newId ?? (() => newId());
    const peers = new Peers(hub, clock, options.trust);
    const key = new OwnKey(hub, id, options.key);
    const own = { id, key, hub, clock, newId: makeId, instance: makeId() };
    const link = new Link({ ...own, peers, log });
    const artifacts = new Artifacts({ ...own, link, inlineBytes: options.inlineArtifactBytes });
    const signer = new Signer(key, clock);
    const source = { now: () => clock.now(), newId: makeId, newSalt: options.newSalt };
    const outgoing = new Outgoing();
    const sending = { id, hub, clock, source, link, signer };
    const acknowledgements = new Acknowledgements(sending);
    const context = { ...sending, acknowledgements, artifacts, outgoing, peers, log };
    const offered = this.#offered;
    const attaching = { manifest, invitation, recoveryKey, credit };
    const presence = new Presence({ context, key, offered, ...attaching });
    const delegating = new Delegating(context, presence);
    const serving = new Serving({ context, served: this.#served, delegating });
    link.receiveWith(new Deliveries({ context, presence, delegating, serving }));
    const { handoff, handoffAll } = delegatorOver(delegating);
    this.id = id;
    this.handoff = handoff;
    this.handoffAll = handoffAll;
    this.closed = presence.closed;
    this.#context = context;
    this.#presence = presence;
    this.#delegating = delegating;
    this.#serving = serving;
  }

  serve(capability: Servable, handler: unknown): void {
    if (this.#presence.hasStarted) {
      throw new WaybillError(
        403,
        `${this.id} has already published its manifest: call serve before start.`,
      );
    }
    const offered = typeof capability === "string" ? { name: capability } : capability;
    checkCapabilityName(offered.name);
    this.#served.push(servedAs(this.id, offered, handler as Handler));
    this.#offered.push(isDeclaration(offered) ? offered.manifest : offered);
  }

  start(): Promise<void> {
    return this.#presence.start();
  }

  async attach(
    first: CapabilityDeclaration | string,
    ...rest: [(string | AttachOptions)?, AttachOptions?]
  ): Promise<never> {
    const capability = isDeclaration(first) ? first : undefined;
    const [handoffId, options = {}] = (capability ? rest : [first, ...rest]) as [
      string,
      AttachOptions?,
    ];
    checkId(handoffId, "handoffId");
    await this.#presence.startForHandoff();
    const handle = await this.#delegating.attach(handoffId, options);
    // A handle made while the agent stops would wait forever: nothing is delivered any more.
    if (this.#stopping !== undefined) handle.fail(stopped(this.id));
    if (capability === undefined) return handle as never;
    const { capability: name } = handle.envelope.body;
    if (name === capability.name) return declaredHandle(capability, handle) as never;
    throw new WaybillError(
      400,
      `${handoffId} is a handoff to ${name}, and not to ${capability.name}.`,
    );
  }

  stop(options: StopOptions = {}): Promise<readonly Unconfirmed[]> {
    const isImpatient = this.#stopping !== undefined && options.mode === "abandon";
    if (isImpatient) return this.#detach("abandoned").then(() => []);
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  async #stop({ mode = "finish", settleMs = SETTLE_MS }: StopOptions): Promise<Unconfirmed[]> {
    const { link } = this.#context;
    await this.#presence.settled();
    if (mode === "abandon") {
      await this.#detach("abandoned");
      return [];
    }
    link.setCredit(0);
    if (mode === "finish") await this.#serving.finish();
    else this.#serving.release(`${this.id} is stopping.`);
    const unconfirmed = await this.#settle(settleMs);
    await this.#detach("closed");
    return unconfirmed;
  }

  async #detach(how: "closed" | "abandoned"): Promise<void> {
    this.#presence.refuseHandoffs();
    if (how === "abandoned") this.#serving.abandon(stopped(this.id));
    this.#context.artifacts.close(stopped(this.id));
    await this.#context.link.close(how);
    this.#delegating.fail(stopped(this.id));
    this.#presence.end();
  }

  async #settle(withinMs: number): Promise<Unconfirmed[]> {
    const { clock, hub, log, outgoing } = this.#context;
    const unconfirmed = await outgoing.settle(clock, clock.now() + withinMs);
    for (const { kind, handoffId } of unconfirmed) {
      const error = new WaybillError(
        503,
        `${this.id} has stopped, and the hub ${hub.id} has not confirmed its ${kind} about ${handoffId} within ${withinMs} ms: it may be lost. Attach to the handoff once the hub answers, and send it again.`,
      );
      log({ event: "unconfirmed", agent: this.id, handoffId, error });
    }
    return unconfirmed;
  }
}
