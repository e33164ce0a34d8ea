import { WaybillError } from "../error.ts";
import type { Digest } from "../signing/digest.ts";
import type { VerifiedManifest } from "./manifest.ts";

/** What a reader has to remember of a manifest that it has accepted. */
export interface KnownManifest {
  readonly agent: string;
  readonly sequence: number;
  readonly digest: Digest;
}

/** What a reader remembers of this accepted manifest. */
export function knownManifest({ manifest, digest }: VerifiedManifest): KnownManifest {
  return { agent: manifest.agent_id, sequence: manifest.sequence, digest };
}

/**
 * Refuses a history of an agent, given by the digests of its manifests, that lacks the manifest
 * accepted before.
 */
export function checkChain(
  { agent, sequence, digest }: KnownManifest,
  shown: readonly Digest[],
): void {
  if (shown.includes(digest)) return;
  throw new WaybillError(
    401,
    `The hub shows a different history of ${agent} than before: manifest number ${sequence}, which is known here, is not in it. Either the hub lost its record, or somebody is impersonating the agent. If you know the agent's new key, pass it in trust (pins), or restart to believe the hub.`,
    { at: "/previous" },
  );
}
