import { STATUS, WaybillError } from "@waybill/protocol";

/** An error as the text that a worker raises it with: `504 DEADLINE_EXCEEDED: …`. */
export function textOfError(thrown: unknown): string {
  const { status, message } = WaybillError.from(thrown);
  return `${status} ${STATUS[status].name}: ${message}`;
}

/** What an agent has raised. Of its class and cause nothing comes over the wire. */
export function raisedBy(agentType: string, text: string): WaybillError {
  return new WaybillError(
    500,
    text.trim() || `${agentType} has raised an error without a message.`,
  );
}
