import { parseJson, parseManifest, readCompact, WaybillError } from "@waybill/protocol";
import type { WirePresence, WireWellKnown } from "@waybill/protocol/wire";
import type { Run } from "../command-line/command.ts";
import { countOf } from "../command-line/count.ts";
import { textOf } from "../command-line/given.ts";
import type { Context } from "../context.ts";
import { hubClient } from "../hub/client.ts";
import { suggestion } from "../hub/known.ts";
import { listOf } from "../hub/list.ts";
import { columns, pairs } from "../terminal/columns.ts";
import { durationText } from "../terminal/duration.ts";
import { manifestText } from "../terminal/manifest.ts";
import type { Style } from "../terminal/style.ts";
import { printable } from "../terminal/text.ts";

/** How many agents are listed by default. */
const LISTED = "1000";

export const run: Run = async (context) => {
  const agent = context.given.arguments["agent"];
  return agent === undefined ? showAll(context) : showOne(context, agent);
};

async function showAll({ given, settings, terminal, signal }: Context): Promise<void> {
  const hub = hubClient({ settings, terminal, signal });
  const most = countOf(textOf(given, "limit") ?? LISTED, "limit");
  const [agents, { hub: itself }] = await Promise.all([
    listOf<WirePresence>(hub, "/v1/agents", "agents", most),
    hub.get("/.well-known/waybill") as Promise<WireWellKnown>,
  ]);
  await terminal.answer({ agents }, (style) => {
    if (agents.length <= 1)
      return "No agent is enrolled yet. To enrol one, start it, or follow /skill.md of the hub.";
    const others = agents.filter(({ agent_id: agent }) => agent !== itself);
    const rows = others.map((each) => [
      style.strong(each.agent_id),
      connection(each, style),
      String(each.in_flight),
      namesOf(each),
    ]);
    const table = columns(
      ["AGENT", "CONNECTED", "AT WORK", "CAN DO"],
      rows,
      style.faint,
      terminal.width,
    );
    const more = `These are the first ${most}. To see more: --limit <number>`;
    return agents.length < most ? table : `${table}\n\n${style.faint(more)}`;
  });
}

function namesOf({ capabilities, capability_count: count }: WirePresence): string {
  const names = capabilities.map(({ name }) => printable(name)).join(", ");
  const more = count - capabilities.length;
  return more > 0 ? `${names} and ${more} more` : names;
}

async function showOne({ settings, terminal, signal }: Context, agent: string): Promise<void> {
  const hub = hubClient({ settings, terminal, signal });
  const presence = (await hub
    .get(`/v1/agents/${encodeURIComponent(agent)}`)
    .catch(async (error: unknown) => {
      if (!WaybillError.is(error, 404)) throw error;
      const near = await suggestion(hub, "agents", agent);
      throw new WaybillError(
        404,
        `No agent ${JSON.stringify(agent)} is enrolled at ${hub.url}.${near} To list the agents: waybill agents`,
        { cause: error },
      );
    })) as WirePresence & { readonly manifest: string };
  const manifest = parseManifest(parseJson(readCompact(presence.manifest).payload));
  await terminal.answer({ ...presence, manifest, signed: presence.manifest }, (style) => {
    const { credit, in_flight: inFlight } = presence;
    const rows = [
      ["connected", connection(presence, style)],
      ["in progress", String(inFlight)],
      ["free places", String(credit)],
    ] as const;
    return `${pairs(rows, style.faint)}\n\n${manifestText(manifest, style)}`;
  });
}

function connection(
  { is_connected: isConnected, last_seen: lastSeen, is_retired: isRetired }: WirePresence,
  style: Style,
): string {
  if (isRetired === true) return style.faint("retired");
  if (isConnected) return style.good("● yes");
  if (lastSeen === null) return style.faint("○ no");
  return style.faint(`○ ${durationText(Date.now() - Date.parse(lastSeen))} ago`);
}
