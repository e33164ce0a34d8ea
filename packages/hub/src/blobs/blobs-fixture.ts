/// <reference types="node" />
import { createHash } from "node:crypto";
import {
  createHandoff,
  createReply,
  digestOfJws,
  generateKey,
  newId,
  signEnvelope,
  signManifest,
} from "@waybill/protocol";
import type {
  Artifact,
  Digest,
  HandoffInput,
  PrivateKey,
  VerifiedEnvelope,
} from "@waybill/protocol";
import { signHello } from "@waybill/protocol/wire";
import type { Attachment, Blobs, BlobUpload, Delivery } from "@waybill/protocol/wire";
import { StillClock } from "../still-clock-fixture.ts";
import type { HubOptions } from "../engine/options.ts";
import { memoryStore } from "../memory-store.ts";
import { openHub } from "../open-hub.ts";
import type { HubServer } from "../open-hub.ts";
import type { Store } from "../store.ts";
import { BLOB_ROWS, readDue } from "./rows.ts";

/** The digest of some bytes in the form of a path. */
export function digestOfAll(bytes: Uint8Array): Digest {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Bytes that no other call returns. */
export function someBytes(size: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(size);
  let state = seed >>> 0 || 1;
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** Bytes in pieces, as from a socket. */
export async function* pieces(bytes: Uint8Array, length = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** All bytes of something. */
export async function all(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

/** An artifact that is a blob. */
export function blobArtifact(bytes: Uint8Array, over: Partial<Artifact> = {}): Artifact {
  return {
    name: "a.bin",
    media_type: "application/octet-stream",
    digest: digestOfAll(bytes),
    size: bytes.length,
    ...over,
  };
}

/** A hub in this process, with agents that speak the protocol without the SDK. */
export class BlobWorld {
  readonly store: Store;
  readonly clock: StillClock;
  hub!: HubServer;
  readonly #key = generateKey();
  readonly #keys = new Map<string, PrivateKey>();
  readonly #options: Partial<HubOptions>;

  constructor(options: Partial<HubOptions> = {}) {
    this.store = options.store ?? memoryStore();
    this.clock = new StillClock();
    this.#options = options;
  }

  static async open(options: Partial<HubOptions> = {}): Promise<BlobWorld> {
    const world = new BlobWorld(options);
    await world.start();
    return world;
  }

  async start(): Promise<void> {
    const { store, clock } = this;
    this.hub = await openHub({ id: "hub", key: this.#key, clock, ...this.#options, store });
  }

  /** Restarts the hub over its store. */
  async restart(): Promise<void> {
    await this.hub.close();
    await this.start();
    await this.cleaned();
  }

  /** Settles once nothing is overdue. */
  async cleaned(): Promise<void> {
    for (;;) {
      const [first] = await this.store.settings(BLOB_ROWS.dues, { limit: 1 });
      if (first === undefined || readDue(first.name).at > this.clock.now()) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  get blobs(): Blobs {
    return this.hub.blobs!;
  }

  async agent(id: string, capabilities: readonly string[] = []): Promise<void> {
    const key = generateKey();
    this.#keys.set(id, key);
    const offered = capabilities.map((name) => ({ name }));
    await this.hub.publish(signManifest({ agent_id: id, capabilities: offered }, key));
  }

  keyOf(id: string): PrivateKey {
    return this.#keys.get(id)!;
  }

  async attach(agent: string, handler: (delivery: Delivery) => void): Promise<Attachment> {
    const instance = newId();
    const proof = signHello(
      {
        from: agent,
        to: this.hub.id,
        domain: this.hub.domain,
        instance,
        id: newId(),
        at: this.clock.now(),
      },
      this.keyOf(agent),
    );
    return this.hub.attach({ agent, credit: 16, instance, proof }, handler);
  }

  /** Attaches an agent, and returns its next offer each time. */
  async offers(agent: string): Promise<() => Promise<Extract<Delivery, { type: "offer" }>>> {
    const waiting: Extract<Delivery, { type: "offer" }>[] = [];
    let wake = () => undefined as void;
    await this.attach(agent, (delivery) => {
      if (delivery.type === "offer") waiting.push(delivery);
      wake();
    });
    return async () => {
      while (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return waiting.shift()!;
    };
  }

  upload(as: string, bytes: Uint8Array): Promise<BlobUpload> {
    const digest = digestOfAll(bytes);
    return this.blobs.put({ digest, size: bytes.length, as }, pieces(bytes));
  }

  handoff(
    from: string,
    to: string,
    artifacts: readonly Artifact[],
    over: Partial<HandoffInput> = {},
  ): VerifiedEnvelope["text"] {
    const envelope = createHandoff(
      {
        from,
        to,
        domain: this.hub.domain,
        timeoutMs: 60_000,
        body: { capability: "work", artifacts: [...artifacts] },
        ...over,
      },
      { now: () => this.clock.now(), newId: () => newId(this.clock.now()) },
    );
    return signEnvelope(envelope, this.keyOf(from));
  }

  result(
    offer: Extract<Delivery, { type: "offer" }>,
    by: string,
    artifacts: readonly Artifact[],
    status: 200 | 500 = 200,
  ): string {
    const handoff = JSON.parse(
      Buffer.from(offer.envelope.split(".")[1]!, "base64url").toString(),
    ) as Parameters<typeof createReply>[0];
    const reply = createReply(
      handoff,
      {
        kind: "result",
        from: by,
        attempt: offer.attempt,
        re: digestOfJws(offer.envelope),
        body: {
          status,
          artifacts: [...artifacts],
          ...(status === 200 ? { output: "done" } : { error: { message: "no", retryable: false } }),
        },
      },
      { now: () => this.clock.now(), newId: () => newId(this.clock.now()) },
    );
    return signEnvelope(reply, this.keyOf(by));
  }

  async rows(prefix = "blob"): Promise<string[]> {
    return (await this.store.settings(prefix, { limit: 1_000 })).map(({ name }) => name);
  }

  async files(): Promise<string[]> {
    const names: string[] = [];
    for await (const name of this.store.blobs!.names()) names.push(name);
    return names.toSorted();
  }
}
