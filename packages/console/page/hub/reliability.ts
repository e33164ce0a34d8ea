import type { WireFound, WirePresence } from "@waybill/protocol/wire";
import { get } from "./hub.ts";

/** What was measured of a capability of an agent, beside what the agent claims. */
export interface MeasuredCapability {
  readonly name: string;
  readonly reliability: number;
  readonly claimed: number | undefined;
  readonly isContradicted: boolean;
  readonly isEjected: boolean;
}

/** Each costs the hub a search. */
const CAPABILITIES_AT_MOST = 12;

/** The capabilities for which these agents are asked about, in a fixed order. */
export function capabilitiesOf(agents: readonly WirePresence[]): readonly string[] {
  const names = agents.flatMap(({ capabilities }) => capabilities.map(({ name }) => name));
  return [...new Set(names)].toSorted().slice(0, CAPABILITIES_AT_MOST);
}

/** What was measured of these capabilities, by agent. */
export async function measuredOf(
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly MeasuredCapability[]>> {
  const measured = new Map<string, MeasuredCapability[]>();
  for (const name of names) {
    const path = `/v1/capabilities?capability=${encodeURIComponent(name)}`;
    const { fits } = await get<WireFound>(path, signal);
    for (const fit of fits) {
      if (!fit.is_measured) continue;
      const found = {
        name,
        reliability: fit.reliability,
        claimed: fit.capability.reliability_sla,
        isContradicted: fit.is_contradicted,
        isEjected: fit.standing === "ejected",
      };
      measured.set(fit.agent_id, [...(measured.get(fit.agent_id) ?? []), found]);
    }
  }
  return measured;
}
