import type { Capability } from "./capability.ts";
import type { Asker } from "./takes-from.ts";

/** The audience of what everybody may use. */
export const EVERYBODY = "*";

/**
 * For whom a capability is, as texts that an index can hold: a capability is for an asker where the two
 * have an audience in common. That says the same as `takesFrom`, and needs no look at what is for others.
 */
export function audiencesOf({ from }: Pick<Capability, "from">): readonly string[] {
  if (from === undefined) return [EVERYBODY];
  const { agents = [], keys = [], groups = [] } = from;
  return [...new Set([...agents.map(ofAgent), ...keys.map(ofKey), ...groups.map(ofGroup)])];
}

/** The audiences that somebody is in: everybody is in the first. */
export function audiencesFor(
  asker: Asker | undefined,
  groups: Iterable<string>,
): readonly string[] {
  if (asker === undefined) return [EVERYBODY];
  return [EVERYBODY, ofAgent(asker.agent), ofKey(asker.kid), ...Array.from(groups, ofGroup)];
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
