import { signal } from "@preact/signals";
import { digestOf, newId, signEnvelope, signManifest, WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import { signRequest } from "@waybill/protocol/wire";
import type { WireGroup } from "@waybill/protocol/wire";
import { get, post, put } from "../hub/hub.ts";
import type { Prove } from "../hub/hub.ts";
import { forget, keep, kept } from "../hub/kept.ts";
import { session } from "../hub/session.ts";
import { newBrowserKey, signedWith } from "../person/browser-key.ts";
import type { BrowserKey } from "../person/browser-key.ts";

/** The key of this browser, and the agent whose key it is. */
interface StoredKey extends BrowserKey {
  readonly agent: string;
}

/** The operators' agent of this browser. */
export interface OperatorKey extends StoredKey {
  readonly hub: string;
  readonly domain: string;
}

/** `undefined` until it is known, null if this browser's key is not enrolled. */
export const operatorKey = signal<OperatorKey | null | undefined>(undefined);

const GROUP = "operators";
/** Tells the operators' browsers apart. */
const NAME_CHARACTERS = 10;

/** Finds out whether this browser's key is enrolled. */
export async function lookForKey(): Promise<void> {
  const stored = await storedKey();
  operatorKey.value =
    stored !== undefined && (await isMember(stored.agent)) ? operatorOf(stored) : null;
}

/** Enrols a key of this browser as an operators' agent. Repeating it changes nothing. */
export async function enrol(): Promise<void> {
  const key = operatorOf((await storedKey()) ?? (await newKey()));
  const { agent, kid } = key;
  const manifest = await signedWith(key, (signer) =>
    signManifest(
      { agent_id: agent, description: "The browser of an operator", capabilities: [] },
      signer,
    ),
  );
  await post("/v1/allowed", { who: kid });
  await put(`/v1/agents/${agent}`, { manifest });
  await post(`/v1/groups/${GROUP}/members`, { add: [agent] });
  operatorKey.value = key;
}

/** Takes the right to act from this browser's key, and forgets the key. */
export async function revoke(): Promise<void> {
  const stored = await storedKey();
  if (stored !== undefined && (await isMember(stored.agent))) {
    await post(`/v1/groups/${GROUP}/members`, { remove: [stored.agent] });
  }
  await forget(placeOf(session.value!.domain));
  operatorKey.value = null;
}

/** Makes the Authorization header of a request that the operators' agent signs. */
export function proofBy(operator: OperatorKey): Prove {
  const { agent: from, hub: to, domain } = operator;
  return (method, path, body) => {
    const bodyDigest = body === undefined ? undefined : digestOf(body);
    const claim = { from, to, domain, id: newId(), at: Date.now(), method, path, bodyDigest };
    return signedWith(operator, (key) => signRequest(claim, key));
  };
}

/** Signs a handoff of the operators' agent. */
export function signedHandoff(key: OperatorKey, handoff: HandoffEnvelope): Promise<string> {
  return signedWith(key, (signer) => signEnvelope(handoff, signer));
}

async function isMember(agent: string): Promise<boolean> {
  try {
    const { members } = await get<WireGroup>(`/v1/groups/${GROUP}`);
    return members.includes(agent);
  } catch (error) {
    if (WaybillError.is(error, 404)) return false;
    throw error;
  }
}

async function newKey(): Promise<StoredKey> {
  const made = await newBrowserKey();
  const [, name] = digestOf(made.kid).split(":");
  const stored = { ...made, agent: `operator-${name!.slice(0, NAME_CHARACTERS)}` };
  await keep(placeOf(session.value!.domain), stored);
  return stored;
}

function operatorOf(stored: StoredKey): OperatorKey {
  const { hub, domain } = session.value!;
  return { ...stored, hub, domain };
}

function storedKey(): Promise<StoredKey | undefined> {
  return kept<StoredKey>(placeOf(session.value!.domain));
}

/** Each hub knows a browser by a key of its own. */
function placeOf(domain: string): string {
  return `operator ${domain}`;
}
