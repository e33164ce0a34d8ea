/** What to do about an untrusted key: the commands for an agent that has lost its own. */
export function endedKeyAdvice(agent: string): string {
  return `Sign with a current key of ${agent}. If it is lost, create a new key and ask an operator of the hub to pin it: waybill agents pin ${agent} <thumbprint>`;
}

/** The same for a key that its agent has never published. */
export function newKeyAdvice(agent: string, kid: string): string {
  return `Publish a manifest that lists this key first. If ${agent} has lost its previous key, ask an operator of the hub to pin this one: waybill agents pin ${agent} ${kid}`;
}
