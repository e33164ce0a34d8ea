import { digestOfJws, parseJson, readCompact, signManifest } from "@waybill/protocol";
import type { Json, ManifestInput, PrivateKey, ProvenKey } from "@waybill/protocol";
import type { Hub } from "@waybill/protocol/wire";
import { enrolmentAt } from "./invitation.ts";

/** How an agent identifies itself to its hub. */
export interface Enrolment {
  readonly invitation?: string | undefined;
  /** As printed by `waybill keys recovery`. */
  readonly recoveryKey?: ProvenKey | undefined;
}

/** Publishes an agent's manifest, as the next in its sequence if it has changed. */
export async function publishManifest(
  hub: Pick<Hub, "domain" | "manifests" | "publish">,
  manifest: ManifestInput,
  key: PrivateKey,
  { invitation, recoveryKey }: Enrolment = {},
): Promise<void> {
  const { manifests } = await hub.manifests({ agent: manifest.agent_id, newest: true });
  const last = manifests[0]?.text;
  const listed = manifest.keys ?? [key.jwk];
  if (last === undefined) {
    const first = signManifest({ ...manifest, keys: withRecoveryKey(listed, recoveryKey) }, key);
    return hub.publish(first, enrolmentAt(hub, first, invitation));
  }
  const before = parseJson(readCompact(last).payload) as { [member: string]: Json };
  const wanted = {
    ...manifest,
    keys: withRecoveryKey(listed, recoveryKey ?? recoveryKeyIn(before)),
  };
  const { sequence } = before;
  const next = { ...wanted, sequence: Number(sequence) + 1, previous: digestOfJws(last) };
  const signed = signManifest(next, key);
  const after = parseJson(readCompact(signed).payload) as { [member: string]: Json };
  if (contentOf(before) !== contentOf(after)) await hub.publish(signed);
}

type Keys = NonNullable<ManifestInput["keys"]>;

function withRecoveryKey(keys: Keys, recoveryKey: Keys[number] | undefined): Keys {
  const hasOne = keys.some(({ use }) => use === "recovery");
  return recoveryKey === undefined || hasOne ? keys : [...keys, recoveryKey];
}

/** An application that names no recovery key keeps the listed one: an update without it is refused. */
function recoveryKeyIn({ keys }: { [member: string]: Json }): Keys[number] | undefined {
  return (keys as unknown as Keys | undefined)?.find(({ use }) => use === "recovery");
}

function contentOf({
  sequence: _sequence,
  previous: _previous,
  recovery: _recovery,
  ...content
}: {
  [member: string]: Json;
}): string {
  return JSON.stringify(Object.entries(content).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
