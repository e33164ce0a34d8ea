import { DEFAULT_TERMS, toLifecycleTerms, WaybillError } from "@waybill/protocol";
import type { Capability, HandoffEnvelope, LifecycleTerms } from "@waybill/protocol";
import type { Registry } from "../registry/registry.ts";

/**
 * The terms of a handoff: its contract, then what those who can take it need. Refused with 404 where
 * no manifest here has the capability: a name that nobody knows is an error now, not at the deadline.
 */
export async function bindTerms(
  { to, body }: HandoffEnvelope,
  registry: Registry,
  defaults: LifecycleTerms,
): Promise<LifecycleTerms> {
  const offered =
    typeof to === "string"
      ? await registry.offeredBy(to, body.capability)
      : await registry.offering(to.capability);
  if (offered.length === 0) {
    throw new WaybillError(
      404,
      typeof to === "string"
        ? `${to} has published no manifest here that offers ${body.capability}. Check both names, or start that agent first.`
        : `Nobody here has published a manifest that offers ${to.capability}. Check its name, or start an agent that offers it first.`,
      { at: "/to" },
    );
  }
  const each = offered.map(({ capability }) => termsFor(body.contract, capability, defaults));
  return {
    ...defaults,
    // Whoever takes it must be able to hold to the terms, so the widest of them count.
    leaseMs: Math.max(...each.map(({ leaseMs }) => leaseMs)),
    maxAttempts: Math.max(...each.map(({ maxAttempts }) => maxAttempts)),
  };
}

function termsFor(
  contract: HandoffEnvelope["body"]["contract"],
  capability: Capability,
  defaults: LifecycleTerms,
): LifecycleTerms {
  // The schema is the recipient's to judge: an unusable one must reach it, not stop custody here.
  const { output_schema: _schema, ...numbers } = contract ?? {};
  return toLifecycleTerms(numbers, capability, defaults);
}

export function termsWith(terms: Partial<LifecycleTerms> | undefined): LifecycleTerms {
  return { ...DEFAULT_TERMS, ...terms };
}
