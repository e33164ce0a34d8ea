/// <reference types="node" />
import { FairQueue } from "@waybill/hub/serving";

type Work = () => void;

/** The minimum cost of a job, so that a client with many small jobs pays too. */
const LEAST_MS = 0.02;
/** The names under which many share one place in the queue. No agent has them. */
const STRANGERS = "(strangers)";
const TRANSFERS = "(transfers)";

/** Whose job it is: an agent's, or that of a member of those who share a place. */
interface Payer {
  readonly name: string;
  readonly member?: string;
}

/**
 * Shares the event loop fairly among callers. Each turn of the loop has a time limit, and the rest of
 * the jobs wait in a queue. In it, an agent with few requests is never behind agents with many. All
 * strangers together count as one agent, and so do all transfers of blobs and histories: they take
 * what others leave. If nothing waits, a job runs at once.
 *
 * A job lasts until the promise callbacks that it triggers have run, and no other job starts before.
 * Most of the work for a request happens there: reading the store, writing the answer.
 */
export class FairScheduler {
  readonly #turnMs: number;
  readonly #waited: () => void;
  readonly #now: () => number;
  readonly #queue = new FairQueue<Work>();
  readonly #shared = new Map(
    [STRANGERS, TRANSFERS].map((name) => [name, new FairQueue<Work>()] as const),
  );
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
    this.#enter({ name: agent }, work);
  }

  /** Runs a job for an unknown client at `address`. */
  runForStranger(address: string, work: Work): void {
    this.#enter({ name: STRANGERS, member: address }, work);
  }

  /** Settles when it is the agent's turn. Work that follows synchronously belongs to the turn. */
  next(agent: string): Promise<void> {
    return new Promise((resolve) => this.run(agent, resolve));
  }

  /**
   * Settles when the next piece of a transfer may be moved for an agent.
   */
  nextPiece(agent: string): Promise<void> {
    return new Promise((resolve) => this.#enter({ name: TRANSFERS, member: agent }, resolve));
  }

  #enter(payer: Payer, work: Work): void {
    if (this.#isFree) return this.#do(payer, work);
    const { name, member } = payer;
    if (member === undefined) return this.#queue.push(name, work);
    this.#shared.get(name)!.push(member, work);
    this.#queue.push(name, NOTHING);
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

  #done({ name, member }: Payer, since: number): void {
    const ms = Math.max(LEAST_MS, this.#now() - since);
    this.#spentMs += ms;
    this.#queue.charge(name, ms);
    if (member !== undefined) this.#shared.get(name)!.charge(member, ms);
    this.#isAtWork = false;
    // The turn ends there, even if nothing is deferred.
    this.#arm();
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isAtWork || this.#queue.isEmpty) return;
    if (this.#spentMs >= this.#turnMs) return this.#waited();
    const { name, job } = this.#queue.next()!;
    const shared = this.#shared.get(name)?.next();
    if (shared === undefined) this.#do({ name }, job);
    else this.#do({ name, member: shared.name }, shared.job);
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

/** A shared place in the queue; whose job is next is decided when its turn comes. */
const NOTHING: Work = () => undefined;
