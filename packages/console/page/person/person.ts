import { signal } from "@preact/signals";
import {
  digestOf,
  digestOfJws,
  newId,
  parseJson,
  readCompact,
  signManifest,
  WaybillError,
} from "@waybill/protocol";
import type { CapabilityInput } from "@waybill/protocol";
import { errorOfResponse, signEnrolment, signRequest } from "@waybill/protocol/wire";
import type { WirePublished, WireWellKnown } from "@waybill/protocol/wire";
import { get } from "../hub/hub.ts";
import { forget, keep, kept } from "../hub/kept.ts";
import { session } from "../hub/session.ts";
import { newBrowserKey, signedWith } from "./browser-key.ts";
import type { BrowserKey } from "./browser-key.ts";

/** The person at this browser, as an agent of one hub. */
export interface Person extends BrowserKey {
  readonly agent: string;
  readonly hub: string;
  readonly domain: string;
}

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

/** Enrols a person under a new key of this browser, as any agent enrols. */
export async function enrol(manifest: PersonManifest, invitation?: string): Promise<void> {
  if (!isSecureContext) {
    throw new WaybillError(
      403,
      "Over plain HTTP from another machine a browser makes no keys that are safe. Open the console over HTTPS, or on the machine of the hub: waybill console --hub <url>",
    );
  }
  const { hub, domain } = await get<WireWellKnown>("/.well-known/waybill");
  const known = await published(manifest.agent_id);
  if (known !== undefined) {
    throw new WaybillError(
      409,
      `The name ${manifest.agent_id} belongs to another key at this hub. Choose another name, or continue in the browser that has its key.`,
    );
  }
  const key = await newBrowserKey();
  const first = await signedWith(key, (signer) => signManifest({ ...manifest }, signer));
  // Kept before it is published: a name whose key is gone could not be used by anybody.
  const made: Person = { ...key, agent: manifest.agent_id, hub, domain };
  await keep(nameOf(domain), made);
  try {
    const proof = invitation === undefined ? undefined : signEnrolment(first, invitation);
    await publish(manifest.agent_id, first, proof);
  } catch (error) {
    await forget(nameOf(domain));
    throw error;
  }
  person.value = made;
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
  await sent("PUT", `/v1/agents/${encodeURIComponent(agent)}`, { body: { manifest, invitation } });
}

interface Sent {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Asks the hub as the person, with a proof for this request only. */
export async function askAs<Answer>(
  who: Person,
  method: string,
  path: string,
  { body, signal: stop }: Omit<Sent, "headers"> = {},
): Promise<Answer> {
  const { agent, hub, domain } = who;
  const claim = {
    from: agent,
    to: hub,
    domain,
    id: newId(),
    at: Date.now(),
    method,
    path,
    bodyDigest: body === undefined ? undefined : digestOf(JSON.stringify(body)),
  };
  const authorization = await signedWith(who, (signer) => signRequest(claim, signer));
  return sent(method, path, {
    headers: { authorization },
    ...(body !== undefined && { body }),
    ...(stop !== undefined && { signal: stop }),
  });
}

async function sent<Answer>(
  method: string,
  path: string,
  { body, headers, signal: stop }: Sent,
): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      redirect: "error",
      cache: "no-store",
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(stop !== undefined && { signal: stop }),
    });
    text = await response.text();
  } catch (cause) {
    stop?.throwIfAborted();
    throw new WaybillError(503, "The hub does not answer. Try again once it is back.", { cause });
  }
  if (!response.ok) throw errorOfResponse(response.status, text);
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}
