import { WaybillError } from "@waybill/protocol";
import { signHello } from "@waybill/protocol/wire";
import type { ReceiptEnvelope, SignedText, VerifiedEnvelope } from "@waybill/protocol";
import type { Attachment, Clock, Delivery, Delta, Hub, ShownDelta } from "@waybill/protocol/wire";
import { deferred } from "../delegating/deferred.ts";
import type { OwnKey } from "../identity/own-key.ts";
import type { Log } from "../log.ts";
import { retryWhile } from "../retry.ts";
import type { Peers } from "./peers.ts";
import { ReceiptChecks } from "./receipt-checks.ts";

export interface LinkOptions {
  readonly id: string;
  readonly key: OwnKey;
  readonly hub: Hub;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly instance: string;
  readonly peers: Peers;
  readonly log: Log;
}

/** Receives what comes over one connection. */
export interface Arrivals {
  readonly receive: (delivery: Delivery) => void;
  /** A piece of what a recipient is writing for this agent. */
  readonly show: (delta: ShownDelta) => void;
  /** The connection is attached: deliveries can be acknowledged from now on. */
  attached(): void;
}

/** Receives what comes over a link. */
export interface Receiver {
  /** For a connection that is being made. */
  arrivals(): Arrivals;
  /** The hub refuses this agent: nothing more is delivered to it. */
  lose(reason: WaybillError): void;
}

const WAIT = { firstMs: 50, mostMs: 5_000 } as const;
/** How long to wait for an answer of the hub. A connection has shorter limits of its own. */
const SILENCE_MS = 60_000;
/** How long to wait for the only answer to a call that is made after its deadline. */
const LAST_ANSWER_MS = 30_000;
/**
 * Final answers to an attempt to attach. Everything else is retried, because without a connection
 * nothing is delivered.
 */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 403, 409]);

/**
 * An agent's connection to its hub: it reconnects, and resends everything until the hub has signed for
 * it.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #receipts: ReceiptChecks;
  #receiver: Receiver | undefined;
  #attachment: Attachment | undefined;
  #credit = 0;
  #state: "open" | "closed" | "abandoned" = "open";
  readonly #sleepers = new Set<() => void>();
  /** Disarms the timers of the answers under way. */
  readonly #waiting = new Set<() => void>();
  readonly #closing = deferred<never>();

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#receipts = new ReceiptChecks(options);
  }

  get isAttached(): boolean {
    return this.#attachment !== undefined;
  }

  get state(): "open" | "closed" | "abandoned" {
    return this.#state;
  }

  /** Who receives what comes. It has to be set before the link is opened. */
  receiveWith(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  /** Attaches, and reattaches whenever the connection is lost, until it is closed. */
  async open(credit: number): Promise<void> {
    this.#credit = credit;
    const { clock, id: agent, log } = this.#options;
    const until = clock.now() + SILENCE_MS;
    for (;;) {
      try {
        return await this.#attach();
      } catch (error) {
        // A script that is restarted often may exceed the hub's rate of attachments.
        if (!WaybillError.is(error, 301) || this.#state !== "open") throw error;
        const wait = Math.max(WAIT.firstMs, error.retryAfterMs ?? WAIT.mostMs);
        if (clock.now() + wait >= until) throw error;
        log({ event: "waiting", agent, error });
        await this.#sleep(wait);
        if (this.#state !== "open") throw error;
      }
    }
  }

  async #attach(): Promise<void> {
    const { hub, id: agent, instance, log } = this.#options;
    const credit = this.#credit;
    const proof = await this.within(this.#hello());
    const arrivals = this.#receiver!.arrivals();
    let isGivenUp = false;
    const request = { agent, credit, instance, proof };
    const attaching = hub.attach(request, arrivals.receive, arrivals.show);
    attaching.then(
      (late) => (isGivenUp ? late.close() : undefined),
      () => undefined,
    );
    const attachment = await this.within(attaching).catch((error: unknown) => {
      isGivenUp = true;
      throw error;
    });
    if (this.#state !== "open") return attachment.close();
    this.#attachment = attachment;
    if (this.#credit !== credit) attachment.setCredit(this.#credit);
    log({ event: "attached", agent });
    arrivals.attached();
    attachment.closed.then(
      (reason) => this.#cut(attachment, reason),
      () => undefined,
    );
  }

  #cut(attachment: Attachment, reason: WaybillError | undefined): void {
    if (this.#attachment !== attachment) return;
    this.#attachment = undefined;
    const { id: agent, log } = this.#options;
    log({ event: "detached", agent, error: reason });
    if (this.#state !== "open" || reason === undefined) return;
    // 409: another process has attached as this agent. Reattaching would only replace it in turn.
    if (reason.status === 409) return this.#receiver?.lose(reason);
    this.#attachAgain().catch((error: unknown) => {
      log({ event: "failure", agent, error });
      this.#receiver?.lose(WaybillError.from(error));
    });
  }

  async #attachAgain(): Promise<void> {
    const { id: agent, log } = this.#options;
    const attach = async (): Promise<void> => {
      if (this.#state === "open") await this.#attach();
    };
    const mayRetry = (error: unknown): boolean => {
      if (REFUSED.has(WaybillError.from(error).status)) return false;
      if (!WaybillError.is(error, 503)) log({ event: "failure", agent, error });
      return true;
    };
    await retryWhile(attach, { waitMs, sleep: (ms) => this.#sleep(ms), mayRetry });
  }

  async #hello(): Promise<string> {
    const { id, key, hub, clock, newId, instance } = this.#options;
    const nonce = await hub.challenge?.();
    const at = clock.now();
    const { id: to, domain } = hub;
    return signHello({ from: id, to, domain, instance, id: newId(), at, nonce }, key.current);
  }

  /**
   * Sends until the hub has it, at the latest until `until`. The bytes are the same each time, so that
   * the hub takes them once. Returns the hub's receipt, verified.
   */
  async submit({ text, digest }: SignedText, until: number): Promise<VerifiedEnvelope> {
    const { hub, id } = this.#options;
    return this.retry(async () => {
      // A `RemoteHub` (connect/remote-hub.ts), or the hub of this process (`openHub`).
      const receipt = await hub.submit(text, id);
      return this.#checked(await this.#receipts.verify(receipt), digest);
    }, until);
  }

  /**
   * Retries until the hub answers, at the latest until `until`. A reachable hub that does not answer
   * is given up then as well.
   */
  retry<Value>(ask: () => Promise<Value>, until: number): Promise<Value> {
    const now = this.#options.clock.now();
    const at = until > now ? until : now + LAST_ANSWER_MS;
    return this.#answered(this.#retry(ask, until), at, 504);
  }

  /** Waits for an answer without a deadline, but not forever, and only until this agent has stopped. */
  within<Value>(answer: Promise<Value>): Promise<Value> {
    const either = Promise.race([answer, this.#closing.promise]);
    return this.#answered(either, this.#options.clock.now() + SILENCE_MS, 503);
  }

  async #answered<Value>(answer: Promise<Value>, at: number, status: 503 | 504): Promise<Value> {
    const { clock, hub } = this.#options;
    const silence = deferred<never>();
    const disarm = clock.setTimer(at, () => {
      const message = `The hub ${hub.id} has not answered. It may or may not have acted. You can safely send the same request again: the hub applies it once.`;
      silence.reject(new WaybillError(status, message));
    });
    this.#waiting.add(disarm);
    try {
      return await Promise.race([answer, silence.promise]);
    } finally {
      disarm();
      this.#waiting.delete(disarm);
    }
  }

  #retry<Value>(ask: () => Promise<Value>, until: number): Promise<Value> {
    const { clock } = this.#options;
    const attempt = async (): Promise<Value> => {
      if (this.#state === "abandoned") await new Promise<never>(() => undefined);
      return ask();
    };
    const mayRetry = (error: unknown, wait: number): boolean =>
      WaybillError.is(error, 503) && clock.now() + wait < until && this.#state === "open";
    return retryWhile(attempt, { waitMs, sleep: (ms) => this.#sleep(ms), mayRetry });
  }

  #checked(receipt: VerifiedEnvelope, digest: string): VerifiedEnvelope {
    const { envelope } = receipt;
    const isOurs = envelope.kind === "receipt" && isConfirmed(digest, envelope);
    if (isOurs && envelope.from === this.#options.hub.id) return receipt;
    throw new WaybillError(
      401,
      `The hub ${this.#options.hub.id} returned the wrong receipt: it is from ${envelope.from}, for another envelope.`,
    );
  }

  taken(handoffId: string, attempt: number): void {
    this.#attachment?.taken(handoffId, attempt);
  }

  heartbeat(handoffId: string, attempt: number): void {
    this.#attachment?.heartbeat(handoffId, attempt);
  }

  /** Dropped while disconnected: the result has the whole text. */
  delta(delta: Delta): void {
    this.#attachment?.delta(delta);
  }

  seen(deliveryId: string): void {
    this.#attachment?.seen(deliveryId);
  }

  setCredit(credit: number): void {
    this.#credit = credit;
    this.#attachment?.setCredit(credit);
  }

  /** `abandoned`: nothing more is sent, as if the process were dead. */
  async close(how: "closed" | "abandoned"): Promise<void> {
    this.#state = how;
    for (const wake of this.#sleepers) wake();
    if (how === "abandoned") for (const disarm of this.#waiting) disarm();
    else this.#closing.reject(closedHere(this.#options.id));
    const attachment = this.#attachment;
    this.#attachment = undefined;
    if (attachment === undefined) return;
    // A connection that does not close must not block the stop.
    const { clock } = this.#options;
    const closed = this.#answered(attachment.close(), clock.now() + LAST_ANSWER_MS, 503);
    await closed.catch(() => undefined);
  }

  #sleep(ms: number): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const wake = () => {
        disarm();
        this.#sleepers.delete(wake);
        resolve();
      };
      const disarm = clock.setTimer(clock.now() + ms, wake);
      this.#sleepers.add(wake);
    });
  }
}

/** A digest belongs to one envelope, and with it to one handoff. */
function isConfirmed(digest: string, { re, body: { also = [] } }: ReceiptEnvelope): boolean {
  return re === digest || also.some((each) => each.re === digest);
}

function waitMs(failures: number): number {
  return Math.min(WAIT.firstMs * 2 ** (failures - 1), WAIT.mostMs);
}

function closedHere(agent: string): WaybillError {
  return new WaybillError(
    503,
    `${agent} closed its connection to the hub before the answer arrived.`,
  );
}
