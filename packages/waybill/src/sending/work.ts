import type { HandoffOptions } from "@waybill/agent";
import { parseTime, WaybillError } from "@waybill/protocol";
import { countOf } from "../command-line/count.ts";
import { isGiven, listOf, textOf } from "../command-line/given.ts";
import type { Given } from "../command-line/given.ts";
import { idOf } from "../command-line/id.ts";
import { checkFile, readJson } from "../files/read-text.ts";
import { parseDuration } from "../terminal/duration.ts";

/** The work that `waybill send` was asked to hand off. */
export async function workOf(given: Given): Promise<HandoffOptions> {
  const input = given.arguments["input"];
  const attempts = textOf(given, "attempts");
  const lease = textOf(given, "lease");
  const messages = listOf(given, "message");
  const brief = textOf(given, "brief");
  const files = listOf(given, "file");
  for (const path of files) checkFile(path);
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
    artifacts: files.length === 0 ? undefined : files.map((path) => ({ path })),
    contract: Object.keys(contract).length === 0 ? undefined : contract,
    timeoutMs: timeoutOf(given),
    notBefore: startOf(given),
    priority: priorityOf(given),
    session: sessionOf(given),
    handoffId: idIn(given, "handoff"),
    correlationId: idIn(given, "correlation"),
  };
}

export function timeoutOf(given: Given): number | undefined {
  const timeout = textOf(given, "timeout");
  return timeout === undefined ? undefined : parseDuration(timeout, "timeout");
}

/** A duration from now, or a date. */
function startOf(given: Given): Date | undefined {
  const text = textOf(given, "not-before");
  if (text === undefined) return undefined;
  const at = parseTime(text);
  return new Date(at ?? Date.now() + parseDuration(text, "not-before"));
}

function priorityOf(given: Given): number | undefined {
  const text = textOf(given, "priority");
  if (text === undefined) return undefined;
  if (/^[0-9]$/.test(text)) return Number(text);
  throw new WaybillError(
    400,
    `--priority must be a whole number from 0 to 9, but it is ${JSON.stringify(text)}.`,
  );
}

function sessionOf(given: Given): HandoffOptions["session"] {
  const id = textOf(given, "session");
  const wait = textOf(given, "session-wait");
  if (id !== undefined) {
    return wait === undefined ? id : { id, waitMs: parseDuration(wait, "session-wait") };
  }
  if (wait === undefined) return undefined;
  throw new WaybillError(
    400,
    "--session-wait says how long to wait for the agent that holds a session: name the session with --session.",
  );
}

function idIn(given: Given, option: string): string | undefined {
  const id = textOf(given, option);
  return id === undefined ? undefined : idOf(id, `an id for --${option}`);
}
