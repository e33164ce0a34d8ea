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
    try {
      const value = await request(this.#address, "/.well-known/waybill", { signal });
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
    const asked = { method: "POST", body: { envelope }, signal } as const;
    return textOf(await request(this.#address, "/v1/envelopes", asked), "receipt");
  }

  async publish(
    manifest: string,
    invitation: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const agent = textOf(parseJson(readCompact(manifest).payload), "agent_id");
    const path = `/v1/agents/${encodeURIComponent(agent)}`;
    await request(this.#address, path, { method: "PUT", body: { manifest, invitation }, signal });
  }

  async manifests({ agent, ...page }: ManifestsQuery, signal: AbortSignal): Promise<PublishedPage> {
    const asked = Object.entries(page).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const query = asked.length === 0 ? "" : `?${new URLSearchParams(asked).toString()}`;
    const path = `/.well-known/waybill/agents/${encodeURIComponent(agent)}${query}`;
    try {
      return readPublished(await request(this.#address, path, { signal }));
    } catch (error) {
      if (WaybillError.is(error, 404)) return { manifests: [] };
      throw error;
    }
  }

  async find(query: FindQuery, signal: AbortSignal): Promise<Found> {
    const asked = { method: "POST", body: writeFindQuery(query), signal } as const;
    return readFound(await request(this.#address, "/v1/capabilities/find", asked));
  }
}
