import { digestOf, parseJson, readCompact, signManifest } from "@waybill/protocol";
import type { Json, ManifestInput, PrivateKey } from "@waybill/protocol";
import type { Hub } from "../hub.ts";
import { enrolmentAt } from "./invitation.ts";

/** Publishes what an agent says about itself, as the next of its manifests where that has changed. */
export async function publishManifest(
  hub: Pick<Hub, "domain" | "manifests" | "publish">,
  manifest: ManifestInput,
  key: PrivateKey,
  invitation?: string,
): Promise<void> {
  const { manifests } = await hub.manifests({ agent: manifest.agent_id, newest: true });
  const last = manifests[0]?.text;
  const wanted = manifest.keys === undefined ? { ...manifest, keys: [key.jwk] } : manifest;
  if (last === undefined) {
    const first = signManifest(wanted, key);
    return hub.publish(first, enrolmentAt(hub, first, invitation));
  }
  const before = parseJson(readCompact(last).payload) as { [member: string]: Json };
  const { sequence } = before;
  const next = { ...wanted, sequence: Number(sequence) + 1, previous: digestOf(last) };
  const signed = signManifest(next, key);
  const after = parseJson(readCompact(signed).payload) as { [member: string]: Json };
  if (contentOf(before) !== contentOf(after)) await hub.publish(signed);
}

function contentOf({
  sequence: _sequence,
  previous: _previous,
  ...content
}: {
  [member: string]: Json;
}): string {
  return JSON.stringify(Object.entries(content).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
