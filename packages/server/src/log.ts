import type { HubLogEvent } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { pino } from "pino";

/** Names of members that would be content or keys. Nothing here logs them; this is the second safeguard. */
const NEVER_LOGGED: readonly string[] = [
  "authorization",
  "body",
  "envelope",
  "input",
  "key",
  "manifest",
  "output",
  "proof",
  "token",
];

/** What a served hub needs of a logger; pino's fit. */
export interface HubLogger {
  info(members: object, message: string): void;
  warn(members: object, message: string): void;
  error(members: object, message: string): void;
}

/** How much is logged, and where to. */
export interface HubLoggerOptions {
  readonly level?: "debug" | "info" | "warn" | "error" | undefined;
  /** By default standard error. */
  readonly destination?: { write(line: string): void } | undefined;
}

/** Structured log lines without any content of agents. */
export function hubLogger({ level = "info", destination }: HubLoggerOptions = {}): HubLogger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: NEVER_LOGGED.flatMap((name) => [name, `*.${name}`]),
    },
    destination ?? pino.destination({ dest: 2, sync: false }),
  );
}

/** Converts the hub's `log` events to lines of a logger. */
export function logTo(logger: HubLogger): (event: HubLogEvent) => void {
  return ({ event, agent, handoffId, status, error }) => {
    const members = { agent, handoff_id: handoffId, status };
    if (event === "failure") logger.error({ ...members, fault: faultOf(error) }, event);
    else logger.info(members, event);
  };
}

/**
 * Where an error was thrown, and its class. Not its message, which may contain content of a request,
 * nor its stack, which begins with the message.
 */
export function faultOf(error: unknown): Record<string, unknown> {
  const { status, code, at, cause } = WaybillError.from(error);
  const origin = cause instanceof Error ? cause : error;
  const name = origin instanceof Error ? origin.name : typeof origin;
  const stack = origin instanceof Error ? framesOf(origin) : [];
  return { status, code, at, name, stack };
}

const FRAMES_LOGGED = 8;

function framesOf({ stack = "" }: Error): string[] {
  return stack
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("at "))
    .slice(0, FRAMES_LOGGED);
}
