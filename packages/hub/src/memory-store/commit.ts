import type { Digest } from "@waybill/protocol";
import type { Commit, CommitOutcome, StoredManifest } from "../store.ts";

/** What a commit is judged against. */
export interface CommitView {
  /** 0 where there is none. */
  versionOf(handoffId: string): number;
  seen(from: string, envelopeId: string): Digest | undefined;
  manifest(agent: string): Pick<StoredManifest, "sequence"> | undefined;
}

/** Why a commit can't be carried out, or undefined when it can. */
export function faultOfCommit(
  { handoff, manifest, entries }: Commit,
  view: CommitView,
): Exclude<CommitOutcome, { type: "committed" }> | undefined {
  const own = new Map<string, Digest>();
  for (const { replayKey, digest } of entries) {
    if (replayKey === null) continue;
    const key = JSON.stringify([replayKey.from, replayKey.id]);
    const known = own.get(key) ?? view.seen(replayKey.from, replayKey.id);
    if (known !== undefined) return { type: "replayed", digest: known };
    own.set(key, digest);
  }
  if (handoff !== null && handoff.version !== view.versionOf(handoff.id) + 1) {
    return { type: "conflict" };
  }
  if (manifest !== undefined) {
    const before = view.manifest(manifest.agent)?.sequence;
    if (before !== undefined && manifest.sequence !== before + 1) return { type: "conflict" };
  }
  return undefined;
}

/** A view in which the commits that were let pass have happened already, though nobody else may see them yet. */
export function stagedView(base: CommitView): CommitView & { stage(commit: Commit): void } {
  const versions = new Map<string, number>();
  const digests = new Map<string, Map<string, Digest>>();
  const manifests = new Map<string, StoredManifest>();
  return {
    versionOf: (id) => versions.get(id) ?? base.versionOf(id),
    seen: (from, id) => digests.get(from)?.get(id) ?? base.seen(from, id),
    manifest: (agent) => manifests.get(agent) ?? base.manifest(agent),
    stage({ handoff, manifest, entries }) {
      if (handoff !== null) versions.set(handoff.id, handoff.version);
      if (manifest !== undefined) manifests.set(manifest.agent, manifest);
      for (const { replayKey, digest } of entries) {
        if (replayKey === null) continue;
        const { from, id } = replayKey;
        digests.set(from, (digests.get(from) ?? new Map<string, Digest>()).set(id, digest));
      }
    },
  };
}
