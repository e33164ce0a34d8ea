import type { WaybillError } from "@waybill/protocol";
import type { Style } from "./style.ts";
import { printableLines } from "./text.ts";

/** Matches the space between two sentences. */
const SENTENCE_END = /(?<=[.!?])\s+(?=[^a-z])/;

/** What a person reads when a command fails: what happened, then why and what to do, then the codes. */
export function failureText(
  error: WaybillError,
  command: string | undefined,
  exitCode: number,
  style: Style,
): string {
  const { message, at, retryAfterMs } = error;
  const [headline = "", ...rest] = sentencesOf(printableLines(message));
  const lines = [`${style.bad("✗")} ${style.strong(headline)}`];
  if (rest.length > 0) lines.push(indented(rest.join(" ")));
  if (at !== undefined && at !== "") lines.push(indented(`At ${printableLines(at)}`));
  if (retryAfterMs !== undefined) {
    lines.push(indented(`Try again after ${Math.ceil(retryAfterMs / 1000)} s.`));
  }
  lines.push(indented(style.faint(codesText(error, command, exitCode))));
  return lines.join("\n");
}

/** The first sentence says what happened. */
export function sentencesOf(message: string): string[] {
  return message.split(SENTENCE_END);
}

/** The codes of an error, for scripts and for searching. */
export function codesText(
  { status, code }: Pick<WaybillError, "status" | "code">,
  command: string | undefined,
  exitCode: number,
): string {
  const name = command === undefined ? "waybill" : `waybill ${command}`;
  return `${name} · exit code ${exitCode} · ${status} ${code}`;
}

export function failureJson(error: WaybillError, exitCode: number): string {
  return JSON.stringify({ error: { ...error.toJSON(), exit_code: exitCode } });
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}
