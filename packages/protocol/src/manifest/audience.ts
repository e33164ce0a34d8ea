import type { Capability } from "./capability.ts";
import type { Asker } from "./takes-from.ts";

/** The audience of capabilities for everybody. */
export const EVERYBODY = "*";

/**
 * The audiences of a capability, as strings for an index: a capability takes work from a delegator if
 * the two have an audience in common. That is equivalent to `takesFrom`, without reading the
 * capabilities that are for others.
 */
export function audiencesOf({ from }: Pick<Capability, "from">): readonly string[] {
  if (from === undefined) return [EVERYBODY];
  const { agents = [], keys = [], groups = [] } = from;
  return [...new Set([...agents.map(ofAgent), ...keys.map(ofKey), ...groups.map(ofGroup)])];
}

/** The audiences of a delegator: the first is that of everybody. */
export function audiencesFor(
  asker: Asker | undefined,
  groups: Iterable<string>,
): readonly string[] {
  if (asker === undefined) return [EVERYBODY];
  const { agent, kid } = asker;
  const byKey = kid === undefined ? [] : [ofKey(kid)];
  return [EVERYBODY, ofAgent(agent), ...byKey, ...Array.from(groups, ofGroup)];
}

function ofAgent(agent: string): string {
  return `agent ${agent}`;
}

function ofKey(kid: string): string {
  return `key ${kid}`;
}

function ofGroup(group: string): string {
  return `group ${group}`;
}
