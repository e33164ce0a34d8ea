import { STATUS, WaybillError } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";

/** An error as the text that a worker raises it with: `504 DEADLINE_EXCEEDED: …`. */
export function textOfError(thrown: unknown): string {
  const { status, message } = WaybillError.from(thrown);
  return `${status} ${STATUS[status].name}: ${message}`;
}

const TEXT = /^(\d{3}) ([A-Z_]+): (.+)$/s;

/**
 * What an agent has raised. Of its class and cause nothing comes over the wire: a status that its text
 * begins with is the agent's own word, as the texts are that it is given itself.
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
