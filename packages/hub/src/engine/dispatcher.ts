import { sessionOffered } from "@waybill/protocol/hub";
import { Backlog } from "../backlog.ts";
import type { Clock } from "@waybill/protocol/wire";
import type { Committed } from "./committed.ts";
import { KeyedQueue } from "../keyed-queue.ts";
import { targetOf } from "../custody/handoff-record.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { holderOf } from "./holder.ts";
import { leaveConcurrencySlot } from "../concurrency-slot.ts";
import type { AgentSession } from "../routing/agent-session.ts";
import type { AttachedCapabilities } from "../routing/attached-capabilities.ts";
import type { Route, Router } from "../routing/router.ts";
import type { Store, StoredHandoff, WaitingPlace } from "../store.ts";
import { AgentQueues } from "./agent-queues.ts";
import { firstOf } from "./waiting-queue.ts";
import type { Room, QueuedHandoff, WaitingQueue } from "./waiting-queue.ts";

/** How many waiting handoffs are read at a time, over all targets of an agent. */
const PAGE = 50;
const LEAST_PAGE = 4;
const PAUSE_AFTER_FAILURE_MS = 1_000;
/**
 * How many new handoffs of one delegator are routed at a time. Each holds all offers of its capability in
 * memory while its input is checked.
 */
const ROUTED_AT_ONCE = 4;
/** How many handoffs of one delegator are offered again at a time, after an agent may have missed them. */
const MISSED_AT_ONCE = 8;
export interface DispatcherOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly offerAgain: (id: string) => Promise<Committed>;
  readonly router: Router;
  readonly attachedCapabilities: AttachedCapabilities;
  readonly attached: ReadonlyMap<string, AgentSession>;
  readonly inBackground: (work: Promise<unknown>) => void;
}

interface WakeUp {
  readonly at: number;
  readonly disarm: () => void;
}

/**
 * Matches due handoffs and agents with room. It remembers what each agent was considered for: when an
 * agent has room again, the cost depends on what it is offered, and not on everything that waits for
 * others.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #queues: AgentQueues;
  /** One pull at a time for each agent: one that reconnects waits for the pull of its old connection. */
  readonly #byAgent = new KeyedQueue();
  readonly #pulling = new Map<AgentSession, "once" | "again">();
  /** How many pulls there were, and how many when a transaction was dispatched. */
  #pulls = 0;
  readonly #pullsBefore = new WeakMap<HandoffTransaction, number>();
  readonly #routes = new WeakMap<HandoffTransaction, Route>();
  /** Handoffs that an agent with room may have missed, by delegator. */
  readonly #missed: Backlog;
  /** The routing of new handoffs, by delegator. */
  readonly #routing = new ConcurrencyLimit(ROUTED_AT_ONCE, leaveConcurrencySlot);
  /** Handoffs queued behind others although there may be room for them. */
  readonly #queued = new WeakSet<HandoffTransaction>();
  /** When targets are considered again, by all agents or by one. */
  readonly #wakeUps = new Map<string, WakeUp>();
  readonly #failed = new Set<AgentSession>();
  #isClosed = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#queues = new AgentQueues(options.store);
    this.#missed = new Backlog(MISSED_AT_ONCE, async (id) => {
      const offered = this.offerAgain(id);
      // A failure is logged, and a closing hub waits for pulls in progress.
      options.inBackground(offered);
      await Promise.allSettled([offered]);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#missed.close();
    for (const { disarm } of this.#wakeUps.values()) disarm();
  }

  /** A handoff has begun to wait, and the store shows it. */
  noteWaiting(stored: StoredHandoff): void {
    this.#queues.noteWaiting(stored);
  }

  /** The store does not know whether this commit is on disk. */
  noteUnknownCommit(stored: StoredHandoff): void {
    this.#queues.noteUnknownCommit(stored);
  }

  /** A transaction is on disk. An agent that attached during the write did not find it waiting. */
  onCommitted(transaction: HandoffTransaction, stored: StoredHandoff): void {
    const { id, waitsFor } = stored;
    this.noteWaiting(stored);
    if (this.#queued.has(transaction)) {
      for (const attached of this.#options.attached.values()) {
        if (attached.room > 0 || this.#pulling.has(attached)) this.pull(attached);
      }
    }
    const before = this.#pullsBefore.get(transaction);
    if (waitsFor === null || before === undefined || before === this.#pulls) return;
    const hasRoom = [...this.#options.attached.values()].some(({ room }) => room > 0);
    if (hasRoom) this.#missed.add(transaction.record!.state.delegator, id);
  }

  /** Considers everything again for all attached agents: what they may take has changed. */
  reconsiderAll(): void {
    this.#queues.forgetAll();
    for (const attached of this.#options.attached.values()) this.pull(attached);
  }

  /** Offers an agent what waits for it, as long as it has room. */
  pull(attached: AgentSession): void {
    this.#pulls++;
    if (this.#pulling.has(attached)) {
      this.#pulling.set(attached, "again");
      return;
    }
    this.#pulling.set(attached, "once");
    this.#options.inBackground(this.#byAgent.run(attached.agent, () => this.#pullAll(attached)));
  }

  async #pullAll(attached: AgentSession): Promise<void> {
    try {
      do {
        this.#pulling.set(attached, "once");
        const targets = await this.#options.router.targetsOf(attached.agent);
        const waitedFor = targets.filter((target) => this.#queues.isWaitedFor(target));
        if (waitedFor.length > 0 && attached.isOpen) await this.#pullFrom(waitedFor, attached);
      } while (this.#pulling.get(attached) === "again" && attached.isOpen);
    } catch (error) {
      // The handoffs still wait, and nothing else may trigger the next pull.
      this.#queues.forget(attached);
      this.#pullLater(attached);
      throw error;
    } finally {
      // In the same turn of the event loop as the last check, so that a later request starts a new pull.
      this.#pulling.delete(attached);
      if (!attached.isOpen) this.#queues.putAside(attached);
    }
  }

  #pullLater(attached: AgentSession): void {
    if (this.#failed.has(attached) || this.#isClosed) return;
    this.#failed.add(attached);
    const { clock } = this.#options;
    clock.setTimer(clock.now() + PAUSE_AFTER_FAILURE_MS, () => {
      this.#failed.delete(attached);
      if (!this.#isClosed) this.pull(attached);
    });
  }

  /** An agent has published a manifest: it may now take what it could not take before. */
  async onPublished(agent: string): Promise<void> {
    this.#queues.forgetAgent(agent);
    const attached = this.#options.attached.get(agent);
    if (attached === undefined) return;
    await this.#options.attachedCapabilities.learn(attached);
    // A decision in progress may have used the old manifest.
    this.#queues.forget(attached);
    await this.onAttached(attached);
  }

  /** An agent has attached: anything that it could take may be waiting. */
  async onAttached(attached: AgentSession): Promise<void> {
    for (const target of await this.#options.router.targetsOf(attached.agent)) {
      this.#queues.noteTarget(target);
    }
    this.pull(attached);
  }

  /** An agent has left. Its queues are kept, so that attaching again costs no more than staying. */
  onDetached(attached: AgentSession): void {
    // The pull in progress takes care of it.
    if (!this.#pulling.has(attached)) this.#queues.putAside(attached);
  }

  /** The reason against an agent is gone: considers it again for what waits for this target. */
  reconsiderAgent(agent: string, target: string): void {
    this.#queues.restartAway(agent, target);
    const attached = this.#options.attached.get(agent);
    if (attached === undefined) return;
    this.#queues.restart(attached, target);
    this.pull(attached);
  }

  /** The reasons against all attached agents may be gone. */
  #reconsiderTarget(target: string): void {
    this.#queues.restartTarget(target);
    for (const attached of this.#options.attached.values()) {
      if (this.#options.attachedCapabilities.isTarget(target, attached)) this.pull(attached);
    }
  }

  #armWakeUp(name: string, at: number, reconsider: () => void): void {
    const before = this.#wakeUps.get(name);
    if (at >= (before?.at ?? Infinity) || this.#isClosed) return;
    before?.disarm();
    const disarm = this.#options.clock.setTimer(at, () => {
      this.#wakeUps.delete(name);
      // The timer may fire before a long wait is over.
      if (this.#options.clock.now() < at) this.#armWakeUp(name, at, reconsider);
      else reconsider();
    });
    this.#wakeUps.set(name, { at, disarm });
  }

  /** Nothing was written for a handoff that waits for this: it is offered after a pause. */
  reconsiderAfterFailure(target: string): void {
    this.#reconsiderTargetAt(this.#options.clock.now() + PAUSE_AFTER_FAILURE_MS, target);
  }

  #reconsiderTargetAt(at: number, target: string): void {
    this.#armWakeUp(target, at, () => this.#reconsiderTarget(target));
  }

  /** Handoffs to the agent by name and by capability are offered as one queue, in the order of their positions. */
  async #pullFrom(targets: readonly string[], attached: AgentSession): Promise<void> {
    const limits = await this.#options.router.limitsOf(attached.agent);
    if (!attached.isOpen) return;
    const room: Room = {
      isFull: (name) => attached.inFlight(name) >= (limits.get(name) ?? Infinity),
      inFlight: (name) => attached.inFlight(name),
    };
    const names = [...limits.keys()];
    const all = this.#queues.of(attached, targets);
    const queues = targets.map((target) => all.get(target)!);
    const limit = Math.max(LEAST_PAGE, Math.floor(PAGE / targets.length));
    for (const queue of queues) queue.limit = limit;
    const mayTake = ({ capability }: WaitingQueue) =>
      capability !== undefined || names.length === 0 || !names.every(room.isFull);
    /** Considered while the agent had no room: comes again in the next round, and not in this one. */
    const missed: { readonly queue: WaitingQueue; readonly waiting: QueuedHandoff }[] = [];
    while (attached.room > 0 && !this.#isClosed && this.#queues.areOf(attached, all)) {
      const first = await firstOf(queues.filter(mayTake), room);
      if (first === undefined || attached.room === 0) break;
      const { queue, waiting } = first;
      queue.advance(waiting);
      const { roomChanges } = attached;
      const inFlight = attached.inFlight(waiting.capability);
      const outcome = await this.#consider(waiting, attached);
      if (outcome === "left") queue.leave();
      if (outcome !== "lacked room") continue;
      const isOfVersion = attached.room > 0 && attached.roomChanges === roomChanges && inFlight > 0;
      if (isOfVersion) queue.passOver(waiting, inFlight);
      else missed.push(first);
    }
    for (const { queue, waiting } of missed) queue.putBack(waiting);
    for (const queue of queues) queue.rest();
  }

  /** Routes a handoff: returns whether it still waits, and whether only because this agent lacks room. */
  async #consider(
    { id }: QueuedHandoff,
    attached: AgentSession,
  ): Promise<"gone" | "left" | "lacked room"> {
    const changed = await this.offerAgain(id);
    if (changed.type !== "changed" || changed.transaction.record?.isWaiting !== true) return "gone";
    const route = this.#routes.get(changed.transaction);
    const hasLacked = route?.type === "wait" && route.busy.includes(attached);
    return hasLacked ? "lacked room" : "left";
  }

  /** Routes all handoffs that wait for these targets again: there may be no agent left to wait for. */
  async rerouteWaiting(targets: readonly string[]): Promise<void> {
    for (const target of targets) {
      let after: WaitingPlace | undefined;
      for (;;) {
        const page = await this.#options.store.waiting(target, { after, limit: PAGE });
        for (const { id } of page) await this.offerAgain(id);
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) break;
        after = { waitsAt: last.waitsAt, id: last.id };
      }
    }
  }

  offerAgain(id: string): Promise<Committed> {
    return this.#options.offerAgain(id);
  }

  /** Dispatches a due handoff: offers it to the agent that the router picks, queues it, or dead-letters it. */
  async dispatch(transaction: HandoffTransaction): Promise<void> {
    const record = transaction.record!;
    this.#pullsBefore.set(transaction, this.#pulls);
    if (this.#isOvertaking(transaction)) {
      this.#queued.add(transaction);
      transaction.amend({ isWaiting: true });
      return;
    }
    const holder = await holderOf(this.#options.store, record);
    const route = await this.#route(transaction, holder);
    this.#routes.set(transaction, route);
    this.#noteSession(transaction, route);
    if (route.type === "offer") {
      const { agent } = route.to;
      const session = record.session && sessionOffered(holder, agent);
      transaction.decide({ type: "offer", recipient: agent, ...(session && { session }) });
    } else if (route.type === "nobody") {
      transaction.decide({ type: "dead_letter", status: route.status });
    } else {
      // `pull` goes on with it once an agent has room: the agent's session calls it (attach-agent.ts).
      if (!record.isWaiting) transaction.amend({ isWaiting: true });
      const target = targetOf(record);
      if (route.until !== undefined) this.#reconsiderTargetAt(route.until, target);
      for (const { agent, at } of route.readmissions ?? []) {
        this.#armWakeUp(`${agent} ${target}`, at, () => this.reconsiderAgent(agent, target));
      }
    }
  }

  /** Records which holder of the session the handoff awaits, in the same commit as the decision. */
  #noteSession(transaction: HandoffTransaction, route: Route): void {
    const { session } = transaction.record!;
    if (session === undefined) return;
    const awaits = route.type === "wait" ? route.awaits : undefined;
    if (awaits !== session.awaits) transaction.amend({ session: { ...session, awaits } });
  }

  #route(transaction: HandoffTransaction, holder: string | undefined): Promise<Route> {
    const { to, state } = transaction.record!;
    const { router } = this.#options;
    // A named recipient checks the input itself. Repeated offers are bounded by whoever requests them.
    const isBounded = typeof to === "string" || transaction.wantsOffer;
    if (isBounded) return router.route(transaction, holder);
    return this.#routing.run(state.delegator, () => router.route(transaction, holder));
  }

  /** A new handoff must not take room that is being given to waiting ones. */
  #isOvertaking({ wantsOffer, record }: HandoffTransaction): boolean {
    return !wantsOffer && this.#pulling.size > 0 && this.#queues.isWaitedFor(targetOf(record!));
  }

  /** The handoff was due by the clock of another hub, which is ahead of this one's. */
  waitUntilDue(record: HandoffRecord, now: number): void {
    const { nextAttemptAt } = record.state;
    // A handoff past its deadline is not due either, and would be considered over and over until it ends.
    if (nextAttemptAt !== null && nextAttemptAt > now) {
      this.#reconsiderTargetAt(nextAttemptAt, targetOf(record));
    }
  }
}
