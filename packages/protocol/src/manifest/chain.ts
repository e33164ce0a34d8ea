import { WaybillError } from "../error.ts";
import type { Digest } from "../signing/digest.ts";
import type { VerifiedManifest } from "./manifest.ts";

/** A manifest that was believed, as far as a reader has to remember it. */
export interface KnownManifest {
  readonly agent: string;
  readonly sequence: number;
  readonly digest: Digest;
}

/** What a reader remembers of a manifest that it has believed. */
export function knownManifest({ manifest, digest }: VerifiedManifest): KnownManifest {
  return { agent: manifest.agent_id, sequence: manifest.sequence, digest };
}

/**
 * Refuses a history of an agent, given by the digests of its manifests, in which the one that was
 * believed before does not stand.
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
