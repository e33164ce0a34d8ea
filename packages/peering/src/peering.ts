/// <reference types="node" />
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createAgent } from "@waybill/agent";
import type { Agent, Hub } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { WaybillError } from "@waybill/protocol";
import type { Capability, PrivateKey } from "@waybill/protocol";
import { farCapabilities } from "./far-capabilities.ts";
import { relayOf } from "./relay.ts";

/** The two hubs, and the relay between them. */
export interface PeerOptions {
  /** The local hub. */
  readonly hub: Hub;
  /** The address of the other hub. */
  readonly url: string;
  /**
   * The custody domain of the other hub, or the thumbprint of one of its keys. By default the first
   * hub that answers is trusted.
   */
  readonly hubKey?: string | undefined;
  /** The relay's key, as an agent of both hubs. It is the same at every start. */
  readonly key: PrivateKey;
  /** How often the other hub is asked for its agents' capabilities, 30 seconds by default. */
  readonly refreshMs?: number | undefined;
  /** Called when the other hub is unreachable or refuses the relay. It is asked again later. */
  readonly failed?: ((error: unknown) => void) | undefined;
}

/** A running relay to another hub. */
export interface Peer {
  /** Settles once the other hub was reached and its capabilities are offered here. */
  readonly ready: Promise<void>;
  /** Gives back the work in progress, and ends. */
  close(): Promise<void>;
}

const REFRESH_MS = 30_000;
const CREDIT = 256;

/**
 * Offers the capabilities of another hub's agents on this hub, and relays handoffs to them. It tries
 * again until the other hub answers.
 *
 * @example
 * ```ts
 * const key = await loadKey("peer.key");
 * const peer = peerWith({ hub, url: "https://hub.example.com", key });
 * await peer.ready;
 * ```
 */
export function peerWith(options: PeerOptions): Peer {
  return new Peering(options);
}

class Peering implements Peer {
  readonly ready: Promise<void>;
  readonly #options: PeerOptions;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #isReady: () => void = () => undefined;
  #line: ConnectedHub | undefined;
  #far: Agent | undefined;
  #near: Agent | undefined;
  #offered: string | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => (this.#isReady = resolve));
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const { refreshMs = REFRESH_MS, failed = () => undefined } = this.#options;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#refresh();
        this.#isReady();
      } catch (error) {
        if (!signal.aborted) failed(error);
      }
      await sleep(refreshMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #refresh(): Promise<void> {
    const { url, hubKey, key, hub } = this.#options;
    const { signal } = this.#ending;
    this.#line ??= await connect(url, { hubKey, signal });
    const line = this.#line;
    if (this.#far === undefined) {
      const far = createAgent({ id: nameOf("for", hub.id, key), key, hub: line });
      await far.start();
      this.#far = far;
    }
    const { id: agent } = this.#far;
    const found = await farCapabilities({ url, hub: line, agent, key, signal });
    const offered = JSON.stringify(found);
    if (offered === this.#offered) return;
    await this.#serve(found, line);
    this.#offered = offered;
  }

  /** An agent's capabilities are in its manifest, so a changed list restarts the agent. */
  async #serve(found: readonly Capability[], line: ConnectedHub): Promise<void> {
    const { url, hub, key } = this.#options;
    await this.#near?.stop({ mode: "release" });
    const id = nameOf("via", line.id, key);
    const manifest = {
      description: `Hands work off to the agents of the hub ${line.id}.`,
      discovery_endpoint: `${url.replace(/\/+$/, "")}/.well-known/waybill`,
    };
    const near = createAgent({ id, key, hub, manifest, credit: CREDIT });
    for (const capability of found) near.serve(...relayOf(capability, this.#far!));
    await near.start();
    this.#near = near;
  }

  async close(): Promise<void> {
    this.#ending.abort(new WaybillError(503, "The peering is shutting down."));
    await this.#running;
    await this.#near?.stop({ mode: "release" });
    await this.#far?.stop({ mode: "release" });
    await this.#line?.close();
  }
}

const NAME_HEX = 8;

/** `via` another hub, here; `for` this hub, there. The key makes the name unique in both places. */
function nameOf(role: "via" | "for", hub: string, { kid }: PrivateKey): string {
  const hex = createHash("sha256").update(kid).digest("hex").slice(0, NAME_HEX);
  return `${role}-${hub}-${hex}`;
}
