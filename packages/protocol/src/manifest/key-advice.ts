/** What to do about an untrusted key: the commands for an agent that has lost its own. */
export function endedKeyAdvice(agent: string): string {
  return `Sign with a current key of ${agent}. If that is lost, make a new one and have an operator of the hub pin it: waybill agents pin ${agent} <thumbprint>`;
}

/** The same for a key that its agent has never published. */
export function newKeyAdvice(agent: string, kid: string): string {
  return `Publish a manifest that lists it first. If ${agent} has lost the key that it had, have an operator of the hub pin this one: waybill agents pin ${agent} ${kid}`;
}
