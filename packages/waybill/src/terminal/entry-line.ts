import { parseEnvelope, parseJson, readCompact } from "@waybill/protocol";
import type { Envelope } from "@waybill/protocol";
import type { WireEntry } from "@waybill/protocol/wire";
import { toned } from "../trace/signs.ts";
import { DECISIONS, textOf } from "../trace/event-text.ts";
import type { Decision, EventText } from "../trace/event-text.ts";
import type { Style } from "./style.ts";
import { padded, printable } from "./text.ts";

export interface EntryLine {
  readonly handoffId: string | null;
  /** Undefined if the entry does not name its job. */
  readonly correlationId: string | undefined;
  readonly value: unknown;
  /** Undefined for repetitive entries: a terminal shows only news. */
  readonly text: ((style: Style) => string) | undefined;
}

const WHO_WIDTH = 16;
const SAYS_MAX = 160;

/** One ledger entry as a line. */
export function lineOf({ content, ...members }: WireEntry): EntryLine {
  const { at, type, handoff_id: handoffId } = members;
  const { by, told, about, correlationId, ...read } = READERS[type](content);
  const of = { handoffId, correlationId, value: { ...members, ...read } };
  if (told === undefined) return { ...of, text: undefined };
  const text = (style: Style) => {
    const time = style.faint(printable(at).slice(11, 23));
    const who = type === "decision" ? style.faint : style.strong;
    const short = style.faint(
      printable(handoffId ?? "")
        .slice(-6)
        .padStart(6),
    );
    const what = toned(told.tone, printable(told.says, SAYS_MAX), style);
    const more = about === undefined ? "" : `  ${style.faint(printable(about, SAYS_MAX))}`;
    return `${time}  ${short}  ${who(padded(printable(by), WHO_WIDTH))}  ${what}${more}`;
  };
  return { ...of, text };
}

interface Read {
  readonly by: string;
  readonly told: EventText | undefined;
  readonly about?: string | undefined;
  readonly correlationId?: string;
  readonly envelope?: Envelope;
  readonly manifest?: unknown;
  readonly decision?: Decision;
}

const READERS: Readonly<Record<WireEntry["type"], (content: string) => Read>> = {
  envelope(content) {
    const envelope = parseEnvelope(readCompact(content).payload);
    const isCustody = envelope.kind === "receipt" && envelope.body.status === 100;
    return {
      by: envelope.from,
      told: isCustody ? undefined : textOf(envelope),
      about: aboutOf(envelope),
      correlationId: envelope.correlation_id,
      envelope,
    };
  },
  manifest(content) {
    const manifest = parseJson(readCompact(content).payload) as {
      agent_id: string;
      sequence: number;
    };
    const says = `publishes its manifest, number ${manifest.sequence}`;
    return { by: manifest.agent_id, told: { type: "manifest", says, tone: "step" }, manifest };
  },
  decision(content) {
    const decision = parseJson(content) as unknown as Decision;
    return { by: "(hub)", told: DECISIONS[decision.type]?.(decision), decision };
  },
};

function aboutOf(envelope: Envelope): string | undefined {
  if (envelope.kind !== "handoff") return undefined;
  const { to, body, correlation_id: job } = envelope;
  return `${body.capability}${typeof to === "string" ? ` to ${to}` : ""} · job ${job}`;
}
