import { durationText } from "../terminal/duration.ts";
import type { Style } from "../terminal/style.ts";
import { padded, printable, widthOf } from "../terminal/text.ts";
import { STATE_SIGNS, toned } from "./signs.ts";
import type { Tone, Trace, TraceHandoff } from "./trace.ts";

const BAR_MIN = 12;
const BAR_MAX = 60;
const NAME_MAX = 44;
/** The share of a line for names. */
const NAME_SHARE = 0.6;
const TIME_WIDTH = 14;

/** The outcome of an attempt, readable without colours. */
const ATTEMPT_SIGNS: Readonly<Record<Tone, string>> = {
  good: "━",
  bad: "╳",
  warning: "╌",
  step: "━",
};

/** One line for each handoff: when it waited (·), when an attempt ran, and how it ended. */
export function waterfall(trace: Trace, width: number, now: number, style: Style): string {
  const { startedAt, endedAt = now } = trace;
  const rows = trace.handoffs.flatMap((each) => rowsOf(each, ""));
  const nameMax = Math.min(NAME_MAX, Math.floor((width - TIME_WIDTH) * NAME_SHARE));
  const nameWidth = Math.min(nameMax, Math.max(...rows.map(({ name }) => widthOf(name))));
  const barWidth = Math.min(BAR_MAX, Math.max(BAR_MIN, width - nameWidth - TIME_WIDTH));
  const scale = barWidth / Math.max(1, endedAt - startedAt);
  const columnOf = (at: number) => Math.min(barWidth - 1, Math.floor((at - startedAt) * scale));
  return rows
    .map(({ handoff, name }) => {
      const bar = barOf(handoff, { now, columnOf, barWidth }, style);
      const { sign, tone } = STATE_SIGNS[handoff.state];
      const took = durationText((handoff.endedAt ?? now) - handoff.startedAt);
      // A long name gets its own line above the bar.
      const own = widthOf(name) > nameWidth ? `${name}\n${" ".repeat(nameWidth)}` : name;
      return `${padded(own, nameWidth)}  ${bar}  ${toned(tone, sign, style)} ${took}`;
    })
    .join("\n");
}

function rowsOf(handoff: TraceHandoff, indent: string): { handoff: TraceHandoff; name: string }[] {
  const { capability, recipient, children, replayOf } = handoff;
  const sign = replayOf === undefined ? "" : "↻ ";
  const name = `${indent}${sign}${printable(capability)} → ${recipient ?? "nobody"}`;
  return [{ handoff, name }, ...children.flatMap((each) => rowsOf(each, `${indent}  `))];
}

interface Scale {
  readonly now: number;
  readonly columnOf: (at: number) => number;
  readonly barWidth: number;
}

function barOf(handoff: TraceHandoff, { now, columnOf, barWidth }: Scale, style: Style): string {
  const { startedAt, endedAt = now } = handoff;
  const cells = Array.from({ length: barWidth }, () => " ");
  cells.fill(style.faint("·"), columnOf(startedAt), columnOf(endedAt) + 1);
  for (const { from, to, tone } of attemptsOf(handoff, endedAt)) {
    cells.fill(toned(tone, ATTEMPT_SIGNS[tone], style), columnOf(from), columnOf(to) + 1);
  }
  return cells.join("");
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
}

const CLOSES: ReadonlySet<string> = new Set([
  "result",
  "rejected",
  "released",
  "unreachable",
  "lease_lost",
  "cancel",
  "expired",
  "parent_ended",
  "group_decided",
  "dead_letter",
]);

/** The time spans in which an attempt ran. */
function attemptsOf({ events }: TraceHandoff, endedAt: number): Span[] {
  const spans: Span[] = [];
  let from: number | undefined;
  for (const { type, at, tone } of events) {
    if (type === "offered") from = at;
    else if (from !== undefined && CLOSES.has(type)) {
      spans.push({ from, to: at, tone });
      from = undefined;
    }
  }
  if (from !== undefined) spans.push({ from, to: endedAt, tone: "warning" });
  return spans;
}
