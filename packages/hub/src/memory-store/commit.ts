import type { Digest } from "@waybill/protocol";
import type { Commit, CommitOutcome, KnownOutcome, SeenEnvelope } from "../store.ts";

/** The state against which a commit is checked. */
export interface CommitView {
  /** 0 if there is none. */
  versionOf(handoffId: string): number;
  seen(from: string, envelopeId: string): Pick<SeenEnvelope, "digest"> | undefined;
  /** Of the newest manifest; 0 if there is none. */
  sequenceOf(agent: string): number;
  keyOwner(kid: string): string | undefined;
  setting(name: string): string | undefined;
}

/** Why a commit must fail, or undefined if it can succeed. */
export function faultOfCommit(
  { handoff, manifest, keys, entries, settings = [] }: Commit,
  view: CommitView,
): Exclude<KnownOutcome, { type: "committed" }> | undefined {
  const own = new Map<string, Digest>();
  for (const { replayKey, digest } of entries) {
    if (replayKey === null) continue;
    const key = JSON.stringify([replayKey.from, replayKey.id]);
    const known = own.get(key) ?? view.seen(replayKey.from, replayKey.id)?.digest;
    if (known !== undefined) return { type: "replayed", digest: known };
    own.set(key, digest);
  }
  if (handoff !== null && handoff.version !== view.versionOf(handoff.id) + 1) {
    return { type: "conflict" };
  }
  if (settings.some(({ name, from }) => (view.setting(name) ?? null) !== from)) {
    return { type: "conflict" };
  }
  const changed = manifest ?? keys;
  if (changed === undefined) return undefined;
  const { agent, sequence } = changed;
  const next = view.sequenceOf(agent) + 1;
  if (sequence !== (manifest === undefined ? next - 1 : next)) return { type: "conflict" };
  for (const { kid } of changed.keys) {
    const owner = view.keyOwner(kid) ?? agent;
    if (owner !== agent) return { type: "key_owned", kid, agent: owner };
  }
  return undefined;
}

/** Whether a commit depends on one that was not made, by the outcomes before it in its group. */
export function isOrphaned(
  { dependsOn = [] }: Commit,
  outcomes: readonly (CommitOutcome | undefined)[],
): boolean {
  return dependsOn.some((place) => outcomes[place]?.type !== "committed");
}

/** A view in which accepted commits have already happened, although nobody else may see them yet. */
export function stagedView(base: CommitView): CommitView & { stage(commit: Commit): void } {
  const versions = new Map<string, number>();
  const digests = new Map<string, Map<string, Digest>>();
  const sequences = new Map<string, number>();
  const keyOwners = new Map<string, string>();
  const staged = new Map<string, string | undefined>();
  return {
    versionOf: (id) => versions.get(id) ?? base.versionOf(id),
    seen(from, id) {
      const digest = digests.get(from)?.get(id);
      return digest === undefined ? base.seen(from, id) : { digest };
    },
    sequenceOf: (agent) => sequences.get(agent) ?? base.sequenceOf(agent),
    keyOwner: (kid) => keyOwners.get(kid) ?? base.keyOwner(kid),
    setting: (name) => (staged.has(name) ? staged.get(name) : base.setting(name)),
    stage({ handoff, manifest, keys, entries, settings = [] }) {
      for (const { name, to } of settings) staged.set(name, to ?? undefined);
      if (handoff !== null) versions.set(handoff.id, handoff.version);
      if (manifest !== undefined) sequences.set(manifest.agent, manifest.sequence);
      const changed = manifest ?? keys;
      for (const { kid } of changed?.keys ?? []) keyOwners.set(kid, changed!.agent);
      for (const { replayKey, digest } of entries) {
        if (replayKey === null) continue;
        const { from, id } = replayKey;
        digests.set(from, (digests.get(from) ?? new Map<string, Digest>()).set(id, digest));
      }
    },
  };
}
