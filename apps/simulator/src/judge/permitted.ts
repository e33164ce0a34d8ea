import {
  askerOf,
  parseEnvelope,
  parseJson,
  parseManifest,
  readCompact,
  takesFrom,
} from "@waybill/protocol";
import type { Asker, Capability } from "@waybill/protocol";
import type { LedgerEntry } from "@waybill/hub";
import type { Found } from "./verdict.ts";

interface Decision {
  readonly type: string;
  readonly recipient: string;
  readonly group: string;
  readonly added: readonly string[];
}

/**
 * No agent is offered work that its capability refuses from the delegator, by the preceding manifests
 * and groups.
 */
export function forbiddenOffers(entries: readonly LedgerEntry[]): Found[] {
  const offered = new Map<string, readonly Capability[]>();
  const groups = new Map<string, Set<string>>();
  const handoffs = new Map<string, { readonly asker: Asker; readonly capability: string }>();
  const found: Found[] = [];
  const takes = (capability: Capability, asker: Asker) =>
    takesFrom(capability, asker, (group) => groups.get(group)?.has(asker.agent) === true);
  for (const { type, handoffId, content } of entries) {
    if (type === "manifest") {
      const manifest = parseManifest(parseJson(readCompact(content).payload));
      offered.set(manifest.agent_id, manifest.capabilities);
    } else if (type === "envelope") {
      const { kid, payload } = readCompact(content);
      const envelope = parseEnvelope(payload);
      if (envelope.kind !== "handoff") continue;
      const { body } = envelope;
      handoffs.set(envelope.handoff_id, {
        asker: askerOf(envelope, kid),
        capability: body.capability,
      });
    } else {
      const decision = JSON.parse(content) as Decision;
      // Nobody is removed from a group here: a concurrent decision would be correct as well.
      if (decision.type === "group_changed") {
        const { group, added } = decision;
        groups.set(group, new Set([...(groups.get(group) ?? []), ...added]));
      }
      if (decision.type !== "offer" || handoffId === null) continue;
      const { asker, capability } = handoffs.get(handoffId)!;
      const all = (offered.get(decision.recipient) ?? []).filter(({ name }) => name === capability);
      if (all.length === 0 || all.some((each) => takes(each, asker))) continue;
      const message = `${decision.recipient} was offered it, and takes no ${capability} from ${asker.agent}.`;
      found.push({ rule: "offer_not_permitted", handoffId, message });
    }
  }
  return found;
}
