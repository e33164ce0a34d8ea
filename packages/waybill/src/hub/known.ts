import { readHandoffView } from "@waybill/protocol/wire";
import type {
  WireDeadLetter,
  WireEntry,
  WireGroup,
  WireInvitation,
  WirePresence,
} from "@waybill/protocol/wire";
import { parseEnvelope, readCompact } from "@waybill/protocol";
import { didYouMean } from "../command-line/nearest.ts";
import type { HubClient } from "./client.ts";
import { readHead } from "./head.ts";
import { listOf } from "./list.ts";

/** The kinds of names that a hub can list. */
export const KINDS = [
  "agents",
  "capabilities",
  "handoffs",
  "dead-letters",
  "groups",
  "groups-and-agents",
  "invitations",
] as const;
export type Kind = (typeof KINDS)[number];

const AGENTS_MAX = 500;
const LETTERS_MAX = 100;
/** How many of the last ledger entries are searched for open handoffs. */
const ENTRIES_BACK = 300;
const HANDOFFS_MAX = 20;

/**
 * The names that the caller may see. Each comes from a list that the hub shows the caller anyway, so
 * that a suggestion reveals nothing.
 */
export async function namesKnown(hub: HubClient, kind: Kind): Promise<readonly string[]> {
  switch (kind) {
    case "agents":
      return (await presences(hub)).map(({ agent_id: agent }) => agent);
    case "capabilities": {
      const found = (await presences(hub)).flatMap(({ capabilities }) => capabilities);
      return [...new Set(found.map(({ name }) => name))];
    }
    case "dead-letters":
      return (await letters(hub)).map(({ id }) => id);
    case "groups":
      return groups(hub);
    case "groups-and-agents":
      return [...(await groups(hub)), ...(await namesKnown(hub, "agents"))];
    case "handoffs":
      return openHandoffs(hub);
    case "invitations":
      return (await listOf<WireInvitation>(hub, "/v1/invitations", "invitations"))
        .filter(({ used_by: user }) => user === undefined)
        .map(({ id }) => id);
  }
}

/** ` Did you mean …?`, or an empty string, also if the hub can't be asked. */
export async function suggestion(hub: HubClient, kind: Kind, typed: string): Promise<string> {
  try {
    const names = await namesKnown(hub, kind);
    return names.includes(typed) ? "" : didYouMean(typed, names);
  } catch {
    return "";
  }
}

function presences(hub: HubClient): Promise<WirePresence[]> {
  return listOf<WirePresence>(hub, "/v1/agents", "agents", AGENTS_MAX);
}

async function groups(hub: HubClient): Promise<readonly string[]> {
  return (await listOf<WireGroup>(hub, "/v1/groups", "groups")).map(({ name }) => name);
}

function letters(hub: HubClient): Promise<WireDeadLetter[]> {
  return listOf<WireDeadLetter>(hub, "/v1/dead-letters", "dead_letters", LETTERS_MAX);
}

/** The handoffs in the last entries of the ledger that are still open, newest first. */
async function openHandoffs(hub: HubClient): Promise<readonly string[]> {
  const { sequence } = await readHead(hub);
  const ids = new Set<string>();
  for await (const line of hub.lines(`/v1/ledger?after=${Math.max(0, sequence - ENTRIES_BACK)}`)) {
    const entry = JSON.parse(line) as WireEntry;
    if (entry.handoff_id !== null && isHandoff(entry)) ids.add(entry.handoff_id);
  }
  const newest = [...ids].toReversed().slice(0, HANDOFFS_MAX);
  const views = await Promise.all(
    newest.map(async (id) => readHandoffView(await hub.get(`/v1/handoffs/${id}`))),
  );
  return views.filter(({ state }) => state === "open").map(({ id }) => id);
}

function isHandoff({ type, content }: WireEntry): boolean {
  return type === "envelope" && parseEnvelope(readCompact(content).payload).kind === "handoff";
}
