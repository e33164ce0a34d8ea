import { statusOf } from "@waybill/protocol";
import { durationText } from "../terminal/duration.ts";
import { waitLines } from "./waits.ts";
import type { Style } from "../terminal/style.ts";
import { counted, padded, printable, shortened, widthOf } from "../terminal/text.ts";
import { STATE_SIGNS, toned } from "./signs.ts";
import type { Trace, TraceEvent, TraceHandoff } from "./trace.ts";
import { waterfall } from "./waterfall.ts";

const WIDTH_MAX = 132;

/** The story of a job, as wide as the terminal, where that can still be read. */
export function traceText(trace: Trace, columns: number, now: number, style: Style): string {
  const width = Math.min(columns, WIDTH_MAX);
  return [
    headOf(trace, now, style),
    waterfall(trace, width, now, style),
    ...trace.handoffs.map((each) => handoffLines(each, width, style).join("\n")),
    ...apartLines(trace, width, style),
    footOf(trace, style),
  ].join("\n\n");
}

function headOf(trace: Trace, now: number, style: Style): string {
  const { correlationId, count, startedAt, endedAt } = trace;
  const took = durationText((endedAt ?? now) - startedAt);
  const facts = [
    new Date(startedAt).toISOString().slice(0, 19).replace("T", " "),
    counted(count, "handoff"),
    endedAt === undefined ? `open for ${took}` : `took ${took}`,
  ];
  return `${style.strong("Job")} ${style.name(correlationId)}\n${style.faint(facts.join(" · "))}`;
}

/** Anybody can write the correlation id of a job: what is not of it is not told as part of it. */
function apartLines({ apart }: Trace, width: number, style: Style): string[] {
  if (apart.length === 0) return [];
  const told = apart.length === 1 ? "its delegator takes" : "their delegators take";
  return [
    style.warning(`! Not part of this job: ${told} no part in it.`),
    ...apart.map((each) => handoffLines(each, width, style).join("\n")),
  ];
}

function footOf({ signatures: { held, failed } }: Trace, style: Style): string {
  const all = held + failed;
  return failed === 0
    ? `${style.good("✔")} All ${counted(all, "signature")} hold, checked here with the keys in the agents' manifests.`
    : `${style.bad("✗")} ${style.bad(`${failed} of ${counted(all, "signature")} did not hold`)}: they are named above.`;
}

function handoffLines(handoff: TraceHandoff, width: number, style: Style): string[] {
  const { capability, delegator, recipient, state, status, startedAt, endedAt } = handoff;
  const { sign, tone } = STATE_SIGNS[state];
  const took = endedAt === undefined ? "" : ` after ${durationText(endedAt - startedAt)}`;
  const title = [
    toned(tone, sign, style),
    style.strong(printable(capability)),
    `${delegator} → ${recipient ?? "nobody"} `,
    toned(tone, `${state.replace("_", "-")}${took}`, style),
    style.faint(`${status} ${statusOf(status).name}`),
  ].join(" ");
  const lines = [title, `${style.faint(`│ ${handoff.id}`)}`];
  const waits = waitLines(handoff.waitsFor, width - 2, style);
  lines.push(...waits.map((line) => `${style.faint("│")} ${line}`));
  const bodies = bodiesOf(handoff);
  const hasMore = handoff.attempts > 1;
  const byWidth = Math.max(0, ...handoff.events.map(({ by }) => widthOf(by)));
  for (const [index, body] of bodies.entries()) {
    const isLast = index === bodies.length - 1;
    if ("events" in body) {
      const [first = "", ...rest] = handoffLines(body, width - 3, style);
      lines.push(`${style.faint(isLast ? "└─" : "├─")} ${first}`);
      lines.push(...rest.map((line) => `${isLast ? " " : style.faint("│")}  ${line}`));
    } else {
      const bar = style.faint(isLast ? "╵" : "│");
      const own = eventLines(body, { startedAt, byWidth, width: width - 2, hasMore }, style);
      lines.push(...own.map((line) => `${bar} ${line}`));
    }
  }
  return lines;
}

/** Events and parts in the order in which they came. */
function bodiesOf({ events, children }: TraceHandoff): (TraceEvent | TraceHandoff)[] {
  const at = (body: TraceEvent | TraceHandoff) => ("events" in body ? body.startedAt : body.at);
  return [...events, ...children].toSorted((a, b) => at(a) - at(b));
}

interface Place {
  readonly startedAt: number;
  readonly byWidth: number;
  readonly width: number;
  /** Whether there is more than one attempt to tell apart. */
  readonly hasMore: boolean;
}

const TIME_WIDTH = 9;
const SAYS_MIN = 24;
/** `✔ 3fQzk2Lm ✔ receipt` */
const PROOF_WIDTH = 20;

function eventLines(event: TraceEvent, place: Place, style: Style): string[] {
  const { startedAt, byWidth, width, hasMore } = place;
  const time = `+${durationText(event.at - startedAt)}`.padStart(TIME_WIDTH);
  const by = padded(event.by, byWidth);
  const proof = proofOf(event, style);
  const isNumbered = hasMore && event.attempt !== undefined && event.type !== "offered";
  const attempt = isNumbered ? ` #${event.attempt}` : "";
  const room = Math.max(SAYS_MIN, width - TIME_WIDTH - byWidth - PROOF_WIDTH - 5);
  const says = shortened(printable(event.says), room - attempt.length);
  const what = padded(toned(event.tone, says, style) + style.faint(attempt), room);
  const who = event.signature === undefined ? style.faint(by) : by;
  const faults = [event.signature, event.receipt].flatMap((each) =>
    each?.holds === false
      ? [`${" ".repeat(TIME_WIDTH + 2)}${style.bad(`✗ ${printable(each.why)}`)}`]
      : [],
  );
  return [`${style.faint(time)}  ${who}  ${what} ${proof}`.trimEnd(), ...faults];
}

/** `✔ 3fQzk2Lm ✔ receipt`: signed with this key, and the hub signed for it. */
function proofOf({ signature, receipt }: TraceEvent, style: Style): string {
  const parts: string[] = [];
  if (signature?.holds === true) {
    parts.push(`${style.good("✔")} ${style.faint(signature.kid.slice(0, 8))}`);
  } else if (signature?.holds === false) parts.push(style.bad("✗ signature"));
  if (receipt?.holds === true) parts.push(`${style.good("✔")} ${style.faint("receipt")}`);
  else if (receipt?.holds === false) parts.push(style.bad("✗ receipt"));
  return parts.join(" ");
}
