import { isAgentId, WaybillError } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import type { Viewer } from "../access/access.ts";
import type { Engine } from "../engine/engine.ts";
import type { ManifestCard, Page } from "../store.ts";
import { cursorText } from "./capability-cursor.ts";
import type { OfferedCapability } from "./offered-capabilities.ts";
import { descriptionOf, factsOf } from "./rows.ts";
import type { Description } from "./rows.ts";

/** Whether an agent is connected, what it is working on, and what it offers. */
export interface Presence {
  readonly agent: string;
  readonly isConnected: boolean;
  /** In milliseconds since 1970; null if it was never here. A crash may lose the last moment. */
  readonly lastSeen: number | null;
  /** How many more attempts it takes. */
  readonly credit: number;
  readonly inFlight: number;
  /** Of its newest manifest. */
  readonly sequence: number;
  readonly digest: Digest;
  readonly publishedAt: number;
  readonly inbox: string | undefined;
  /** What it offers, by name; at most the first few. */
  readonly capabilities: readonly { readonly name: string; readonly version: string }[];
  readonly capabilityCount: number;
  /** An operator has retired it. */
  readonly isRetired: boolean;
}

/** The same with its own claims, and its newest manifest as it was signed. */
export interface PresenceDetail extends Omit<Presence, "capabilities">, Description {
  readonly manifest: string;
}

/** How many capabilities of an agent a list of agents shows. */
const CAPABILITIES_LISTED = 20;

/** One agent, with everything that it offers to the viewer. */
export async function presenceOf(
  engine: Engine,
  agent: string,
  viewer: Viewer,
): Promise<PresenceDetail> {
  const { store, registry, access } = engine;
  const stored = await store.manifest(agent);
  if (stored === undefined) throw unknownAgent(agent, 404);
  const { text } = stored;
  const offered = await access.permitted(await registry.offered.of(agent), viewer);
  const shown = new Set(offered.map(cursorText));
  const { capabilities, ...description } = descriptionOf(text);
  return {
    ...(await describe(engine, stored, [])),
    ...description,
    capabilities: capabilities.filter(({ name, version }) =>
      shown.has(cursorText({ name, agent, version })),
    ),
    capabilityCount: offered.length,
    manifest: text,
  };
}

/**
 * The agents, each with the first of what it offers to the viewer. Of an agent with more offers for
 * some delegators only, later ones are not counted.
 */
export async function presences(
  engine: Engine,
  page: Page<string>,
  viewer: Viewer,
): Promise<readonly Presence[]> {
  const { store, registry, access } = engine;
  const cards = await store.agents(page);
  return Promise.all(
    cards.map(async (card) => {
      const offered = await registry.offered.firstOf(card.agent, CAPABILITIES_LISTED);
      return describe(engine, card, offered, await access.permitted(offered, viewer));
    }),
  );
}

async function describe(
  engine: Engine,
  card: ManifestCard,
  looked: readonly OfferedCapability[],
  shown: readonly OfferedCapability[] = looked,
): Promise<Presence> {
  const { agent, sequence, digest, at } = card;
  const { agentSessions, lastSeen, clock } = engine;
  const { inbox, capabilities: count, restricted = 0, isRetired = false } = factsOf(card);
  const here = agentSessions.get(agent);
  const isRestricted = ({ terms }: OfferedCapability) => terms.from !== undefined;
  // An operator, who may see all, is shown the full number.
  const hidden = shown === looked ? 0 : restricted - shown.filter(isRestricted).length;
  return {
    agent,
    isConnected: here !== undefined,
    lastSeen: here === undefined ? await lastSeen.of(agent) : clock.now(),
    credit: here?.room ?? 0,
    inFlight: here?.heldCount ?? 0,
    sequence,
    digest,
    publishedAt: at,
    inbox,
    capabilities: shown.map(({ name, version }) => ({ name, version })),
    capabilityCount: count - hidden,
    isRetired,
  };
}

export function unknownAgent(agent: string, status: 401 | 404): WaybillError {
  const name = isAgentId(agent) ? agent : "this agent";
  return new WaybillError(
    status,
    `No manifest of ${name} is known here: publish one first (PUT /v1/agents/{id}).`,
  );
}
