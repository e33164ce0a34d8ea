import { newId, WaybillError } from "@waybill/protocol";
import type {
  CapabilityInput,
  Json,
  ManifestInput,
  PrivateKey,
  ProvenKey,
  TrustPolicy,
} from "@waybill/protocol";
import { Artifacts } from "./artifacts/artifacts.ts";
import { systemClock } from "./clock.ts";
import type { Clock } from "./clock.ts";
import type { AgentContext } from "./context.ts";
import { isDeclaration } from "./capability/capability.ts";
import type { CapabilityDeclaration, OutputOf } from "./capability/capability.ts";
import { declaredHandle } from "./delegating/declared-handoff.ts";
import { deferred } from "./delegating/deferred.ts";
import { Delegating } from "./delegating/delegating.ts";
import { delegatorOver } from "./delegating/delegator.ts";
import type { Delegator } from "./delegating/delegator.ts";
import type { HandoffHandle } from "./delegating/handoff-handle.ts";
import type { AttachOptions } from "./delegating/options.ts";
import type { Delivery, Hub, ShownDelta } from "./hub.ts";
import { OwnKey } from "./identity/own-key.ts";
import { checkAgentId, checkCapabilityName, checkId } from "./ids.ts";
import { Link } from "./link/link.ts";
import { Outgoing } from "./link/outgoing.ts";
import type { Unconfirmed } from "./link/outgoing.ts";
import { publishManifest } from "./link/manifest.ts";
import { Peers } from "./link/peers.ts";
import { Signer } from "./link/signer.ts";
import type { Log } from "./log.ts";
import { servedAs } from "./serving/capabilities.ts";
import type { Served } from "./serving/capabilities.ts";
import type { HandlerOf, Servable } from "./serving/declared.ts";
import { Serving } from "./serving/serving.ts";
import type { Handler } from "./serving/work.ts";

/** Who an agent is, and how it works. */
export interface AgentOptions {
  /** Its name at the hub: 1 to 128 of a-z 0-9 . _ -, beginning and ending with a letter or digit. */
  readonly id: string;
  /**
   * What it signs with, and what its name belongs to. Left out: the application keeps one on disk for
   * this agent at this hub, in the folder that the environment variable `WAYBILL_KEYS` names, or else in
   * `.waybill/keys` beside the application's package.json.
   */
  readonly key?: PrivateKey | undefined;
  /** Where it is attached: `await connect(url)`, or `await openHub(…)` in the same process. */
  readonly hub: Hub;
  /** More for its manifest than its id, keys and capabilities. */
  readonly manifest?: Omit<ManifestInput, "agent_id" | "capabilities"> | undefined;
  /**
   * How many attempts it works on at once, of all its capabilities together; 16 where it is left out. What
   * it has no place for waits at the hub. A capability may have a lower limit of its own, `concurrency`.
   */
  readonly credit?: number | undefined;
  /**
   * Lets it in at a hub that takes no strangers: what `waybill invite` has printed. It is used the first
   * time, and never sent. Left out: the environment variable `WAYBILL_INVITATION`.
   */
  readonly invitation?: string | undefined;
  /**
   * Artifacts with more bytes than this are uploaded to the hub, and the envelope names them by their
   * digest; `INLINE_ARTIFACT_BYTES` where it is left out. Smaller ones are in the envelope itself, up to
   * four times this together.
   */
  readonly inlineArtifactBytes?: number | undefined;
  /**
   * The public half of a key that is kept offline, as `waybill keys recovery` prints it: with it the agent
   * keeps its name when its key is lost or stolen. Left out: the one that it has listed before.
   */
  readonly recoveryKey?: ProvenKey | undefined;
  /** Whose manifests are believed. Left out: those that the hub has let in. */
  readonly trust?: TrustPolicy | undefined;
  /** The time it lives by, the system's where it is left out. A simulation hands in its own. */
  readonly clock?: Clock | undefined;
  /** Makes the ids of its envelopes: UUIDs of version 7. */
  readonly newId?: (() => string) | undefined;
  /** Told of what happens: who attached, what was offered, accepted, finished, and what failed. */
  readonly log?: Log | undefined;
}

/** How an agent stops. */
export interface StopOptions {
  /**
   * `finish` lets the work end; `release` gives it back at once. `abandon` says nothing at all, like
   * a crash: the hub notices when the leases run out.
   */
  readonly mode?: "finish" | "release" | "abandon" | undefined;
  /**
   * How long the hub's receipts are waited for, for what this agent has said: cancels, results, progress,
   * answers, acknowledgements and handoffs. 5,000 where it is left out.
   */
  readonly settleMs?: number | undefined;
}

/**
 * Serves capabilities and hands work off, under a name and a key of its own. Handing off starts it
 * where that was not done.
 */
export interface Agent extends Delegator {
  /** Its name at the hub. */
  readonly id: string;
  /**
   * Settles when nothing is delivered to it any more: with the reason where its hub does not let it
   * in when it comes back, or another process has attached under its id; with nothing once it has
   * stopped. Its hub being away is no reason.
   */
  readonly closed: Promise<WaybillError | undefined>;
  /**
   * Offers a capability: a declared one, one by its name, or one as the manifest has it. Before the
   * start, because what an agent can do is in its signed manifest.
   *
   * The handler of a declared capability gets its input as the schema reads it, and what it returns is
   * checked. Without a declaration `serve<Topic>(…)` says what the input is; what `input_schema` does
   * not let in is refused before the handler is called.
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
  /** Finds a handoff to a declared capability again, after a restart too. */
  attach<Declaration extends CapabilityDeclaration>(
    capability: Declaration,
    handoffId: string,
    options?: AttachOptions,
  ): Promise<HandoffHandle<OutputOf<Declaration>, Declaration["questions"]>>;
  /** Finds a handoff again that this agent has made, after a restart too. */
  attach<Output = Json | undefined>(
    handoffId: string,
    options?: AttachOptions,
  ): Promise<HandoffHandle<Output>>;
  /** Publishes the manifest and attaches to the hub. */
  start(): Promise<void>;
  /**
   * Takes nothing on any more, lets what is under way finish, waits for the hub's receipts for what this
   * agent has said, and detaches. Gives what the hub has not confirmed in time: nothing, as a rule.
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
/** Far longer than a hub takes, and bearable for who has pressed Ctrl-C. */
const SETTLE_MS = 5_000;

/**
 * Makes an agent. It does nothing yet: `start()` publishes what it can do and attaches it to its hub,
 * and so does the first handoff.
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
  readonly #closed = deferred<WaybillError | undefined>();
  readonly #options: AgentOptions;
  readonly #key: OwnKey;
  readonly #context: AgentContext;
  readonly #served: Served[] = [];
  readonly #offered: CapabilityInput[] = [];
  readonly #serving: Serving;
  readonly #delegating: Delegating;
  #started: Promise<void> | undefined;
  /** It has been let in once; since then its line is kept open. */
  #isAttached = false;
  #stopping: Promise<readonly Unconfirmed[]> | undefined;
  #isClosed = false;
  #lost: WaybillError | undefined;

  constructor(options: AgentOptions) {
    const { id, hub, clock = systemClock(), log = () => undefined } = options;
    checkAgentId(id);
    const makeId = options.newId ?? (() => newId());
    const peers = new Peers(hub, clock, options.trust);
    const lost = (reason: WaybillError) => this.#lose(reason);
    const instance = makeId();
    const key = new OwnKey(hub, id, options.key);
    const show = (delta: ShownDelta) => this.#delegating.show(delta);
    const own = { id, key, hub, clock, newId: makeId, instance };
    const link = new Link({ ...own, peers, log, show, lost });
    const inlineBytes = options.inlineArtifactBytes;
    const artifacts = new Artifacts({ ...own, link, inlineBytes });
    this.id = id;
    this.closed = this.#closed.promise;
    this.#options = options;
    this.#key = key;
    this.#context = {
      id,
      hub,
      clock,
      signer: new Signer(key, clock),
      artifacts,
      outgoing: new Outgoing(),
      source: { now: () => clock.now(), newId: makeId },
      link,
      peers,
      log,
      forget: (handoffId) => this.#delegating.forget(handoffId),
    };
    this.#delegating = new Delegating(this.#context, () => this.#startUnstopped());
    const { handoff, handoffAll } = delegatorOver(
      (handedOff) => this.#delegating.handoff(handedOff),
      makeId,
    );
    this.handoff = handoff;
    this.handoffAll = handoffAll;
    this.#serving = new Serving({
      context: this.#context,
      served: this.#served,
      handoff: (parented) => this.#delegating.handoff(parented),
    });
  }

  serve(capability: Servable, handler: unknown): void {
    if (this.#started !== undefined) {
      throw new WaybillError(
        403,
        `${this.id} has started, and its manifest says what it can do: call serve before start.`,
      );
    }
    const offered = typeof capability === "string" ? { name: capability } : capability;
    checkCapabilityName(offered.name);
    this.#served.push(servedAs(this.id, offered, handler as Handler));
    this.#offered.push(isDeclaration(offered) ? offered.manifest : offered);
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
    const { manifest, invitation, recoveryKey, credit = CREDIT } = this.#options;
    const key = await this.#key.load();
    const said = { ...manifest, agent_id: this.id, capabilities: this.#offered };
    const published = publishManifest(hub, said, key, { invitation, recoveryKey });
    await link.within(published).catch((error: unknown) => {
      throw this.#key.explain(error);
    });
    await link.open(this.#served.length === 0 ? 0 : credit, (delivery) => this.#take(delivery));
    this.#isAttached = true;
  }

  async #startUnstopped(): Promise<void> {
    if (this.#isClosed) throw stopped(this.id);
    await this.start();
    // Work that is finished while the agent stops may still hand off parts.
    if (this.#isClosed) throw stopped(this.id);
    if (this.#lost !== undefined) throw this.#lost;
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
    await this.#startUnstopped();
    const handle = await this.#delegating.attach(handoffId, options);
    // Made while the agent stopped, it would wait for ever for what nobody delivers any more.
    if (this.#isStopped) handle.fail(stopped(this.id));
    if (capability === undefined) return handle as never;
    const { capability: name } = handle.envelope.body;
    if (name === capability.name) return declaredHandle(capability, handle) as never;
    throw new WaybillError(
      400,
      `${handoffId} is a handoff to ${name}, and not to ${capability.name}.`,
    );
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
    const { id, handoffId } = delivery;
    const { link, log } = this.#context;
    const isAnswer = await this.#serving.answered(delivery);
    const isTaken = await this.#delegating.receive(delivery);
    if (!isTaken && !isAnswer) log({ event: "unclaimed", agent: this.id, handoffId });
    link.seen(id);
  }

  /** What is delivered about its handoffs goes elsewhere now, or nowhere: nobody here is to wait for it. */
  #lose(reason: WaybillError): void {
    this.#lost = reason;
    this.#closed.resolve(reason);
    this.#delegating.lose(
      new WaybillError(
        503,
        `${this.id} is not attached to its hub any more: ${reason.message} Its handoffs go on; attach to them by their ids once that is put right.`,
        { cause: reason },
      ),
    );
  }

  get #isStopped(): boolean {
    return this.#stopping !== undefined;
  }

  stop(options: StopOptions = {}): Promise<readonly Unconfirmed[]> {
    const isImpatient = this.#isStopped && options.mode === "abandon";
    if (isImpatient) return this.#detach("abandoned").then(() => []);
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  async #stop({ mode = "finish", settleMs = SETTLE_MS }: StopOptions): Promise<Unconfirmed[]> {
    const { link } = this.#context;
    // A start that the hub does not answer would keep it up.
    if (!this.#isAttached) await link.close("closed");
    await this.#started?.catch(() => undefined);
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
    this.#isClosed = true;
    if (how === "abandoned") this.#serving.abandon(stopped(this.id));
    this.#context.artifacts.close(stopped(this.id));
    await this.#context.link.close(how);
    this.#delegating.fail(stopped(this.id));
    this.#closed.resolve(undefined);
  }

  async #settle(withinMs: number): Promise<Unconfirmed[]> {
    const { clock, hub, log, outgoing } = this.#context;
    const unconfirmed = await outgoing.settle(clock, clock.now() + withinMs);
    for (const { kind, handoffId } of unconfirmed) {
      const error = new WaybillError(
        503,
        `${this.id} has stopped, and the hub ${hub.id} has not confirmed its ${kind} about ${handoffId} within ${withinMs} ms: it may be lost. Attach to the handoff once the hub answers, and say it again.`,
      );
      log({ event: "unconfirmed", agent: this.id, handoffId, error });
    }
    return unconfirmed;
  }
}

function stopped(id: string): WaybillError {
  return new WaybillError(
    503,
    `${id} has stopped here; its handoffs go on. Attach to them by their ids once it runs again.`,
  );
}
