import type {
  DeltaEvent,
  HandoffResult,
  ProgressEvent,
  QuestionEvent,
  Receipt,
} from "@waybill/agent";
import type { Artifact, HandoffEnvelope, Json, WaybillError } from "@waybill/protocol";
import { exitCodeOf } from "../command-line/exit-code.ts";
import { codesText, sentencesOf } from "../terminal/failure.ts";
import type { Style } from "../terminal/style.ts";
import type { SavedFile } from "./result-files.ts";
import { counted, printable } from "../terminal/text.ts";

/** One stage of a handoff: a line of JSON for programs, lines of text for people. */
export interface Stage {
  readonly event: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly lines: (style: Style) => readonly string[];
}

export function custodyStage({ by, digest, text }: Receipt, envelope: HandoffEnvelope): Stage {
  const { handoff_id: id, correlation_id, deadline } = envelope;
  return {
    event: "custody",
    members: { by, digest, correlation_id, deadline, receipt: text },
    lines: (style) => [
      `${style.good("✔")} in custody of ${style.strong(by)}, receipt signed`,
      style.faint(`handoff ${id}, job ${correlation_id}`),
    ],
  };
}

export function acceptedStage({ by, attempt, digest, text }: Receipt): Stage {
  return {
    event: "accepted",
    members: { by, attempt, digest, receipt: text },
    lines: (style) => [
      `${style.good("✔")} accepted by ${style.strong(by)}${nth(attempt)}, receipt signed`,
    ],
  };
}

export function progressStage({ by, attempt, message, fraction, data }: ProgressEvent): Stage {
  return {
    event: "progress",
    members: { by, attempt, message, fraction, data },
    lines: (style) => {
      const share = fraction === undefined ? "" : `${bar(fraction, style)} `;
      const what = `${style.faint("…")} ${share}${printable(message ?? "is working")}`;
      return [attempt === 1 ? what : `${what} ${style.faint(`(${by}${nth(attempt)})`)}`];
    },
  };
}

/** For programs only: people see the text in the status line. */
export function deltaStage({ by, attempt, number, text }: DeltaEvent): Stage {
  return { event: "delta", members: { by, attempt, number, text }, lines: () => [] };
}

export function questionStage({ id, by, attempt, text, schema, isPaused }: QuestionEvent): Stage {
  return {
    event: "question",
    members: { id, by, attempt, text, schema, is_paused: isPaused },
    lines: (style) => [
      `${style.warning("?")} ${style.strong(by)} asks: ${printable(text ?? id)} ${style.faint(`(${printable(id)})`)}`,
    ],
  };
}

export function answeredStage(id: string, answer: Json): Stage {
  return {
    event: "answered",
    members: { id, answer },
    lines: (style) => [`${style.good("✔")} answered ${printable(JSON.stringify(answer))}`],
  };
}

export function resultStage(
  result: HandoffResult,
  isAcknowledged: boolean,
  saved: readonly SavedFile[] = [],
): Stage {
  const { by, attempt, artifacts } = result;
  return {
    event: "result",
    members: { ...result, is_acknowledged: isAcknowledged, ...(saved.length > 0 && { saved }) },
    lines: (style) => [
      `${style.good("✔")} result from ${style.strong(by)}${nth(attempt)}, signed and ${isAcknowledged ? "acknowledged" : "not acknowledged: the hub does not answer and keeps the result"}`,
      ...filesText(artifacts, saved).map((line) => style.faint(line)),
    ],
  };
}

/** Lists the artifacts, each with where it was saved or how to save it. */
function filesText(artifacts: readonly Artifact[], saved: readonly SavedFile[]): readonly string[] {
  const lines = artifacts.map(({ name, media_type, size, data, url }) => {
    const path = saved.find((each) => each.name === name)?.path;
    const bytes = size ?? Math.floor(((data?.length ?? 0) * 3) / 4);
    const where = path === undefined ? (url ?? counted(bytes, "byte")) : `saved as ${path}`;
    return printable(`file ${name} (${media_type}), ${where}`);
  });
  const isLeft = saved.length === 0 && artifacts.some(({ url }) => url === undefined);
  return isLeft ? [...lines, "To save files: --save <folder>"] : lines;
}

export function endedStage(
  error: WaybillError,
  { isEndKnown }: Pick<Followed, "isEndKnown">,
): Stage {
  const { status, code, message, at, refusals, remedy } = error;
  const members = { status, code, message, at, refusals, remedy, is_end_known: isEndKnown };
  return { event: "ended", members, lines: () => [] };
}

/** What is known of a handoff that ended without a result. */
export interface Followed {
  readonly handoffId: string;
  /** Undefined until it is in custody. */
  readonly job: string | undefined;
  /** The command as it was typed. */
  readonly command: string;
  /** False if the hub has not said how the handoff ended. */
  readonly isEndKnown: boolean;
}

/** Describes how the handoff ended without a result, and where to read why. */
export function endText(error: WaybillError, followed: Followed, style: Style): string {
  const { handoffId, job, command, isEndKnown } = followed;
  const { status, code, message, remedy } = error;
  const [happened = "", ...more] = sentencesOf(printable(message, 2000));
  const ending = endOf(status, isEndKnown);
  const head = `${style.bad("✗")} ${style.strong(ending ?? happened)}`;
  const why = (ending === undefined ? more : [happened, ...more]).join(" ");
  // Most messages say what to do; those of a single sentence don't.
  const isAdvised = status === 103 || more.length > 0;
  const lines = [
    ...(why === "" ? [] : [why]),
    ...(isAdvised ? [] : [remedy]),
    ...whereToLook(status, { handoffId, job, isEndKnown }).map((line) => style.faint(line)),
    style.faint(codesText({ status, code }, command, exitCodeOf(status))),
  ];
  return [head, ...lines.map((line) => `  ${line}`)].join("\n");
}

function whereToLook(
  status: WaybillError["status"],
  { handoffId, job, isEndKnown }: Omit<Followed, "command">,
): readonly string[] {
  if (isUnknown(status, isEndKnown)) {
    return [`To see how it ended, once the hub answers: waybill trace ${handoffId}`];
  }
  return job === undefined ? [] : [`Full history: waybill trace ${job}`];
}

function isUnknown(status: WaybillError["status"], isEndKnown: boolean): boolean {
  return exitCodeOf(status) === 7 && !isEndKnown;
}

/** Undefined if the error's message describes it best. */
function endOf(status: WaybillError["status"], isEndKnown: boolean): string | undefined {
  if (isUnknown(status, isEndKnown)) return "It is not known how the handoff ended.";
  if (status === 103) return "The recipient waits for an answer.";
  if (status === 499) return "It was cancelled.";
  return exitCodeOf(status) === 7 ? "It ended without a result from its recipient." : undefined;
}

function nth(attempt: number | undefined): string {
  return attempt === undefined || attempt === 1 ? "" : `, attempt ${attempt}`;
}

const BAR_WIDTH = 16;

function bar(fraction: number, style: Style): string {
  const done = Math.round(fraction * BAR_WIDTH);
  const percent = `${Math.round(fraction * 100)} %`.padStart(5);
  return `${style.good("━".repeat(done))}${style.faint("─".repeat(BAR_WIDTH - done))} ${percent}`;
}
