import { signal } from "@preact/signals";
import { digestOfJws, parseJson, readCompact, signManifest, WaybillError } from "@waybill/protocol";
import type { CapabilityInput } from "@waybill/protocol";
import { signEnrolment } from "@waybill/protocol/wire";
import type { WirePublished, WireWellKnown } from "@waybill/protocol/wire";
import { get, put } from "../hub/hub.ts";
import { forget, keep, kept } from "../hub/kept.ts";
import { session } from "../hub/session.ts";
import { newBrowserKey, signedWith } from "../trust/browser-key.ts";
import type { BrowserAgent } from "../trust/browser-key.ts";

/** The person at this browser, as an agent of one hub. */
export type Person = BrowserAgent;

/** What a person says about themselves, as it goes into the manifest. */
export interface PersonManifest {
  readonly agent_id: string;
  readonly description?: string;
  readonly capabilities: readonly CapabilityInput[];
}

/** `undefined` until it is known whether this browser has somebody's key for this hub. */
export const person = signal<Person | null | undefined>(undefined);

function nameOf(domain: string): string {
  return `person ${domain}`;
}

/** Finds the key that this browser keeps for the hub of the session. */
export async function findPerson(): Promise<void> {
  const { domain } = session.value!;
  person.value = (await kept<Person>(nameOf(domain))) ?? null;
}

/** Deletes the key. The name stays with it, and can't be used from here any more. */
export async function forgetPerson(): Promise<void> {
  await forget(nameOf(person.value!.domain));
  person.value = null;
}

/**
 * Enrols a person under a new key of this browser. Repeating it after a lost answer continues with the
 * same key.
 */
export async function enrol(manifest: PersonManifest, invitation?: string): Promise<void> {
  if (!isSecureContext) {
    throw new WaybillError(
      403,
      "Over plain HTTP from another machine a browser makes no keys that are safe. Open the console over HTTPS, or on the machine of the hub: waybill console --hub <url>",
    );
  }
  const { hub, domain } = await get<WireWellKnown>("/.well-known/waybill");
  // Kept by an enrolment whose outcome did not reach this page.
  const earlier = await kept<Person>(nameOf(domain));
  const key = earlier?.agent === manifest.agent_id ? earlier : await newBrowserKey();
  const made: Person = { ...key, agent: manifest.agent_id, hub, domain };
  const known = await published(manifest.agent_id);
  if (known === undefined) await enrolFirst(made, manifest, invitation);
  else if (readCompact(known).kid !== key.kid) {
    throw new WaybillError(
      409,
      `The name ${manifest.agent_id} belongs to another key at this hub. Choose another name, or continue in the browser that has its key.`,
    );
  }
  person.value = made;
}

async function enrolFirst(
  who: Person,
  manifest: PersonManifest,
  invitation: string | undefined,
): Promise<void> {
  const first = await signedWith(who, (signer) => signManifest({ ...manifest }, signer));
  // Kept before it is published: a name whose key is gone could not be used by anybody.
  await keep(nameOf(who.domain), who);
  try {
    const proof = invitation === undefined ? undefined : signEnrolment(first, invitation);
    await publish(who.agent, first, proof);
  } catch (error) {
    // Without an answer the hub may have taken it.
    if (!WaybillError.is(error, 503)) await forget(nameOf(who.domain));
    throw error;
  }
}

/** Publishes the next manifest, if it says something else than the last one. */
export async function changeManifest(manifest: PersonManifest): Promise<void> {
  const who = person.value!;
  const last = (await published(who.agent))!;
  const { sequence } = parseJson(readCompact(last).payload) as { readonly sequence: number };
  const next = { ...manifest, sequence: sequence + 1, previous: digestOfJws(last) };
  await publish(who.agent, await signedWith(who, (signer) => signManifest(next, signer)));
}

async function published(agent: string): Promise<string | undefined> {
  const path = `/.well-known/waybill/agents/${encodeURIComponent(agent)}?newest=true`;
  const { manifests } = await get<WirePublished>(path).catch((error: unknown) => {
    if (WaybillError.is(error, 404)) return { manifests: [] };
    throw error;
  });
  return manifests[0]?.manifest;
}

/** The manifest vouches for itself, so that no proof of the sender goes with it. */
async function publish(agent: string, manifest: string, invitation?: string): Promise<void> {
  const path = `/v1/agents/${encodeURIComponent(agent)}`;
  await put(path, { manifest, invitation }, () => Promise.resolve(undefined));
}
