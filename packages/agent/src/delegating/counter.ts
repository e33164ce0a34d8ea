import { derivedId, judgeCounter, newSalt, WaybillError } from "@waybill/protocol";
import type { Contract, HandoffEnvelope, Source } from "@waybill/protocol";

/** The terms that a recipient offers in its 406. */
export interface CounterOffer {
  /** The terms on which the recipient would take the work. */
  readonly contract: Contract;
  readonly by: string;
  readonly reason: string;
}

/**
 * When to accept a counter-offer. A contract states limits for the terms that the handoff did not get;
 * a function decides.
 */
export type CounterRule = Contract | ((counter: CounterOffer) => boolean | Promise<boolean>);

type CounterCause = Omit<CounterOffer, "contract"> & { readonly counter?: Contract };

/**
 * The counter-offer of a handoff that has ended with a 406; undefined if the error has none.
 *
 * @example
 * ```ts
 * const counter = counterOf(await handoff.result.catch((error: unknown) => error));
 * if (counter !== undefined) agent.handoff(research, { input, contract: counter.contract });
 * ```
 */
export function counterOf(error: unknown): CounterOffer | undefined {
  if (!WaybillError.is(error, 406)) return undefined;
  const { counter, by, reason } = (error.cause ?? {}) as CounterCause;
  return counter === undefined ? undefined : { contract: counter, by, reason };
}

export async function isAccepted(
  rule: CounterRule,
  counter: CounterOffer,
  offer: Contract | undefined,
): Promise<boolean> {
  if (typeof rule === "function") return rule(counter);
  return judgeCounter(counter.contract, offer, rule).verdict === "accept";
}

/**
 * The same work with the terms of the counter-offer. Its id is derived from the first one's, so that
 * it is found after a crash and not handed off twice.
 */
export function counteredHandoff(
  handoff: HandoffEnvelope,
  contract: Contract,
  source: Source,
): HandoffEnvelope {
  return {
    ...handoff,
    id: source.newId(),
    issued_at: new Date(source.now()).toISOString(),
    salt: (source.newSalt ?? newSalt)(),
    handoff_id: derivedId("counter-offer", handoff.handoff_id),
    replay_of: handoff.handoff_id,
    body: { ...handoff.body, contract },
  };
}
