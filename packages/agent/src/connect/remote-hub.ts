/// <reference types="node" />
import { parseJson, readCompact, WaybillError } from "@waybill/protocol";
import type { FindQuery, Found } from "@waybill/protocol";
import {
  manifestPages,
  readFound,
  readHandoffView,
  readHello,
  readPublished,
  textOf,
  writeFindQuery,
} from "@waybill/protocol/wire";
import type {
  Attachment,
  AttachRequest,
  Blobs,
  Delivery,
  HandoffView,
  Hub,
  ManifestsQuery,
  PublishedPage,
  ShownDelta,
} from "@waybill/protocol/wire";
import type { Address } from "./address.ts";
import type { ConnectionLog } from "./connection-log.ts";
import type { HttpCalls } from "./http-calls.ts";
import type { HubIdentity, HubName } from "./hub-identity.ts";
import { retry } from "./retry.ts";
import { RemoteBlobs } from "./remote-blobs.ts";
import { HubSocket, WAITS } from "./socket.ts";

/** An attachment that lasted so long resets the backoff. */
const STABLE_MS = 10_000;

export interface RemoteHubOptions {
  readonly id: string;
  readonly domain: string;
  readonly address: Address;
  readonly http: HttpCalls;
  readonly identity: HubIdentity;
  readonly log: ConnectionLog;
}

/** A remote hub. Each agent that attaches has a connection of its own, and its calls go over it. */
export class RemoteHub implements Hub {
  readonly id: string;
  readonly domain: string;
  readonly blobs: Blobs;
  readonly #options: RemoteHubOptions;
  readonly #sockets = new Set<HubSocket>();
  /** Connections on which no agent has said hello yet, by the nonce that the hello has to sign. */
  readonly #challenged = new Map<string, HubSocket>();
  readonly #attached = new Map<string, HubSocket>();
  readonly #closing = new AbortController();
  #cuts = 0;

  constructor(options: RemoteHubOptions) {
    this.id = options.id;
    this.domain = options.domain;
    this.#options = options;
    this.blobs = new RemoteBlobs(options.address, this.#closing.signal);
  }

  /** Tries once: the caller sends the same bytes again for as long as that makes sense. */
  async submit(envelope: string, as?: string): Promise<string> {
    const { http } = this.#options;
    const socket =
      this.#attached.size > 1 ? this.#attached.get(senderOf(envelope)) : this.#anySocket();
    if (socket === undefined) return this.#once((signal) => http.submit(envelope, signal));
    const shares = as === undefined ? {} : { shared_receipt: true };
    return textOf(await socket.call("submit", { envelope, ...shares }), "receipt");
  }

  publish(manifest: string, invitation?: string): Promise<void> {
    return this.#retry((signal) => this.#options.http.publish(manifest, invitation, signal));
  }

  async manifests(query: ManifestsQuery): Promise<PublishedPage> {
    if (query.agent !== this.id) return this.#manifests(query);
    // The hub's own manifests are accepted completely or not at all.
    const all = await Array.fromAsync(manifestPages((page) => this.#manifests(page), this.id));
    this.#options.identity.check({ hub: this.id, domain: this.domain }, all);
    return { manifests: query.newest === true ? all.slice(-1) : all };
  }

  #manifests(query: ManifestsQuery): Promise<PublishedPage> {
    return this.#retry(async (signal) => {
      const socket = this.#anySocket();
      if (socket === undefined) return this.#options.http.manifests(query, signal);
      return readPublished(await socket.call("manifests", query));
    });
  }

  find(query: FindQuery): Promise<Found> {
    return this.#retry(async (signal) => {
      const socket = this.#anySocket();
      if (socket === undefined) return this.#options.http.find(query, signal);
      return readFound(await socket.call("find", writeFindQuery(query)));
    });
  }

  handoff(id: string, as: string): Promise<HandoffView | undefined> {
    return this.#retry(async () => {
      const socket = this.#attached.get(as);
      if (socket === undefined) throw notAttached(as);
      const { handoff } = (await socket.call("handoff", { id })) as { handoff?: unknown };
      return handoff === null ? undefined : readHandoffView(handoff);
    });
  }

  /** Opens a connection, with retries for a while, and returns what the next hello has to contain. */
  challenge(): Promise<string> {
    const { address, http, identity, log } = this.#options;
    return retry(
      async (signal) => {
        // Another server may have taken the hub's place while it was unreachable.
        this.#mustBe(await identity.meet(http, signal));
        const socket = this.#open(address);
        const challenge = await socket.challenge;
        this.#mustBe(challenge);
        this.#challenged.set(challenge.nonce, socket);
        return challenge.nonce;
      },
      {
        withinMs: WAITS.openMs,
        signal: this.#closing.signal,
        failures: this.#cuts,
        waiting: (error) => log({ event: "waiting", url: address.url, error }),
      },
    );
  }

  async attach(
    { agent, credit, proof }: AttachRequest,
    receive: (delivery: Delivery) => void,
    show?: (delta: ShownDelta) => void,
  ): Promise<Attachment> {
    const { url } = this.#options.address;
    const { nonce } = readHello(readCompact(proof).payload);
    const socket = this.#challenged.get(nonce ?? "");
    if (socket === undefined) {
      throw new WaybillError(
        503,
        `The connection for which this hello was signed is closed: ${url}.`,
      );
    }
    this.#challenged.delete(nonce!);
    const failed = (error: unknown) => this.#options.log({ event: "failure", url, agent, error });
    await socket.attach(proof, credit, { receive, show, failed });
    const since = performance.now();
    this.#attached.set(agent, socket);
    this.#onceClosed(socket, () => {
      if (this.#attached.get(agent) === socket) this.#attached.delete(agent);
      this.#cuts = performance.now() - since > STABLE_MS ? 1 : this.#cuts + 1;
    });
    return socket;
  }

  async close(): Promise<void> {
    const { url } = this.#options.address;
    this.#closing.abort(new WaybillError(503, `The connection to ${url} was closed here.`));
    await Promise.all([...this.#sockets].map((socket) => socket.close()));
  }

  #open(address: Address): HubSocket {
    this.#closing.signal.throwIfAborted();
    const socket = new HubSocket(address);
    this.#sockets.add(socket);
    this.#onceClosed(socket, () => {
      this.#sockets.delete(socket);
      for (const [nonce, each] of this.#challenged) {
        if (each === socket) this.#challenged.delete(nonce);
      }
    });
    return socket;
  }

  #onceClosed(socket: HubSocket, then: () => void): void {
    socket.closed.then(then, () => undefined);
  }

  #mustBe({ hub, domain }: HubName): void {
    if (hub === this.id && domain === this.domain) return;
    throw new WaybillError(
      401,
      `The hub at ${this.#options.address.url} was ${this.id} of the custody domain ${this.domain}, and is now ${hub} of ${domain}: a different hub answers at this address.`,
    );
  }

  #anySocket(): HubSocket | undefined {
    return this.#attached.values().next().value;
  }

  /** Retries a query: it changes nothing, so it may be repeated. */
  #retry<Value>(attempt: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    return retry(attempt, { withinMs: WAITS.callMs, signal: this.#closing.signal });
  }

  async #once<Value>(attempt: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    try {
      return await attempt(AbortSignal.any([signal, AbortSignal.timeout(WAITS.callMs)]));
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }
}

/** Whose connection an envelope goes over. Nothing else is taken from the unverified envelope. */
function senderOf(envelope: string): string {
  return textOf(parseJson(readCompact(envelope).payload), "from");
}

function notAttached(agent: string): WaybillError {
  return new WaybillError(
    503,
    `${agent} is not attached to its hub at the moment, so its handoffs can't be looked up. Start the agent, or retry once it is connected again.`,
  );
}
