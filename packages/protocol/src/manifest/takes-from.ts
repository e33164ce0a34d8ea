/** From whom a capability takes work: from agents in any of the lists. */
export interface TakesFrom {
  /** Ids of agents. */
  agents?: string[] | undefined;
  /** Thumbprints of keys: a handoff that is signed with one of them is accepted. */
  keys?: string[] | undefined;
  /** Names of groups, which the hub's operator has made. */
  groups?: string[] | undefined;
}

/** A delegator, as far as permissions are concerned. */
export interface Asker {
  /** Its id, or the name of the principal for whom it acts. */
  readonly agent: string;
  /** The thumbprint of the key that it signs with; undefined if it acts for somebody else. */
  readonly kid?: string | undefined;
}

/**
 * Whether a capability takes work from a delegator. `isIn` tells whether the delegator is in a group:
 * a hub knows, and a recipient, which can't know, relies on its hub for groups.
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
  return agents.includes(agent) || (kid !== undefined && keys.includes(kid)) || groups.some(isIn);
}
