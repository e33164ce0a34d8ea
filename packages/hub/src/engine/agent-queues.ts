import type { AgentSession } from "../routing/agent-session.ts";
import type { Page, Store, StoredHandoff, WaitingPlace } from "../store.ts";
import { WaitingQueue } from "./waiting-queue.ts";

/** For how many disconnected agents the hub remembers their positions. */
const AWAY_KEPT = 1_000;

/** An agent's positions, by target. */
type Queues = Map<string, WaitingQueue>;

/**
 * How far each agent was considered for what waits. Positions of an agent that leaves are kept, so
 * that attaching again costs no more than staying.
 */
export class AgentQueues {
  readonly #store: Pick<Store, "waiting">;
  /**
   * The targets that handoffs may be waiting for, each with the number of the last note about it. For
   * any other target the store need not be asked.
   */
  readonly #waitedFor = new Map<string, number>();
  #notes = 0;
  readonly #attached = new Map<AgentSession, Queues>();
  /** The queues of disconnected agents, in the order in which they left. */
  readonly #away = new Map<string, Queues>();
  readonly #byTarget = new Map<string, Set<WaitingQueue>>();

  constructor(store: Pick<Store, "waiting">) {
    this.#store = store;
  }

  /** Whether handoffs may be waiting for a target. */
  isWaitedFor(target: string): boolean {
    return this.#waitedFor.has(target);
  }

  /** Handoffs may be waiting for a target: the store is asked again. */
  noteTarget(target: string): void {
    if (!this.isWaitedFor(target)) this.#waitedFor.set(target, ++this.#notes);
  }

  /** A handoff has begun to wait, and the store shows it. */
  noteWaiting(stored: StoredHandoff): void {
    const { waitsFor } = stored;
    if (waitsFor === null) return;
    this.#waitedFor.set(waitsFor, ++this.#notes);
    for (const queue of this.#byTarget.get(waitsFor) ?? []) queue.note(stored);
  }

  /** The store does not know whether this commit is on disk. */
  noteUnknownCommit({ waitsFor }: StoredHandoff): void {
    if (waitsFor === null) return;
    this.#waitedFor.set(waitsFor, ++this.#notes);
    this.restartTarget(waitsFor);
  }

  /** All agents are considered again for what waits for a target. */
  restartTarget(target: string): void {
    for (const queue of this.#byTarget.get(target) ?? []) queue.restart();
  }

  /** An agent that has left is considered again for what waits for a target, once it is back. */
  restartAway(agent: string, target: string): void {
    this.#away.get(agent)?.get(target)?.restart();
  }

  /** An attached agent is considered again for what waits for a target. */
  restart(attached: AgentSession, target: string): void {
    this.#attached.get(attached)?.get(target)?.restart();
  }

  /** The queues of an agent, which include these targets. */
  of(attached: AgentSession, targets: readonly string[]): ReadonlyMap<string, WaitingQueue> {
    const { agent } = attached;
    const all = this.#attached.get(attached) ?? this.#away.get(agent) ?? new Map();
    this.#away.delete(agent);
    this.#attached.set(attached, all);
    for (const target of targets) {
      if (all.has(target)) continue;
      const queue = new WaitingQueue(target, (_, page) => this.#page(target, page));
      all.set(target, queue);
      const others = this.#byTarget.get(target);
      if (others === undefined) this.#byTarget.set(target, new Set([queue]));
      else others.add(queue);
    }
    return all;
  }

  /** Whether these are still the queues of an agent: they were neither put aside nor forgotten. */
  areOf(attached: AgentSession, queues: ReadonlyMap<string, WaitingQueue>): boolean {
    return this.#attached.get(attached) === queues;
  }

  /** An agent has left. */
  putAside(attached: AgentSession): void {
    const { agent } = attached;
    const queues = this.#attached.get(attached);
    if (queues === undefined) return;
    this.#attached.delete(attached);
    this.#forgetAway(agent);
    this.#away.set(agent, queues);
    if (this.#away.size > AWAY_KEPT) this.#forgetAway(this.#away.keys().next().value!);
  }

  /** An attached agent is considered again for everything. */
  forget(attached: AgentSession): void {
    this.#drop(this.#attached.get(attached));
    this.#attached.delete(attached);
  }

  /** The same for all attachments of an agent, whether or not it is here. */
  forgetAgent(agent: string): void {
    this.#forgetAway(agent);
    for (const each of this.#attached.keys()) if (each.agent === agent) this.forget(each);
  }

  /** The same for all agents. */
  forgetAll(): void {
    for (const agent of this.#away.keys()) this.#forgetAway(agent);
    for (const attached of this.#attached.keys()) this.forget(attached);
  }

  #forgetAway(agent: string): void {
    this.#drop(this.#away.get(agent));
    this.#away.delete(agent);
  }

  #drop(queues: Queues | undefined): void {
    for (const [target, queue] of queues ?? []) {
      const others = this.#byTarget.get(target);
      others?.delete(queue);
      if (others?.size === 0) this.#byTarget.delete(target);
    }
  }

  async #page(target: string, page: Page<WaitingPlace>): Promise<readonly StoredHandoff[]> {
    const note = this.#waitedFor.get(target);
    const found = await this.#store.waiting(target, page);
    const isEmpty = page.after === undefined && found.length === 0;
    if (isEmpty && this.#waitedFor.get(target) === note) this.#waitedFor.delete(target);
    return found;
  }
}
