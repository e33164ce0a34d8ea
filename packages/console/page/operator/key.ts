import { computed, signal } from "@preact/signals";
import { digestOf, signManifest, WaybillError } from "@waybill/protocol";
import type { WireGroup } from "@waybill/protocol/wire";
import { get, post, put } from "../hub/hub.ts";
import { forget, keep, kept } from "../hub/kept.ts";
import { session } from "../hub/session.ts";
import { newBrowserKey, signedWith } from "../trust/browser-key.ts";
import type { BrowserAgent, BrowserKey } from "../trust/browser-key.ts";
import { Post } from "../trust/post.ts";

/** The key of this browser, and the agent whose key it is. */
interface StoredKey extends BrowserKey {
  readonly agent: string;
}

/** The operators' agent of this browser. */
export type OperatorKey = BrowserAgent;

/** `undefined` until it is known, null if this browser's key is not enrolled. */
export const operatorKey = signal<OperatorKey | null | undefined>(undefined);

/** What the operators' agent of this browser sends and receives. */
export const operatorPost = computed(() =>
  operatorKey.value ? new Post(operatorKey.value) : undefined,
);

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

/**
 * Deletes this browser's key, and then takes its right to act. Without the key nobody can use the right,
 * so the order holds even if the hub does not answer.
 */
export async function revoke(): Promise<void> {
  const stored = await storedKey();
  await forget(placeOf(session.value!.domain));
  operatorKey.value = null;
  if (stored === undefined) return;
  try {
    if (!(await isMember(stored.agent))) return;
    await post(`/v1/groups/${GROUP}/members`, { remove: [stored.agent] });
  } catch (cause) {
    const { status, message } = WaybillError.from(cause);
    throw new WaybillError(
      status,
      `The key of this browser is deleted, but the hub still lists ${stored.agent} as an operator: ${message} Remove it with: waybill groups remove ${GROUP} ${stored.agent}`,
      { cause },
    );
  }
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
