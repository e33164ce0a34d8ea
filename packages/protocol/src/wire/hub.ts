import type { Digest } from "../signing/digest.ts";
import type { FindQuery, Found } from "../discovery/discovery.ts";
import type { WaybillError } from "../error.ts";
import type { Asker } from "../manifest/takes-from.ts";
import type { BlobUpload } from "./blob.ts";
import type { Delivery } from "./delivery.ts";
import type { Delta, ShownDelta } from "./delta.ts";
import type { PublishedPage } from "./published.ts";
import type { HandoffView } from "./view.ts";
import type { ManifestsQuery } from "./wire-published.ts";

/** How an agent attaches to its hub. */
export interface AttachRequest {
  /** The agent's id. */
  readonly agent: string;
  /** How many attempts it works on at once. */
  readonly credit: number;
  /** A new value tells the hub that this is a new process. */
  readonly instance: string;
  /** The agent's signed hello. */
  readonly proof: string;
}

/** An agent's connection to its hub, authenticated once, for unsigned messages. */
export interface Attachment {
  /** The attempt has been taken: its lease begins. */
  taken(handoffId: string, attempt: number): void;
  /** The attempt is still running: its lease is renewed. */
  heartbeat(handoffId: string, attempt: number): void;
  /** A piece of what is being written, for the delegator. It may be dropped. */
  delta(delta: Delta): void;
  /** Acknowledges the delivery with this id. */
  seen(deliveryId: string): void;
  /** Changes how many attempts the agent works on at once. */
  setCredit(credit: number): void;
  /** Ends the attachment, so that the hub regards the agent as gone. */
  close(): Promise<void>;
  /** Resolves when the attachment has ended: to the reason, or to undefined if it was closed. */
  readonly closed: Promise<WaybillError | undefined>;
}

/**
 * Signs one request about a blob: returns the value of its Authorization header. Each request and each
 * retry is signed separately.
 */
export type BlobSigner = (request: { readonly method: string; readonly path: string }) => string;

/** An upload of a blob, or of the next part of it. */
export interface BlobPut {
  readonly digest: Digest;
  /** The size of the whole blob, in bytes. */
  readonly size: number;
  /** The agent that uploads it. */
  readonly as: string;
  /** The offset at which it begins: the number of bytes that have arrived, or 0, which starts over. */
  readonly from?: number | undefined;
  /** Signs each request to a remote hub; a hub in the same process needs no signature. */
  readonly sign?: BlobSigner | undefined;
}

/** Which part of a blob to read, and for whom. */
export interface BlobRead {
  readonly digest: Digest;
  readonly as: string;
  /** The first byte, by default that of the blob. */
  readonly first?: number | undefined;
  /** The end of the range, exclusive; by default the end of the blob. */
  readonly end?: number | undefined;
  /** Signs each request to a remote hub; a hub in the same process needs no signature. */
  readonly sign?: BlobSigner | undefined;
  /** Aborts the transfer. */
  readonly signal?: AbortSignal | undefined;
}

/** The bytes of a blob. */
export interface BlobContent {
  /** The size of the whole blob, in bytes. */
  readonly size: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Content of any size, which a hub stores by digest, apart from the envelopes that refer to it. */
export interface Blobs {
  /**
   * Writes bytes, in any number of chunks. It settles once all of them are on disk and, for a complete
   * blob, its digest was verified. Bytes that came before an error are kept: `upload` says how many.
   */
  put(upload: BlobPut, bytes: AsyncIterable<Uint8Array>): Promise<BlobUpload>;
  /** How much of a blob the hub has from an agent. */
  upload(asked: Pick<BlobRead, "digest" | "as" | "sign">): Promise<BlobUpload>;
  /** The bytes of a blob, for an agent that has uploaded it or is party to a handoff that refers to it. */
  read(read: BlobRead): Promise<BlobContent>;
}

/** All that an agent needs of a hub, in the same process or over a network. */
export interface Hub {
  /** The hub's id, under which it signs receipts and notices. */
  readonly id: string;
  /**
   * Its custody domain, to which handoffs, hellos and requests are addressed: the thumbprint of the
   * key that signed its first manifest.
   */
  readonly domain: string;
  /** True if it keeps nothing beyond this process, so that an agent's key need not outlive it either. */
  readonly isVolatile?: boolean;
  /**
   * Takes one envelope into custody; settles after the commit, with the hub's signed receipt. With
   * `as`, the agent that has signed the envelope, the receipt may list what else that agent has
   * submitted in the same turn.
   */
  submit(envelope: string, as?: string): Promise<string>;
  /** Publishes an agent's signed manifest; the first one may need the proof of an invitation. */
  publish(manifest: string, invitation?: string): Promise<void>;
  /** A page of an agent's manifests by sequence, or only the newest. */
  manifests(query: ManifestsQuery): Promise<PublishedPage>;
  /**
   * Searches a page of the capabilities for agents that can do something, best first, and says why
   * others can't. Of agents that take work only from some delegators, a remote hub shows what the
   * attached agent may use; one in the same process shows what `as` may use, and everything without
   * it.
   */
  find(query: FindQuery, as?: Asker): Promise<Found>;
  /** The nonce for the next hello, at a remote hub. */
  challenge?(): Promise<string>;
  /** Attaches an agent; from then on the handler gets its deliveries, and its deltas if it shows them. */
  attach(
    request: AttachRequest,
    handler: (delivery: Delivery) => void,
    show?: (delta: ShownDelta) => void,
  ): Promise<Attachment>;
  /** What the hub knows about a handoff to which `as` is party; undefined for everyone else. */
  handoff(id: string, as: string): Promise<HandoffView | undefined>;
  /** Large content; undefined if the hub stores none. */
  readonly blobs?: Blobs | undefined;
}
