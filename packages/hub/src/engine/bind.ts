import {
  CAPABILITY_DEFAULTS,
  DEFAULT_TERMS,
  toLifecycleTerms,
  WaybillError,
} from "@waybill/protocol";
import type { HandoffEnvelope, LifecycleTerms } from "@waybill/protocol";
import type { Offer, Registry } from "../registry/registry.ts";

/**
 * What is offered here of what a handoff asks for. Refused with 404 where no manifest here has the
 * capability: a name that nobody knows is an error now, not at the deadline.
 */
export async function offersFor(
  { to, body }: HandoffEnvelope,
  registry: Registry,
): Promise<readonly Offer[]> {
  const offers =
    typeof to === "string"
      ? await registry.offersOf(to, body.capability)
      : await registry.firstOffers(to.capability);
  if (offers.length > 0) return offers;
  throw new WaybillError(
    404,
    typeof to === "string"
      ? `${to} has published no manifest here that offers ${body.capability}. Check both names, or start that agent first.`
      : `Nobody here has published a manifest that offers ${to.capability}. Check its name, or start an agent that offers it first.`,
    { at: "/to" },
  );
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
