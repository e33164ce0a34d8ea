import type { VerifiedEnvelope } from "@waybill/protocol";
import type { Clock } from "@waybill/protocol/wire";
import type { Peers } from "./peers.ts";

/** The answers with one receipt come in one turn; a key may be revoked later. */
const SAME_FOR_MS = 1_000;

export interface ReceiptChecksOptions {
  /** The agent that the receipts are for. */
  readonly id: string;
  readonly clock: Clock;
  readonly peers: Pick<Peers, "verify">;
}

/** Verifies the hub's receipts. One that answers several envelopes in a row is verified once. */
export class ReceiptChecks {
  readonly #options: ReceiptChecksOptions;
  #last: { text: string; until: number; verified: Promise<VerifiedEnvelope> } | undefined;

  constructor(options: ReceiptChecksOptions) {
    this.#options = options;
  }

  verify(text: string): Promise<VerifiedEnvelope> {
    const { id, clock, peers } = this.#options;
    const now = clock.now();
    const last = this.#last;
    if (last?.text === text && now < last.until) return last.verified;
    const verified = peers.verify(text, { to: id, isForOne: true });
    const check = { text, until: now + SAME_FOR_MS, verified };
    this.#last = check;
    // The hub's key may be found at the next try.
    verified.catch(() => {
      if (this.#last === check) this.#last = undefined;
    });
    return verified;
  }
}
