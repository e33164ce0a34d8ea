import { parseManifest } from "@waybill/protocol";
import type { Capability, CapabilityInput } from "@waybill/protocol";

export function asPublished(capability: CapabilityInput): Capability {
  return parseManifest({ agent_id: "other", capabilities: [capability] }).capabilities[0]!;
}
