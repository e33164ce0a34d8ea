import type { WaybillError } from "@waybill/protocol";
import type { Style } from "./style.ts";
import { printableLines } from "./text.ts";

/** What a person reads when a command fails. The message says what happened, why, and what to do. */
export function failureText(
  error: WaybillError,
  command: string | undefined,
  style: Style,
): string {
  const { status, code, message, at, retryAfterMs } = error;
  const name = command === undefined ? "waybill" : `waybill ${command}`;
  const lines = [
    `${style.bad("✗")} ${style.strong(name)} ${style.faint(`${status} ${code}`)}`,
    indented(printableLines(message)),
  ];
  if (at !== undefined && at !== "") lines.push(indented(style.faint(`at ${printableLines(at)}`)));
  if (retryAfterMs !== undefined) {
    lines.push(indented(style.faint(`Try again after ${Math.ceil(retryAfterMs / 1000)} s.`)));
  }
  return lines.join("\n");
}

export function failureJson(error: WaybillError): string {
  return JSON.stringify({ error: error.toJSON() });
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}
