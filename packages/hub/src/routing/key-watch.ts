import { isKeyValidAt, WaybillError } from "@waybill/protocol";
import type { KeyRecord } from "@waybill/protocol";
import { endedKeyAdvice } from "@waybill/protocol/wire";
import type { Clock } from "@waybill/protocol/wire";
import type { AgentSession } from "./agent-session.ts";

export interface KeyWatchOptions {
  readonly attached: ReadonlyMap<string, AgentSession>;
  readonly clock: Clock;
  /** Any agent's key, including retired ones. */
  readonly keyOf: (kid: string) => Promise<KeyRecord | undefined>;
  readonly inBackground: (work: Promise<unknown>) => void;
}

/** The longest delay of Node's timers. */
const TIMER_MOST_MS = 2 ** 31 - 1;

/**
 * Ends attachments with the keys that opened them, at once when a manifest drops the key or it
 * expires, so that the holder of a revoked key gets nothing more.
 */
export class KeyWatch {
  readonly #options: KeyWatchOptions;
  readonly #timers = new WeakMap<AgentSession, () => void>();

  constructor(options: KeyWatchOptions) {
    this.#options = options;
  }

  /** A manifest of this agent was published. */
  async check(agent: string): Promise<void> {
    const attached = this.#options.attached.get(agent);
    if (attached !== undefined) await this.look(attached);
  }

  /** Ends an attachment if none of its keys is valid, or checks again when one expires. */
  async look(attached: AgentSession): Promise<void> {
    const { clock, keyOf } = this.#options;
    const { agent, kids } = attached;
    if (kids === undefined) return;
    const records = await Promise.all(kids.map((kid) => keyOf(kid)));
    // Another key may have been proven meanwhile.
    if (!attached.isOpen) return;
    if (attached.kids !== kids) return this.look(attached);
    const now = clock.now();
    const valid = records.filter(
      (record) => record?.agent === agent && isKeyValidAt(record, now),
    ) as KeyRecord[];
    if (valid.length === 0) {
      const message = `The key ${kids.join(", ")} is not a current key of ${agent} any more. ${endedKeyAdvice(agent)}`;
      return attached.end(new WaybillError(401, message));
    }
    this.#arm(attached, Math.max(...valid.map(({ notAfter }) => notAfter)));
  }

  #arm(attached: AgentSession, until: number): void {
    const { clock, inBackground } = this.#options;
    this.#timers.get(attached)?.();
    if (until === Infinity) return;
    const at = Math.min(until, clock.now() + TIMER_MOST_MS);
    const disarm = clock.setTimer(at, () => inBackground(this.look(attached)));
    this.#timers.set(attached, disarm);
    void attached.closed.then(disarm);
  }
}
