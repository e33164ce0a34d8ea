import type { HandoffEnvelope } from "./envelope/envelope.ts";
import { WaybillError } from "./error.ts";
import type { Asker } from "./manifest/takes-from.ts";

/** The group of the agents that may act for others. An operator decides who is in it. */
const EDGES = "edges";

/** Visible ASCII without a space: names of accounts and e-mail addresses fit. */
export const ON_BEHALF_OF: RegExp = /^[!-~]{1,128}$/;

/** A handoff, as far as it says who wants the work. */
type Wanting = Pick<HandoffEnvelope, "from" | "on_behalf_of">;

/** Whether a value can be the `on_behalf_of` of a handoff. */
export function isOnBehalfOf(value: unknown): value is string {
  return typeof value === "string" && ON_BEHALF_OF.test(value);
}

/**
 * For whom a handoff is made: its delegator, or a name that the delegator has given, behind its own id
 * and a slash. No agent has a slash in its id, so a principal of one delegator is never taken for an
 * agent, or for a principal of another delegator.
 */
export function principalOf({ from, on_behalf_of: name }: Wanting): string {
  return name === undefined ? from : `${from}/${name}`;
}

/** The id of an agent, or of one that acts for somebody, a slash, and for whom. */
export const PRINCIPAL: RegExp = /^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?(?:\/[!-~]{1,128})?$/;

/** Whether a value can name a principal: an agent, or somebody for whom one acts. */
export function isPrincipal(value: string): boolean {
  return PRINCIPAL.test(value);
}

/** Refuses an agent that acts for somebody and is in none of the groups whose members may. */
export function checkMayActFor(
  { from, on_behalf_of: name }: Wanting,
  groups: readonly string[],
): void {
  if (name === undefined || groups.includes(EDGES)) return;
  throw new WaybillError(
    403,
    `${from} may not act for others at this hub. An operator can let it: waybill groups add ${EDGES} ${from}`,
    { at: "/on_behalf_of" },
  );
}

/**
 * Whose permissions count for a handoff. The key of an agent that acts for somebody gives that
 * principal no permission.
 */
export function askerOf(handoff: Wanting, kid: string): Asker {
  return { agent: principalOf(handoff), kid: handoff.on_behalf_of === undefined ? kid : undefined };
}
