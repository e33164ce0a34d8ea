import { STATUS, WaybillError } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";

/** The text with which a worker raises an error: `504 DEADLINE_EXCEEDED: …`. */
export function textOfError(thrown: unknown): string {
  const { status, message } = WaybillError.from(thrown);
  return `${status} ${STATUS[status].name}: ${message}`;
}

const TEXT = /^(\d{3}) ([A-Z_]+): (.+)$/s;

/**
 * The error that an agent has raised. Its class and cause are not sent, but its text may begin with
 * a status, like the texts of the errors that the agent gets itself.
 */
export function raisedBy(agentType: string, text: string): WaybillError {
  const [, code, name, message = ""] = TEXT.exec(text) ?? [];
  const status = ERRORS.find((each) => String(each) === code && STATUS[each].name === name);
  if (status !== undefined) return new WaybillError(status, message);
  return new WaybillError(500, text.trim() || `${agentType} raised an error without a message.`);
}

const ERRORS = Object.keys(STATUS)
  .map((each) => Number(each) as StatusCode)
  .filter((each) => each >= 400);
