import type { SubAgent } from "@mastra/core/agent";

/** An agent of Mastra, or any other kind of sub-agent. */
type Part = SubAgent & { listAgents?(): Record<string, Part> | Promise<Record<string, Part>> };

/**
 * The names of an agent and all its sub-agents: their own, and those under which they are
 * registered.
 */
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

/** Sub-agents that a function creates for each request are unknown without a request. */
function partsOf(agent: Part): Record<string, Part> {
  try {
    const parts = agent.listAgents?.() ?? {};
    if (!(parts instanceof Promise)) return parts;
    parts.catch(() => undefined);
  } catch {
    // The function requires a request.
  }
  return {};
}
