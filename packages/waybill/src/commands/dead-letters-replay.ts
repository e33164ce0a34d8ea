import { parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { HandoffOptions } from "@waybill/agent";
import type { Run } from "../command-line/command.ts";
import { commandLine, textOf } from "../command-line/given.ts";
import { idOf } from "../command-line/id.ts";
import { hubClient } from "../hub/client.ts";
import { deadLetter } from "../hub/dead-letters.ts";
import { handOff } from "../sending/hand-off.ts";
import { timeoutOf } from "../sending/work.ts";

export const run: Run = async (context) => {
  const { given, settings, signal, terminal } = context;
  const id = idOf(given.arguments["id"]!, "the id of a handoff");
  const { handoff } = await deadLetter(hubClient({ settings, terminal, signal }), id);
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
  });
};

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
    replayOf: handoff_id,
    priority,
    ...(session !== undefined && {
      session: { id: session.id, waitMs: (session.wait_seconds ?? 0) * 1_000 },
    }),
    // By default it has as much time as the original.
    timeoutMs: timeoutMs ?? Date.parse(deadline) - Date.parse(not_before ?? issued_at),
  };
}
