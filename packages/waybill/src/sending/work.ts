import type { HandoffOptions } from "@waybill/agent";
import { countOf } from "../command-line/count.ts";
import { isGiven, listOf, textOf } from "../command-line/given.ts";
import type { Given } from "../command-line/given.ts";
import { idOf } from "../command-line/id.ts";
import { readJson } from "../files/read-text.ts";
import { parseDuration } from "../terminal/duration.ts";

/** What `waybill send` was asked to hand off. */
export async function workOf(given: Given): Promise<HandoffOptions> {
  const input = given.arguments["input"];
  const attempts = textOf(given, "attempts");
  const lease = textOf(given, "lease");
  const messages = listOf(given, "message");
  const brief = textOf(given, "brief");
  const contract = {
    ...(attempts !== undefined && { max_attempts: countOf(attempts, "attempts") }),
    ...(lease !== undefined && { lease_seconds: parseDuration(lease, "lease") / 1000 }),
  };
  return {
    capability: given.arguments["capability"]!,
    to: textOf(given, "to"),
    version: textOf(given, "version"),
    tags: isGiven(given, "tag") ? [...listOf(given, "tag")] : undefined,
    input: input === undefined ? undefined : await readJson(input, "The input"),
    brief: brief === undefined ? undefined : { instruction: brief },
    messages:
      messages.length === 0
        ? undefined
        : messages.map((text) => ({ role: "user", content: [{ type: "text", text }] })),
    contract: Object.keys(contract).length === 0 ? undefined : contract,
    timeoutMs: timeoutOf(given),
    handoffId: idIn(given, "handoff"),
    correlationId: idIn(given, "correlation"),
  };
}

export function timeoutOf(given: Given): number | undefined {
  const timeout = textOf(given, "timeout");
  return timeout === undefined ? undefined : parseDuration(timeout, "timeout");
}

function idIn(given: Given, option: string): string | undefined {
  const id = textOf(given, option);
  return id === undefined ? undefined : idOf(id, `an id for --${option}`);
}
