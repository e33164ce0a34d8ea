import type { SubAgent } from "@mastra/core/agent";

/** An agent of Mastra, or whatever else stands among its sub-agents. */
type Part = SubAgent & { listAgents?(): Record<string, Part> | Promise<Record<string, Part>> };

/** What an agent and its sub-agents are called, and theirs, by their own names and where they stand. */
export function namesIn(agent: unknown, known: Set<unknown> = new Set()): string[] {
  if (known.has(agent)) return [];
  known.add(agent);
  const { name } = agent as Part;
  const inside = Object.entries(partsOf(agent as Part)).flatMap(([key, each]) => [
    key,
    ...namesIn(each, known),
  ]);
  return [...(name === undefined ? [] : [name]), ...inside];
}

/** Sub-agents that a function makes for a request are not known before there is one. */
function partsOf(agent: Part): Record<string, Part> {
  try {
    const parts = agent.listAgents?.() ?? {};
    if (!(parts instanceof Promise)) return parts;
    parts.catch(() => undefined);
  } catch {
    // The function wants something of a request.
  }
  return {};
}
