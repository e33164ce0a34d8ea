import { createReply, LIMITS, statusOf, WaybillError } from "@waybill/protocol";
import type {
  Digest,
  HandoffEnvelope,
  RefusedHandoff,
  Source,
  StatusCode,
} from "@waybill/protocol";
import type { Clock, Hub } from "@waybill/protocol/wire";
import type { Link } from "../link/link.ts";
import type { Signer } from "../link/signer.ts";

/** An end to acknowledge. */
export interface EndedHandoff {
  readonly handoff: HandoffEnvelope;
  readonly ending: Digest;
  /** Until when to retry. */
  readonly until: number;
}

export interface AcknowledgementsOptions {
  readonly id: string;
  readonly hub: Hub;
  readonly clock: Clock;
  readonly source: Source;
  readonly link: Link;
  readonly signer: Signer;
}

interface Pending extends EndedHandoff {
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Tells the hub which ends were processed, so that they are not delivered again: those of one turn
 * share one envelope.
 */
export class Acknowledgements {
  readonly #options: AcknowledgementsOptions;
  #waiting: Pending[] = [];

  constructor(options: AcknowledgementsOptions) {
    this.#options = options;
  }

  /** Settles with the hub's answer for this handoff. */
  send(ended: EndedHandoff): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ ...ended, resolve, reject }) > 1) return;
      clock.setTimer(clock.now(), () => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const most = LIMITS.alsoListed + 1;
    for (let from = 0; from < waiting.length; from += most) {
      const list = waiting.slice(from, from + most);
      if (list.length === 1) this.#sendAlone(list[0]!);
      else void this.#sendTogether(list);
    }
  }

  async #sendTogether(list: readonly Pending[]): Promise<void> {
    const until = Math.min(...list.map((each) => each.until));
    let refused: readonly RefusedHandoff[];
    try {
      refused = await this.#submit(list, until);
    } catch {
      // Each has its own time and its own answer.
      for (const each of list) this.#sendAlone(each);
      return;
    }
    const statuses = new Map(refused.map(({ handoff_id: id, status }) => [id, status]));
    for (const { handoff, resolve, reject } of list) {
      const status = statuses.get(handoff.handoff_id);
      if (status === undefined) resolve();
      else reject(refusal(handoff, status));
    }
  }

  #sendAlone(one: Pending): void {
    this.#submit([one], one.until).then(() => one.resolve(), one.reject);
  }

  /** Returns what the hub has refused. */
  async #submit(list: readonly EndedHandoff[], until: number): Promise<readonly RefusedHandoff[]> {
    const { id: from, hub, source, signer, link } = this.#options;
    const [{ handoff, ending: re }, ...others] = list as [EndedHandoff, ...EndedHandoff[]];
    const also = others.map((each) => ({ handoff_id: each.handoff.handoff_id, re: each.ending }));
    const body = { status: 200, ...(also.length > 0 && { also }) } as const;
    const receipt = createReply(handoff, { kind: "receipt", from, to: hub.id, re, body }, source);
    const { envelope } = await link.submit(await signer.sign(receipt), until);
    return envelope.kind === "receipt" ? (envelope.body.refused ?? []) : [];
  }
}

function refusal({ handoff_id: id }: HandoffEnvelope, status: StatusCode): WaybillError {
  const { meaning } = statusOf(status);
  return new WaybillError(status, `The acknowledgement of ${id} is refused: ${meaning}`);
}
