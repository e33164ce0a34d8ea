/** From whom a capability takes work: from an agent that one of the lists names. */
export interface TakesFrom {
  /** Ids of agents. */
  agents?: string[] | undefined;
  /** Thumbprints of keys: a handoff that is signed with one of them is taken. */
  keys?: string[] | undefined;
  /** Names of groups, which the operator of the hub has made. */
  groups?: string[] | undefined;
}

/** Who hands work off, as far as permission goes. */
export interface Asker {
  readonly agent: string;
  /** The thumbprint of the key that it signs with. */
  readonly kid: string;
}

/**
 * Whether a capability takes work from somebody. `isIn` tells whether that agent is in a group: a hub
 * knows, and a recipient, which can't know, leaves its groups to its hub.
 *
 * @example
 * ```ts
 * takesFrom(capability, { agent: "editor", kid }, (group) => groups.has(group));
 * ```
 */
export function takesFrom(
  { from }: { readonly from?: TakesFrom | undefined },
  { agent, kid }: Asker,
  isIn: (group: string) => boolean,
): boolean {
  if (from === undefined) return true;
  const { agents = [], keys = [], groups = [] } = from;
  return agents.includes(agent) || keys.includes(kid) || groups.some(isIn);
}
