import type { Clock } from "@waybill/protocol/wire";
import type { Link } from "../link/link.ts";

const BEATS_PER_LEASE = 3;

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly link: Pick<Link, "isAttached" | "heartbeat">;
  readonly handoffId: string;
  readonly attempt: number;
  readonly leaseMs: number;
  /** True while there is no lease to lose. */
  readonly isSuspended: () => boolean;
  /** The hub was unreachable for longer than the lease. */
  readonly lost: () => void;
}

/** Keeps the lease of one attempt while its work runs. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #lastBeat: number;
  #disarm: (() => void) | undefined;
  #isStopped = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#lastBeat = options.clock.now();
  }

  start(): void {
    const { clock, leaseMs } = this.#options;
    this.#disarm = clock.setTimer(clock.now() + Math.max(1, leaseMs / BEATS_PER_LEASE), () =>
      this.#beat(),
    );
  }

  stop(): void {
    this.#isStopped = true;
    this.#disarm?.();
  }

  #beat(): void {
    if (this.#isStopped) return;
    const { clock, link, handoffId, attempt, leaseMs, isSuspended, lost } = this.#options;
    const now = clock.now();
    if (link.isAttached || isSuspended()) this.#lastBeat = now;
    if (link.isAttached) link.heartbeat(handoffId, attempt);
    else if (now - this.#lastBeat > leaseMs) lost();
    this.start();
  }
}
