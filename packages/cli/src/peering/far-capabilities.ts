/// <reference types="node" />
import type { Hub } from "@waybill/agent";
import { newId, parseJson, WaybillError } from "@waybill/protocol";
import type { Capability, CapabilityInput, PrivateKey } from "@waybill/protocol";
import { errorOfResponse, readFound, signRequest } from "@waybill/protocol/api";

/** Marks what a hub offers only because a peer does: it is not passed on a second time. */
const PEER_TAG = "waybill:peer";

const PATH = "/v1/capabilities";
const WITHIN_MS = 10_000;
const ANSWER_BYTES = 16 * 1024 * 1024;

export interface FarOptions {
  readonly url: string;
  readonly hub: Pick<Hub, "id" | "domain">;
  /** Who asks: an agent of that hub. */
  readonly agent: string;
  readonly key: PrivateKey;
  readonly signal: AbortSignal;
}

/** What the agents of another hub can do, each version of each capability once, the best first. */
export async function farCapabilities(options: FarOptions): Promise<readonly Capability[]> {
  const { url, hub, agent, key, signal } = options;
  const { id: to, domain } = hub;
  const about = { from: agent, to, domain, id: newId(), at: Date.now() };
  const claim = { ...about, method: "GET", path: PATH };
  const response = await fetch(url.replace(/\/+$/, "") + PATH, {
    headers: { authorization: signRequest(claim, key) },
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new WaybillError(503, `The peer at ${url} is out of reach.`, { cause });
  });
  const text = await response.text();
  if (!response.ok) throw errorOfResponse(response.status, text);
  const { fits } = readFound(parseJson(text, { envelopeBytes: ANSWER_BYTES }));
  const found = new Map<string, Capability>();
  for (const { agent_id, capability } of fits) {
    const { name, version, tags } = capability;
    if (agent_id === agent || tags.includes(PEER_TAG)) continue;
    const offer = `${name} ${version}`;
    if (!found.has(offer)) found.set(offer, capability);
  }
  return [...found.values()];
}

/**
 * A peer's capability as it is offered here. What its agents claim of their reliability they claim
 * there; how it does from here is measured here. The peer bounds its own attempts and credit.
 */
export function offeredHere({
  reliability_sla: _claim,
  concurrency: _concurrency,
  ...capability
}: Capability): CapabilityInput {
  return { ...capability, tags: [...capability.tags, PEER_TAG] };
}
