/// <reference types="node" />
import type { Hub } from "@waybill/agent";
import { digestOf, newId, parseJson, WaybillError } from "@waybill/protocol";
import type { Capability, CapabilityInput, Found, PrivateKey } from "@waybill/protocol";
import { errorOfResponse, readFound, signRequest } from "@waybill/protocol/wire";

/** Marks capabilities that a hub offers only through a peer: they are not relayed a second time. */
const PEER_TAG = "waybill:peer";

const PATH = "/v1/capabilities/find";
const WITHIN_MS = 10_000;
const ANSWER_BYTES = 16 * 1024 * 1024;
const PAGE = 100;
const PAGES_AT_MOST = 20;
/** The maximum in one manifest, which is where they are offered here. */
const OFFERS_AT_MOST = 256;
const CHARACTERS_AT_MOST = 512 * 1024;

export interface FarOptions {
  readonly url: string;
  readonly hub: Pick<Hub, "id" | "domain">;
  /** The agent that asks, on the other hub. */
  readonly agent: string;
  readonly key: PrivateKey;
  readonly signal: AbortSignal;
}

/** The capabilities of another hub's agents, each version once, up to the size of one manifest. */
export async function farCapabilities(options: FarOptions): Promise<readonly Capability[]> {
  const found = new Map<string, Capability>();
  let characters = 0;
  let after: string | undefined;
  for (let page = 0; page < PAGES_AT_MOST; page++) {
    const { fits, next } = await ask(options, { after, limit: PAGE });
    for (const { agent_id: agent, capability } of fits) {
      const { name, version, tags } = capability;
      const offer = `${name} ${version}`;
      if (agent === options.agent || tags.includes(PEER_TAG) || found.has(offer)) continue;
      // It was granted to the relay, not to everybody who can reach this hub.
      if (capability.from !== undefined) continue;
      characters += JSON.stringify(capability).length;
      if (found.size === OFFERS_AT_MOST || characters > CHARACTERS_AT_MOST)
        return [...found.values()];
      found.set(offer, capability);
    }
    if (next === undefined) break;
    after = next;
  }
  return [...found.values()];
}

async function ask(
  { url, hub, agent, key, signal }: FarOptions,
  query: { readonly after: string | undefined; readonly limit: number },
): Promise<Found> {
  const body = JSON.stringify(query);
  const { id: to, domain } = hub;
  const claim = {
    from: agent,
    to,
    domain,
    id: newId(),
    at: Date.now(),
    method: "POST",
    path: PATH,
    bodyDigest: digestOf(body),
  };
  const response = await fetch(url.replace(/\/+$/, "") + PATH, {
    method: "POST",
    headers: { authorization: signRequest(claim, key), "content-type": "application/json" },
    body,
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new WaybillError(503, `The peer at ${url} is unreachable.`, { cause });
  });
  const text = await response.text();
  if (!response.ok) throw errorOfResponse(response.status, text);
  return readFound(parseJson(text, { envelopeBytes: ANSWER_BYTES }));
}

/**
 * A peer's capability as it is offered here. Its agents' claims about their reliability apply there;
 * here it is measured separately. The peer itself limits its attempts and credit.
 */
export function offeredHere({
  reliability_sla: _claim,
  concurrency: _concurrency,
  ...capability
}: Capability): CapabilityInput {
  return { ...capability, tags: [...capability.tags, PEER_TAG] };
}
