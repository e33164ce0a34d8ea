import { readLedger } from "@waybill/hub";
import type { HandoffView, LedgerEntry, PublishedManifest } from "@waybill/hub";
import { parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import { manifestPages, readHandoffView, readPublished } from "@waybill/protocol/wire";
import type { ManifestsQuery } from "@waybill/protocol/wire";
import type { Decision } from "../trace/event-text.ts";
import type { RecordContext } from "../trace/events.ts";
import { signatureChecks } from "../trace/signatures.ts";
import type { Recorded } from "../trace/build.ts";
import type { HubClient } from "./client.ts";
import { suggestion } from "./known.ts";
import { listOf } from "./list.ts";

/**
 * Everything that the hub has on record about a job, by its correlation id or the id of one of its
 * handoffs.
 */
export async function recordOf(
  hub: HubClient,
  id: string,
): Promise<{ readonly correlationId: string; readonly recorded: readonly Recorded[] }> {
  let correlationId = id;
  let views = await correlated(hub, id);
  if (views.length === 0) {
    correlationId = await correlationOf(hub, id);
    views = await correlated(hub, correlationId);
  }
  const recorded = await Promise.all(
    views.map(async (view) => ({ view, entries: await historyOf(hub, view.id) })),
  );
  return { correlationId, recorded };
}

async function correlationOf(hub: HubClient, id: string): Promise<string> {
  try {
    const view = readHandoffView(await hub.get(`/v1/handoffs/${id}`));
    return parseEnvelope(readCompact(view.envelope).payload).correlation_id;
  } catch (error) {
    if (!WaybillError.is(error, 404)) throw error;
    const near = await suggestion(hub, "handoffs", id);
    throw new WaybillError(
      404,
      `The hub at ${hub.url} has neither a job nor a handoff ${id} on record.${near} Check the id, and that this is the right hub.`,
      { cause: error },
    );
  }
}

async function correlated(hub: HubClient, correlationId: string): Promise<HandoffView[]> {
  const path = `/v1/handoffs?correlation_id=${correlationId}`;
  return (await listOf(hub, path, "handoffs")).map(readHandoffView);
}

export async function historyOf(hub: HubClient, id: string): Promise<LedgerEntry[]> {
  return Array.fromAsync(readLedger(withFeeds(hub.lines(`/v1/handoffs/${id}/history`))));
}

async function* withFeeds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

/** The hub's name, and a signature check with the keys of all agents that signed something here. */
export async function recordContextOf(
  hub: HubClient,
  recorded: readonly Recorded[],
): Promise<RecordContext> {
  const known = (await hub.get("/.well-known/waybill")) as { readonly hub: string };
  const agents = new Set([known.hub]);
  for (const { entries } of recorded) {
    for (const entry of entries) for (const agent of signersOf(entry)) agents.add(agent);
  }
  const manifests = await Promise.all([...agents].map((agent) => manifestsOf(hub, agent)));
  return { hub: known.hub, ...signatureChecks(manifests) };
}

/** Who has signed an entry, as far as it says so. */
function signersOf({ replayKey, type, content }: LedgerEntry): readonly string[] {
  if (replayKey !== null) return [replayKey.from];
  if (type !== "decision") return [];
  const { signed } = JSON.parse(content) as Decision;
  return signed === undefined ? [] : [signed.by];
}

async function manifestsOf(hub: HubClient, agent: string): Promise<readonly PublishedManifest[]> {
  const path = `/.well-known/waybill/agents/${agent}`;
  const read = async ({ after = 0 }: ManifestsQuery) =>
    readPublished(await hub.get(`${path}?after=${after}`));
  try {
    return await Array.fromAsync(manifestPages(read, agent));
  } catch (error) {
    if (WaybillError.is(error, 404)) return [];
    throw error;
  }
}
