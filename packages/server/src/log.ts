import type { HubLogEvent } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { pino } from "pino";

/** What would be content or a key wherever it turned up. Nothing here logs it; this is the second lock. */
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

/** What a served hub needs of a logger: any of pino's is one. */
export interface HubLogger {
  info(members: object, message: string): void;
  warn(members: object, message: string): void;
  error(members: object, message: string): void;
}

/** How much is logged, and where to. */
export interface HubLoggerOptions {
  readonly level?: "debug" | "info" | "warn" | "error" | undefined;
  /** Left out: standard error. */
  readonly destination?: { write(line: string): void } | undefined;
}

/** Structured lines, none of which holds what agents have sent. */
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

/** What a hub tells its `log` option, as lines of a logger. */
export function logTo(logger: HubLogger): (event: HubLogEvent) => void {
  return ({ event, agent, handoffId, status, error }) => {
    const members = { agent, handoff_id: handoffId, status };
    if (event === "failure") logger.error({ ...members, fault: faultOf(error) }, event);
    else logger.info(members, event);
  };
}

/**
 * Where and of what kind an error is. Not its message: it may hold a piece of what somebody sent,
 * and a stack begins with the message.
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
