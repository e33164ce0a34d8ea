import { askerOf, WaybillError } from "@waybill/protocol";
import { CAPABILITY_DEFAULTS, DEFAULT_TERMS, toLifecycleTerms } from "@waybill/protocol/hub";
import type { HandoffEnvelope, VerifiedEnvelope } from "@waybill/protocol";
import type { LifecycleTerms } from "@waybill/protocol/hub";
import { untakenError } from "@waybill/protocol/wire";
import { wantedOf } from "../access/access.ts";
import type { Access } from "../access/access.ts";
import type { OfferedCapability } from "../registry/offered-capabilities.ts";
import type { Registry } from "../registry/registry.ts";

export interface OfferedForOptions {
  readonly registry: Registry;
  readonly access: Access;
}

/**
 * What agents of this hub offer that a delegator may use for a handoff. Throws if there are none: an unknown
 * name, or a recipient that takes no work from this delegator, is an error at once and not at the
 * deadline.
 */
export async function offeredFor(
  { envelope, kid }: Pick<VerifiedEnvelope<HandoffEnvelope>, "envelope" | "kid">,
  { registry, access }: OfferedForOptions,
): Promise<readonly OfferedCapability[]> {
  const { to, body } = envelope;
  const asker = askerOf(envelope, kid);
  const from = asker.agent;
  if (typeof to !== "string") {
    const offered = await registry.offered.first(to.capability, await access.audiencesOf(asker));
    if (offered.length > 0) return offered;
    throw untakenError({ from, to, capability: to.capability, isOffered: false });
  }
  const { capability } = body;
  const offered = await registry.offered.of(to, capability);
  const permitted = await access.permitted(wantedOf(offered, body), asker);
  if (permitted.length > 0) return permitted;
  if (offered.length === 0 && (await registry.isRetired(to))) {
    throw new WaybillError(
      404,
      `An operator of this hub has retired ${to}, so it takes no work. Hand off to another agent, or to the capability alone.`,
      { at: "/to" },
    );
  }
  throw untakenError({ from, to, capability, isOffered: offered.length > 0 });
}

/** The terms of a handoff: first its contract, then the terms of the agents that can take it. */
export function bindTerms(
  { body }: HandoffEnvelope,
  offered: readonly OfferedCapability[],
  defaults: LifecycleTerms,
): LifecycleTerms {
  const each = offered.map((capability) => termsFor(body.contract, capability, defaults));
  return {
    ...defaults,
    // Any of them must be able to keep the terms, so the widest ones count.
    leaseMs: Math.max(...each.map(({ leaseMs }) => leaseMs)),
    maxAttempts: Math.max(...each.map(({ maxAttempts }) => maxAttempts)),
  };
}

function termsFor(
  contract: HandoffEnvelope["body"]["contract"],
  { name, terms }: OfferedCapability,
  defaults: LifecycleTerms,
): LifecycleTerms {
  // The recipient judges the schema: an unusable one must reach it, and not prevent custody here.
  const { output_schema: _schema, ...numbers } = contract ?? {};
  return toLifecycleTerms(numbers, { ...CAPABILITY_DEFAULTS, name, ...terms }, defaults);
}

export function termsWith(terms: Partial<LifecycleTerms> | undefined): LifecycleTerms {
  return { ...DEFAULT_TERMS, ...terms };
}
