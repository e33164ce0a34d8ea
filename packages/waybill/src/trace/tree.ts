import { statusOf } from "@waybill/protocol";
import type { SessionState } from "@waybill/protocol";
import { durationText } from "../terminal/duration.ts";
import { waitLines } from "./waits.ts";
import type { Style } from "../terminal/style.ts";
import { counted, padded, printable, shortened, widthOf } from "../terminal/text.ts";
import { hanging } from "../terminal/wrap.ts";
import { STATE_SIGNS, toned } from "./signs.ts";
import type { Trace, TraceEvent, TraceHandoff } from "./trace.ts";
import { usageLines, usageText } from "./usage.ts";
import { waterfall } from "./waterfall.ts";

const WIDTH_MAX = 132;

/** The trace of a job, as wide as the terminal, up to a readable width. */
export function traceText(trace: Trace, columns: number, now: number, style: Style): string {
  const width = Math.min(columns, WIDTH_MAX);
  return [
    headOf(trace, width, now, style),
    waterfall(trace, width, now, style),
    ...trace.handoffs.map((each) => handoffLines(each, width, style).join("\n")),
    ...apartLines(trace, width, style),
    footOf(trace, style),
  ].join("\n\n");
}

function headOf(trace: Trace, width: number, now: number, style: Style): string {
  const { correlationId, count, startedAt, endedAt, usage } = trace;
  const took = durationText((endedAt ?? now) - startedAt);
  const used =
    usage.length === 0 ? "" : `\n${style.faint(hanging(`used ${usageText(usage)}`, width, 2))}`;
  const facts = [
    new Date(startedAt).toISOString().slice(0, 19).replace("T", " "),
    counted(count, "handoff"),
    endedAt === undefined ? `open for ${took}` : `took ${took}`,
  ];
  return `${style.strong("Job")} ${style.name(correlationId)}\n${style.faint(facts.join(" · "))}${used}`;
}

/** Anybody can use the correlation id of a job, so foreign handoffs are listed apart. */
function apartLines({ apart }: Trace, width: number, style: Style): string[] {
  if (apart.length === 0) return [];
  const reason =
    apart.length === 1
      ? "its delegator is not a party to it"
      : "their delegators are not parties to it";
  return [
    style.warning(`! Not part of this job: ${reason}.`),
    ...apart.map((each) => handoffLines(each, width, style).join("\n")),
  ];
}

function footOf({ signatures: { held, failed } }: Trace, style: Style): string {
  const all = held + failed;
  return failed === 0
    ? `${style.good("✔")} All ${counted(all, "signature")} are valid, checked with the keys in the agents' manifests.`
    : `${style.bad("✗")} ${style.bad(`${failed} of ${counted(all, "signature")} are not valid`)}; each is marked above.`;
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
  const lines = [...hanging(title, width, 2).split("\n"), style.faint(`│ ${handoff.id}`)];
  const more = [
    ...principalLines(handoff, width - 2, style),
    ...waitLines(handoff, width - 2, style),
    ...sessionLines(handoff, width - 2, style),
    ...usageLines(handoff, width - 2, style),
  ];
  lines.push(...more.map((line) => `${style.faint("│")} ${line}`));
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

function principalLines({ onBehalfOf }: TraceHandoff, width: number, style: Style): string[] {
  if (onBehalfOf === undefined) return [];
  const text = `on behalf of ${printable(onBehalfOf)}`;
  return hanging(style.faint(text), width, 2).split("\n");
}

/** Longer ids are complete in the JSON output. */
const SESSION_SHOWN = 40;
const SESSION_WORDS: Readonly<Record<SessionState, string>> = {
  begun: "a new conversation",
  continued: "continues the conversation",
  lost: "the earlier conversation is lost, so a new one begins",
};

function sessionLines({ session }: TraceHandoff, width: number, style: Style): string[] {
  if (session === undefined) return [];
  const { id, state } = session;
  const name = id.length > SESSION_SHOWN ? `${id.slice(0, SESSION_SHOWN - 1)}…` : id;
  const text = `session ${printable(name)}${state === undefined ? "" : `: ${SESSION_WORDS[state]}`}`;
  const line = state === "lost" ? toned("warning", text, style) : style.faint(text);
  return hanging(line, width, 2).split("\n");
}

/** Events and children in order of time. */
function bodiesOf({ events, children }: TraceHandoff): (TraceEvent | TraceHandoff)[] {
  const at = (body: TraceEvent | TraceHandoff) => ("events" in body ? body.startedAt : body.at);
  return [...events, ...children].toSorted((a, b) => at(a) - at(b));
}

interface Place {
  readonly startedAt: number;
  readonly byWidth: number;
  readonly width: number;
  /** Whether there are several attempts to distinguish. */
  readonly hasMore: boolean;
}

const TIME_WIDTH = 9;
const SAYS_MIN = 24;
/** Used if time and name leave no room beside them. */
const BELOW_INDENT = 4;
const SAYS_LINES_MAX = 3;
/** `✔ 3fQzk2Lm ✔ receipt` */
const PROOF_WIDTH = 20;

function eventLines(event: TraceEvent, place: Place, style: Style): string[] {
  const { startedAt, byWidth, width, hasMore } = place;
  const time = style.faint(`+${durationText(event.at - startedAt)}`.padStart(TIME_WIDTH));
  const by = event.signature === undefined ? style.faint(event.by) : event.by;
  const proof = proofOf(event, style);
  const isNumbered = hasMore && event.attempt !== undefined && event.type !== "offered";
  const attempt = isNumbered ? style.faint(` #${event.attempt}`) : "";
  const { room, indent, isProofBeside } = roomFor(printable(event.says), { byWidth, width });
  const says = shortened(printable(event.says), room * SAYS_LINES_MAX)
    .split(" ")
    .map((word) => shortened(word, room))
    .join(" ");
  const text = toned(event.tone, says, style) + attempt;
  const own = hanging(text, room, 0).split("\n");
  if (isProofBeside) own[0] = `${padded(own[0]!, room)} ${proof}`.trimEnd();
  else if (proof !== "") own.push(proof);
  const head = `${time}  ${padded(by, byWidth)}`;
  const margin = " ".repeat(indent);
  const lines =
    indent === BELOW_INDENT
      ? [`${time}  ${by}`, ...own.map((line) => margin + line)]
      : own.map((line, index) => (index === 0 ? `${head}  ${line}` : margin + line));
  const faults = [event.signature, event.receipt].flatMap((each) =>
    each?.holds === false
      ? hanging(
          `${" ".repeat(TIME_WIDTH + 2)}${style.bad(`✗ ${printable(each.why)}`)}`,
          width,
          TIME_WIDTH + 4,
        ).split("\n")
      : [],
  );
  return [...lines, ...faults];
}

interface Room {
  readonly room: number;
  readonly indent: number;
  readonly isProofBeside: boolean;
}

/**
 * The text's room beside time, name and proof; without the proof if the longest word does not fit;
 * else below.
 */
function roomFor(says: string, { byWidth, width }: Pick<Place, "byWidth" | "width">): Room {
  const words = says.split(" ").map(widthOf);
  const indent = TIME_WIDTH + byWidth + 4;
  const least = Math.min(Math.max(SAYS_MIN, ...words), width - BELOW_INDENT);
  const room = width - indent;
  if (room - PROOF_WIDTH - 1 >= least) {
    return { room: room - PROOF_WIDTH - 1, indent, isProofBeside: true };
  }
  if (room >= least) return { room, indent, isProofBeside: false };
  const below = Math.max(SAYS_MIN, width - BELOW_INDENT);
  return { room: below, indent: BELOW_INDENT, isProofBeside: false };
}

/** `✔ 3fQzk2Lm ✔ receipt`: signed with this key, and confirmed by the hub's receipt. */
function proofOf({ signature, receipt }: TraceEvent, style: Style): string {
  const parts: string[] = [];
  if (signature?.holds === true) {
    parts.push(`${style.good("✔")} ${style.faint(signature.kid.slice(0, 8))}`);
  } else if (signature?.holds === false) parts.push(style.bad("✗ signature"));
  if (receipt?.holds === true) parts.push(`${style.good("✔")} ${style.faint("receipt")}`);
  else if (receipt?.holds === false) parts.push(style.bad("✗ receipt"));
  return parts.join(" ");
}
