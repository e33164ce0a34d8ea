/// <reference types="node" />
import { FairQueue } from "../../fair-queue.ts";

type Work = () => void;

/** A job costs this much at least, so that those who do little in many jobs pay too. */
const LEAST_MS = 0.02;
/** All strangers stand in the queue as one. No agent has this name. */
const STRANGERS = "strangers";

/**
 * Shares the event loop among those who ask. In one turn of it so much is done; what is more waits in
 * a queue in which an agent that asks little is never behind those who ask much, and strangers together
 * count as one agent. Where nobody waits, everything is done at once.
 */
export class Turns {
  readonly #turnMs: number;
  readonly #waited: () => void;
  readonly #queue = new FairQueue<Work>();
  readonly #strangers = new FairQueue<Work>();
  #spentMs = 0;
  #isArmed = false;

  /** `waited`: hears of everything that is put off. */
  constructor(turnMs: number, waited: () => void) {
    this.#turnMs = turnMs;
    this.#waited = waited;
  }

  /** Does something for an agent. */
  run(agent: string, work: Work): void {
    if (this.#queue.isEmpty && this.#spentMs < this.#turnMs) return this.#do(agent, work);
    this.#waited();
    this.#queue.push(agent, work);
    this.#arm();
  }

  /** Does something for nobody known; `address` is where it comes from. */
  runForStranger(address: string, work: Work): void {
    if (this.#queue.isEmpty && this.#spentMs < this.#turnMs) return this.#do(STRANGERS, work);
    this.#waited();
    this.#strangers.push(address, work);
    this.#queue.push(STRANGERS, () => {
      const { name, job } = this.#strangers.next()!;
      this.#strangers.charge(name, timed(job));
    });
    this.#arm();
  }

  #do(name: string, work: Work): void {
    const ms = timed(work);
    this.#spentMs += ms;
    this.#queue.charge(name, ms);
    // The turn ends there, also where nothing is put off.
    this.#arm();
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isArmed = false;
    this.#spentMs = 0;
    while (!this.#queue.isEmpty && this.#spentMs < this.#turnMs) {
      const { name, job } = this.#queue.next()!;
      this.#do(name, job);
    }
  }
}

function timed(work: Work): number {
  const since = performance.now();
  work();
  return Math.max(LEAST_MS, performance.now() - since);
}
