import {
  CAPABILITY_DEFAULTS,
  DEFAULT_TERMS,
  toLifecycleTerms,
  WaybillError,
} from "@waybill/protocol";
import type { HandoffEnvelope, LifecycleTerms, VerifiedEnvelope } from "@waybill/protocol";
import { untakenError } from "@waybill/protocol/wire";
import { wantedOf } from "../access/access.ts";
import type { Access } from "../access/access.ts";
import type { Offer, Registry } from "../registry/registry.ts";

export interface OffersForOptions {
  readonly registry: Registry;
  readonly access: Access;
}

/**
 * What is offered here to a delegator of what a handoff asks for. Refused where nothing is: a name that
 * nobody knows, and a recipient that takes no work from it, is an error now and not at the deadline.
 */
export async function offersFor(
  {
    envelope: { from, to, body },
    kid,
  }: Pick<VerifiedEnvelope<HandoffEnvelope>, "envelope" | "kid">,
  { registry, access }: OffersForOptions,
): Promise<readonly Offer[]> {
  const asker = { agent: from, kid };
  if (typeof to !== "string") {
    const offers = await registry.firstOffers(to.capability, await access.audiencesOf(asker));
    if (offers.length > 0) return offers;
    throw untakenError({ from, to, capability: to.capability, isOffered: false });
  }
  const { capability } = body;
  const offers = await registry.offersOf(to, capability);
  const takers = await access.takers(wantedOf(offers, body), asker);
  if (takers.length > 0) return takers;
  if (offers.length === 0 && (await registry.isRetired(to))) {
    throw new WaybillError(
      404,
      `An operator of this hub has retired ${to}, so it takes no work. Hand off to another agent, or to the capability alone.`,
      { at: "/to" },
    );
  }
  throw untakenError({ from, to, capability, isOffered: offers.length > 0 });
}

/** The terms of a handoff: its contract, then what those who can take it need. */
export function bindTerms(
  { body }: HandoffEnvelope,
  offers: readonly Offer[],
  defaults: LifecycleTerms,
): LifecycleTerms {
  const each = offers.map((offer) => termsFor(body.contract, offer, defaults));
  return {
    ...defaults,
    // Whoever takes it must be able to hold to the terms, so the widest of them count.
    leaseMs: Math.max(...each.map(({ leaseMs }) => leaseMs)),
    maxAttempts: Math.max(...each.map(({ maxAttempts }) => maxAttempts)),
  };
}

function termsFor(
  contract: HandoffEnvelope["body"]["contract"],
  { name, terms }: Offer,
  defaults: LifecycleTerms,
): LifecycleTerms {
  // The schema is the recipient's to judge: an unusable one must reach it, not stop custody here.
  const { output_schema: _schema, ...numbers } = contract ?? {};
  return toLifecycleTerms(numbers, { ...CAPABILITY_DEFAULTS, name, ...terms }, defaults);
}

export function termsWith(terms: Partial<LifecycleTerms> | undefined): LifecycleTerms {
  return { ...DEFAULT_TERMS, ...terms };
}
