/// <reference types="node" />
import { parseJson, readCompact, WaybillError } from "@waybill/protocol";
import type { FindQuery, Found } from "@waybill/protocol";
import { readFound, readPublished, textOf, writeFindQuery } from "@waybill/protocol/wire";
import type { ManifestsQuery, PublishedPage } from "@waybill/protocol/wire";
import type { Address } from "./address.ts";
import { request } from "./http.ts";

/** The public description of a hub. */
export interface WellKnown {
  readonly hub: string;
  readonly domain: string;
  /** Its newest manifest. */
  readonly manifest: string;
}

/** Calls to a hub over HTTP, without an open socket: everything here is signed or public. */
export class HttpCalls {
  readonly #address: Address;

  constructor(address: Address) {
    this.#address = address;
  }

  async wellKnown(signal: AbortSignal): Promise<WellKnown> {
    const url = this.#address.path("/.well-known/waybill");
    try {
      const value = await request(url, { signal });
      return {
        hub: textOf(value, "hub"),
        domain: textOf(value, "domain"),
        manifest: textOf(value, "manifest"),
      };
    } catch (cause) {
      // The hub answers that it can't now, or that it is asked too often.
      if (WaybillError.is(cause, 503) || WaybillError.is(cause, 301)) throw cause;
      const { message } = WaybillError.from(cause);
      throw new WaybillError(404, `There is no hub at ${this.#address.url}: ${message}`, { cause });
    }
  }

  async submit(envelope: string, signal: AbortSignal): Promise<string> {
    const url = this.#address.path("/v1/envelopes");
    return textOf(await request(url, { method: "POST", body: { envelope }, signal }), "receipt");
  }

  async publish(
    manifest: string,
    invitation: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const agent = textOf(parseJson(readCompact(manifest).payload), "agent_id");
    const url = this.#address.path(`/v1/agents/${encodeURIComponent(agent)}`);
    await request(url, { method: "PUT", body: { manifest, invitation }, signal });
  }

  async manifests({ agent, ...page }: ManifestsQuery, signal: AbortSignal): Promise<PublishedPage> {
    const path = `/.well-known/waybill/agents/${encodeURIComponent(agent)}`;
    const url = new URL(this.#address.path(path));
    for (const [name, value] of Object.entries(page)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    try {
      return readPublished(await request(url.href, { signal }));
    } catch (error) {
      if (WaybillError.is(error, 404)) return { manifests: [] };
      throw error;
    }
  }

  async find(query: FindQuery, signal: AbortSignal): Promise<Found> {
    const url = this.#address.path("/v1/capabilities/find");
    return readFound(await request(url, { method: "POST", body: writeFindQuery(query), signal }));
  }
}
