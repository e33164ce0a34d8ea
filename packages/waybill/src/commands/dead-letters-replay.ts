import { derivedId, parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import { readHandoffView } from "@waybill/protocol/wire";
import type { HandoffOptions } from "@waybill/agent";
import type { Run } from "../command-line/command.ts";
import { commandLine, textOf } from "../command-line/given.ts";
import { idOf } from "../command-line/id.ts";
import { hubClient } from "../hub/client.ts";
import type { HubClient } from "../hub/client.ts";
import { deadLetter } from "../hub/dead-letters.ts";
import { handOff } from "../sending/hand-off.ts";
import { timeoutOf } from "../sending/work.ts";

export const run: Run = async (context) => {
  const { given, settings, signal, terminal } = context;
  const id = idOf(given.arguments["id"]!, "the id of a handoff");
  const hub = hubClient({ settings, terminal, signal });
  const { handoff } = await deadLetter(hub, id);
  const original = parseEnvelope(readCompact(handoff.envelope).payload);
  if (original.kind !== "handoff") {
    throw new WaybillError(
      400,
      `The hub answered with a ${original.kind} where the handoff ${id} was expected. Check the hub: waybill doctor`,
    );
  }
  terminal.note((style) =>
    style.faint(`Replaying ${original.body.capability}, first handed off by ${original.from}.`),
  );
  return handOff(context, {
    command: "dead-letters replay",
    isOperators: true,
    work: replayOf(original, textOf(given, "to"), timeoutOf(given)),
    again: (_, answer) =>
      commandLine([
        "waybill",
        "dead-letters",
        "replay",
        id,
        ...(answer === undefined ? [] : ["--answer", answer]),
      ]),
    explain: (error) => explained(error, hub, id),
  });
};

/**
 * The id of a dead letter's replay, which the console derives in the same way: whoever replays it
 * again finds the first replay.
 */
function replayId(id: string): string {
  return derivedId("replay", id);
}

/** The hub does not say that another agent's replay has the id. */
async function explained(error: WaybillError, hub: HubClient, id: string): Promise<WaybillError> {
  if (error.status !== 403) return error;
  const replay = replayId(id);
  let view;
  try {
    view = readHandoffView(await hub.get(`/v1/handoffs/${replay}`));
  } catch {
    return error;
  }
  const { from } = parseEnvelope(readCompact(view.envelope).payload);
  return new WaybillError(
    409,
    `${from} has replayed ${id} before, as ${replay}, so nothing was handed off. To see what became of it: waybill trace ${replay}. If that one failed too, replay that one.`,
    { cause: error },
  );
}

/** The same work for the same job, as a handoff of the caller. */
function replayOf(
  {
    to,
    handoff_id,
    correlation_id,
    body,
    issued_at,
    not_before,
    deadline,
    priority,
    session,
  }: HandoffEnvelope,
  otherTo: string | undefined,
  timeoutMs: number | undefined,
): HandoffOptions {
  const wanted = typeof to === "string" ? undefined : to;
  const { metadata, ...work } = body;
  return {
    ...work,
    ...(metadata !== undefined && { metadata }),
    to: otherTo ?? (typeof to === "string" ? to : undefined),
    tags: wanted?.tags,
    minReliability: wanted?.min_reliability,
    correlationId: correlation_id,
    handoffId: replayId(handoff_id),
    replayOf: handoff_id,
    priority,
    ...(session !== undefined && {
      session: { id: session.id, waitMs: (session.wait_seconds ?? 0) * 1_000 },
    }),
    // By default it has as much time as the original.
    timeoutMs: timeoutMs ?? Date.parse(deadline) - Date.parse(not_before ?? issued_at),
  };
}
