import { WaybillError } from "@waybill/protocol";
import { BoundedCache, InFlight } from "@waybill/protocol/wire";
import type { Delivery } from "@waybill/protocol/wire";
import type { AgentContext } from "../context.ts";
import { Run } from "./run.ts";
import type { Offer, RunOptions } from "./run.ts";

type EnvelopeDelivery = Extract<Delivery, { type: "envelope" }>;

/** A bounded cache of this size keeps at least the latest half of them. */
const ATTEMPTS_REMEMBERED = 20_000;

/** The attempts that this process works on. Duplicates run once. */
export class Serving {
  readonly #context: AgentContext;
  readonly #options: RunOptions;
  readonly #runs = new InFlight<string, Run>();
  readonly #finished = new BoundedCache<string, true>(ATTEMPTS_REMEMBERED);
  #isStopping = false;

  constructor(options: Omit<RunOptions, "countered">) {
    this.#options = { ...options, countered: new BoundedCache(ATTEMPTS_REMEMBERED) };
    this.#context = options.context;
  }

  offered(offer: Offer): void {
    const { handoff_id: handoffId, attempt } = offer;
    const { link, log, id: agent } = this.#context;
    link.seen(offer.id);
    const name = `${handoffId}/${attempt}`;
    const isKnown = this.#runs.has(name) || this.#finished.get(name) === true;
    if (this.#isStopping && !isKnown) return;
    if (!offer.is_accepted) link.taken(handoffId, attempt);
    if (isKnown) {
      this.#answeredMeanwhile(offer);
      return;
    }
    log({ event: "offered", agent, handoffId, attempt });
    const run = new Run(offer, this.#options);
    this.#runs.set(name, run);
    void run.work().then(() => {
      this.#runs.delete(name);
      this.#finished.set(name, true);
    });
  }

  /** A hub that took an answer while this agent was not attached sends it with the offer. */
  #answeredMeanwhile({
    handoff_id: handoffId,
    attempt,
    answers,
    received_at: receivedAt,
  }: Offer): void {
    const running = this.#runs.get(`${handoffId}/${attempt}`);
    if (running === undefined) return;
    const { log, id: agent } = this.#context;
    for (const answer of answers) {
      running
        .answered(answer, receivedAt)
        .catch((error: unknown) => log({ event: "failure", agent, handoffId, attempt, error }));
    }
  }

  stopped({
    handoff_id: handoffId,
    attempt,
    status,
    reason,
  }: Extract<Delivery, { type: "stop" }>): void {
    const { log, id: agent } = this.#context;
    const found = this.#runs.get(`${handoffId}/${attempt}`);
    if (found === undefined) return;
    log({ event: "stopped", agent, handoffId, attempt, status });
    found.close(new WaybillError(status, reason));
  }

  /** Passes an answer to the attempt that waits for it. */
  async answered({
    handoff_id: handoffId,
    envelope,
    received_at: receivedAt,
  }: EnvelopeDelivery): Promise<boolean> {
    let isExpected = false;
    for (const run of this.#runs.values()) {
      if (run.handoffId !== handoffId) continue;
      isExpected = true;
      await run.answered(envelope, receivedAt);
    }
    return isExpected;
  }

  /** Waits until the work is done. Its results may still be on their way. */
  async finish(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#runs.values()].map((run) => run.worked));
  }

  /** Returns the work to the hub. */
  release(reason: string): void {
    this.#isStopping = true;
    const { log, id: agent } = this.#context;
    for (const run of this.#runs.values()) {
      const { handoffId, attempt } = run;
      run
        .release(reason)
        .catch((error: unknown) => log({ event: "failure", agent, handoffId, attempt, error }));
    }
  }

  abandon(reason: WaybillError): void {
    this.#isStopping = true;
    for (const run of this.#runs.values()) run.close(reason);
  }
}
