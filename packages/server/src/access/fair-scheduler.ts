/// <reference types="node" />
import { FairQueue } from "@waybill/hub/serving";

type Work = () => void;

/** The minimum cost of a job, so that a client with many small jobs pays too. */
const LEAST_MS = 0.02;
/** The name under which all strangers share one place in the queue. No agent has it. */
const STRANGERS = "(strangers)";

/** The client of a job: an agent, or an unknown one at an address. */
interface Payer {
  readonly name: string;
  readonly address?: string;
}

/**
 * Shares the event loop fairly among callers. Each turn of the loop has a time limit, and the rest of
 * the jobs wait in a queue. In it, an agent with few requests is never behind agents with many, and all
 * strangers together count as one agent. If nothing waits, a job runs at once.
 *
 * A job lasts until the promises that it has settled have run, and no other job starts before that.
 * Most of the work for a request happens there: reading the store, writing the answer.
 */
export class FairScheduler {
  readonly #turnMs: number;
  readonly #waited: () => void;
  readonly #now: () => number;
  readonly #queue = new FairQueue<Work>();
  readonly #strangers = new FairQueue<Work>();
  #spentMs = 0;
  #isArmed = false;
  #isAtWork = false;

  /** `waited` is called for each turn that ends with work left over. */
  constructor(turnMs: number, waited: () => void, now: () => number = () => performance.now()) {
    this.#turnMs = turnMs;
    this.#waited = waited;
    this.#now = now;
  }

  /** Runs a job for an agent. */
  run(agent: string, work: Work): void {
    if (this.#isFree) return this.#do({ name: agent }, work);
    this.#queue.push(agent, work);
  }

  /** Runs a job for an unknown client at `address`. */
  runForStranger(address: string, work: Work): void {
    if (this.#isFree) return this.#do({ name: STRANGERS, address }, work);
    this.#strangers.push(address, work);
    this.#queue.push(STRANGERS, NOTHING);
  }

  /** Settles when it is the agent's turn. Work that follows synchronously belongs to the turn. */
  next(agent: string): Promise<void> {
    return new Promise((resolve) => this.run(agent, resolve));
  }

  get #isFree(): boolean {
    return this.#queue.isEmpty && !this.#isAtWork && this.#spentMs < this.#turnMs;
  }

  #do(payer: Payer, work: Work): void {
    const since = this.#now();
    this.#isAtWork = true;
    // This tick comes after all promise reactions have run.
    queueMicrotask(() => process.nextTick(() => this.#done(payer, since)));
    work();
  }

  #done({ name, address }: Payer, since: number): void {
    const ms = Math.max(LEAST_MS, this.#now() - since);
    this.#spentMs += ms;
    this.#queue.charge(name, ms);
    if (address !== undefined) this.#strangers.charge(address, ms);
    this.#isAtWork = false;
    // The turn ends there, even if nothing is deferred.
    this.#arm();
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isAtWork || this.#queue.isEmpty) return;
    if (this.#spentMs >= this.#turnMs) return this.#waited();
    const { name, job } = this.#queue.next()!;
    if (name !== STRANGERS) return this.#do({ name }, job);
    const stranger = this.#strangers.next()!;
    this.#do({ name, address: stranger.name }, stranger.job);
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    setImmediate(() => {
      this.#isArmed = false;
      this.#spentMs = 0;
      this.#goOn();
    });
  }
}

/** The place of strangers in the queue; which of them is next is decided when their turn comes. */
const NOTHING: Work = () => undefined;
