import { knownBy } from "./actor.ts";
import type { Actor, Known } from "./actor.ts";
import type { Attacker } from "./attacker.ts";
import { attach } from "./line.ts";
import type { Line } from "./line.ts";

export interface Offered {
  readonly handoff: Known;
  readonly attempt: number;
  /** What the hub knows of the handoff's session. */
  readonly session?: string;
}

export interface Pair {
  readonly delegator: Actor;
  readonly recipient: Actor;
  /** The recipient's line. */
  readonly line: Line;
}

const CREDIT = 10_000;

/** A delegator and an attached recipient that treats each offer as instructed. */
export async function pair(
  attacker: Attacker,
  offered: (offer: Offered, pair: Pair) => Promise<unknown>,
  capability: object = {},
): Promise<Pair> {
  const recipient = await attacker.enrolled([{ name: "work", ...capability }]);
  const delegator = await attacker.enrolled();
  const line = await attach(attacker, recipient, {
    credit: CREDIT,
    delivered: (delivery, on) => {
      if (delivery["type"] !== "offer") return;
      attacker.count("offered");
      const handoff = knownBy(String(delivery["envelope"]));
      const attempt = Number(delivery["attempt"]);
      const session = delivery["session"];
      const offer = {
        handoff,
        attempt,
        ...(session !== undefined && { session: session as string }),
      };
      void attacker.bear(() => offered(offer, { delegator, recipient, line: on }));
    },
  });
  return { delegator, recipient, line };
}

/** Accepts an offer: the frame that starts the lease, and the signed acceptance. */
export async function accept(
  { handoff, attempt }: Offered,
  { recipient, line }: Pair,
): Promise<number> {
  line.say({ type: "taken", handoff_id: handoff.handoffId, attempt });
  const envelope = recipient.about(handoff, "receipt", { status: 101 }, { attempt });
  return line.call("submit", { envelope });
}
