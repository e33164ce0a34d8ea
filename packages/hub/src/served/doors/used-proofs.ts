import { WaybillError } from "@waybill/protocol";
import { tooMany } from "./rates.ts";

/** Which proofs were used: whoever overhears a request can't send it again. */
export class UsedProofs {
  readonly #windowMs: number;
  readonly #most: number;
  /** By agent, then by id, in the order in which they came: until when each would be believed. */
  readonly #agents = new Map<string, Map<string, number>>();

  constructor(clockSkewMs: number, most: number) {
    // One from the far end of the clock's leeway is believed until it is at the near end.
    this.#windowMs = 2 * clockSkewMs;
    this.#most = most;
  }

  use(agent: string, id: string, now: number): void {
    let used = this.#agents.get(agent);
    if (used === undefined) {
      this.#forget(now);
      this.#agents.set(agent, (used = new Map()));
    }
    for (const [old, until] of used) {
      if (until > now) break;
      used.delete(old);
    }
    if (used.has(id)) {
      throw new WaybillError(
        401,
        "This very proof was used before; sign each request anew, a repeated one too.",
      );
    }
    if (used.size >= this.#most) throw tooMany(agent, this.#windowMs);
    used.set(id, now + this.#windowMs);
  }

  #forget(now: number): void {
    for (const [agent, used] of this.#agents) {
      const last = [...used.values()].at(-1) ?? 0;
      if (last <= now) this.#agents.delete(agent);
    }
  }
}
