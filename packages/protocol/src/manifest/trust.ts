import type { Digest } from "../signing/digest.ts";

/** What a source vouches for: an exact manifest, or the keys that may sign it. */
export interface Vouched {
  readonly digest?: Digest | undefined;
  readonly kids?: readonly string[] | undefined;
}

/** The sources of trust, by agent id. A missing source has no say. */
export interface TrustPolicy {
  /** Agents whose manifest or keys the operator has fixed. */
  readonly pins?: ReadonlyMap<string, Vouched> | undefined;
  /** If present, nobody else is admitted. An entry without keys leaves the key to the registry. */
  readonly allowList?: ReadonlyMap<string, Vouched> | undefined;
  /** The entries of a registry that the operator trusts. */
  readonly registry?: ReadonlyMap<string, Vouched> | undefined;
  /** Trust a stranger on first use, and hold it to its key from then on. Off by default. */
  readonly firstUse?: boolean | undefined;
}

/** What a trust policy judges: an agent, and the key that signed its manifest. */
export interface TrustSubject {
  readonly agentId: string;
  /** The key that signed its manifest. */
  readonly kid: string;
  readonly digest: Digest;
  /** Whether an earlier manifest, already trusted, leads to this one by its own keys. */
  readonly isContinued?: boolean | undefined;
}

/** The source on which a decision to trust an agent rests. */
export type TrustSource = "pin" | "allow_list" | "registry" | "first_use";

/**
 * 401 means that this may not be the agent: nothing vouches for the key. 403 means that it is the
 * agent, and that the operator has decided against it: not on the list, or changed under a pin.
 */
export type TrustDecision =
  | { readonly isTrusted: true; readonly by: TrustSource; readonly reason: string }
  | {
      readonly isTrusted: false;
      readonly by: TrustSource | "nothing";
      readonly status: 401 | 403;
      readonly reason: string;
    };

/** Pin before allow-list before registry before first use: the first source that knows the agent decides. */
export function decideTrust(policy: TrustPolicy, subject: TrustSubject): TrustDecision {
  const { pins, allowList, registry, firstUse } = policy;
  const { agentId, kid } = subject;
  const pin = pins?.get(agentId);
  if (pin !== undefined) return byVoucher("pin", "it is pinned", pin, subject);
  const vouched = registry?.get(agentId);
  if (allowList !== undefined) {
    const entry = allowList.get(agentId);
    if (entry === undefined) {
      const reason = `${agentId} is not on the allow-list; add it there, or pin it`;
      return { isTrusted: false, by: "allow_list", status: 403, reason };
    }
    const namesNothing = entry.kids === undefined && entry.digest === undefined;
    // A name alone says who may be admitted, not who that is: it must not contradict the registry.
    if (!namesNothing || vouched === undefined) {
      return byVoucher("allow_list", "it is on the allow-list", entry, subject);
    }
  }
  if (vouched !== undefined) {
    return byVoucher("registry", "the registry vouches for it", vouched, subject);
  }
  if (firstUse === true) {
    const when = subject.isContinued === true ? "its keys lead back to" : "this is";
    return {
      isTrusted: true,
      by: "first_use",
      reason: `${agentId} is trusted: ${when} its first use, and nothing but that vouches for it`,
    };
  }
  return {
    isTrusted: false,
    by: "nothing",
    status: 401,
    reason: `nothing vouches for ${agentId} and its key ${kid}: it is not pinned, on no allow-list and in no registry, and trust on first use is off`,
  };
}

/** Whether a policy names this exact key of an agent: then its manifest may change to it. */
export function vouchesForKey(policy: TrustPolicy, agentId: string, kid: string): boolean {
  const pin = policy.pins?.get(agentId);
  if (pin !== undefined) return pin.kids?.includes(kid) === true;
  return [policy.allowList, policy.registry].some(
    (source) => source?.get(agentId)?.kids?.includes(kid) === true,
  );
}

function byVoucher(
  by: TrustSource,
  because: string,
  { digest, kids }: Vouched,
  subject: TrustSubject,
): TrustDecision {
  const { agentId, kid } = subject;
  if (kids !== undefined && !kids.includes(kid)) {
    const reason = `the manifest of ${agentId} is signed by ${kid}, and ${because} with ${listed(kids)}; if it really changed its key, change it there`;
    return { isTrusted: false, by, status: 401, reason };
  }
  if (digest !== undefined && digest !== subject.digest) {
    const reason = `the manifest of ${agentId} has changed: it is ${subject.digest}, and ${because} with ${digest}; read what changed before you accept it there`;
    return { isTrusted: false, by, status: 403, reason };
  }
  return { isTrusted: true, by, reason: `${agentId} is trusted: ${because}` };
}

function listed(kids: readonly string[]): string {
  return kids.length === 0 ? "no key at all" : kids.join(" or ");
}
