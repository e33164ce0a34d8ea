import { signEnvelopes } from "@waybill/protocol";
import type { Envelope, SignedText } from "@waybill/protocol";
import type { Clock } from "@waybill/protocol/wire";
import type { OwnKey } from "../identity/own-key.ts";

interface PendingSignature {
  readonly envelope: Envelope;
  resolve(signed: SignedText): void;
  reject(error: unknown): void;
}

/** How many are sent per turn, so that the first are processed before the last are sent. */
const SIGNATURES_PER_TURN = 32;

/** Signs what an agent sends: everything in one turn shares one signature. */
export class Signer {
  readonly #key: OwnKey;
  readonly #clock: Clock;
  #waiting: PendingSignature[] = [];

  constructor(key: OwnKey, clock: Clock) {
    this.#key = key;
    this.#clock = clock;
  }

  sign(envelope: Envelope): Promise<SignedText> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ envelope, resolve, reject }) > 1) return;
      this.#clock.setTimer(this.#clock.now(), () => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const signed = signEnvelopes(
        waiting.map(({ envelope }) => envelope),
        this.#key.current,
      );
      this.#give(waiting, signed, 0);
    } catch {
      // One that can't be signed must not fail the others.
      for (const { envelope, resolve, reject } of waiting) {
        try {
          resolve(signEnvelopes([envelope], this.#key.current)[0]!);
        } catch (error) {
          reject(error);
        }
      }
    }
  }

  #give(waiting: readonly PendingSignature[], signed: readonly SignedText[], from: number): void {
    const end = Math.min(from + SIGNATURES_PER_TURN, waiting.length);
    for (let index = from; index < end; index++) waiting[index]!.resolve(signed[index]!);
    if (end === waiting.length) return;
    this.#clock.setTimer(this.#clock.now(), () => this.#give(waiting, signed, end));
  }
}
