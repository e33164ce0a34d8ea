/**
 * One spelling for each agent: no upper case, no Unicode, no punctuation at the ends, so that ids that
 * look alike are the same id.
 */
export const AGENT_ID: RegExp = /^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?$/;

/** Whether a value is a valid agent id. */
export function isAgentId(value: unknown): value is string {
  return typeof value === "string" && AGENT_ID.test(value);
}
