import { digestOf, signCompact } from "@waybill/protocol";
import { signCompactBatch } from "@waybill/protocol/hub";
import type {
  Digest,
  Envelope,
  PrivateKey,
  ReceiptEnvelope,
  StatusCode,
  VerifiedEnvelope,
} from "@waybill/protocol";
import type { Clock } from "../clock.ts";

interface PendingReceipt {
  readonly receipt: ReceiptEnvelope;
  resolve(receipt: VerifiedEnvelope): void;
  reject(error: unknown): void;
}

/**
 * So many go on in one turn. What they are for is committed next, and the store is at work on the
 * first of them while the hub makes the others.
 */
const GIVEN_AT_ONCE = 32;

/** Custody receipts: those that fall due in one turn share one signature. */
export class Receipts {
  readonly #hub: string;
  readonly #key: PrivateKey;
  readonly #clock: Clock;
  readonly #newId: () => string;
  #waiting: PendingReceipt[] = [];

  constructor(hub: string, key: PrivateKey, clock: Clock, newId: () => string) {
    this.#hub = hub;
    this.#key = key;
    this.#clock = clock;
    this.#newId = newId;
  }

  /** The custody receipt for an envelope. It must not leave before the commit that makes it true. */
  sign(
    envelope: Envelope,
    digest: Digest,
    status: StatusCode,
    id: string = this.#newId(),
  ): Promise<VerifiedEnvelope> {
    const { traceparent } = envelope;
    const receipt: ReceiptEnvelope = {
      waybill: 1,
      kind: "receipt",
      id,
      from: this.#hub,
      to: envelope.from,
      handoff_id: envelope.handoff_id,
      correlation_id: envelope.correlation_id,
      issued_at: new Date(this.#clock.now()).toISOString(),
      ...(traceparent === undefined ? {} : { traceparent }),
      re: digest,
      body: { status },
    };
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ receipt, resolve, reject }) > 1) return;
      this.#clock.setTimer(this.#clock.now(), () => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      // Made here of what was verified, so that nothing of it needs to be checked once more.
      const payloads = waiting.map(({ receipt }) => JSON.stringify(receipt));
      const [first] = payloads;
      const texts =
        payloads.length === 1
          ? [signCompact(first!, this.#key)]
          : signCompactBatch(payloads, this.#key);
      this.#give(waiting, texts, 0);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  #give(waiting: readonly PendingReceipt[], texts: readonly string[], from: number): void {
    const end = Math.min(from + GIVEN_AT_ONCE, waiting.length);
    for (let index = from; index < end; index++) {
      const { receipt: envelope, resolve } = waiting[index]!;
      const text = texts[index]!;
      resolve({ envelope, text, digest: digestOf(text), kid: this.#key.kid });
    }
    if (end === waiting.length) return;
    this.#clock.setTimer(this.#clock.now(), () => this.#give(waiting, texts, end));
  }
}
