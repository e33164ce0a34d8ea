import type { Asker, Digest, FindQuery, Found, WaybillError } from "@waybill/protocol";
import type {
  BlobUpload,
  Delivery,
  Delta,
  HandoffView,
  ManifestsQuery,
  PublishedPage,
  ShownDelta,
} from "@waybill/protocol/wire";

export type {
  AttemptView,
  BlobUpload,
  Delivery,
  Delta,
  HandoffView,
  ManifestsQuery,
  PublishedManifest,
  PublishedPage,
  ReceivedAt,
  ShownDelta,
} from "@waybill/protocol/wire";

/** How an agent asks to be attached. */
export interface AttachRequest {
  readonly agent: string;
  /** How many attempts it works on at once. */
  readonly credit: number;
  /** A new value tells the hub that the process is a new one. */
  readonly instance: string;
  /** The agent's signed hello. */
  readonly proof: string;
}

/** An agent's attachment to a hub: what it tells the hub on it. */
export interface Attachment {
  taken(handoffId: string, attempt: number): void;
  heartbeat(handoffId: string, attempt: number): void;
  /** A piece of what is being written, for whoever has handed the work off. It may be dropped. */
  delta(delta: Delta): void;
  /** The delivery with this id has arrived. */
  seen(deliveryId: string): void;
  setCredit(credit: number): void;
  close(): Promise<void>;
  /** Settles when the attachment has ended: with the reason, or with nothing when it was closed. */
  readonly closed: Promise<WaybillError | undefined>;
}

/**
 * Signs one request about a blob: gives the value of its Authorization header. Each request, and each
 * repetition of it, is signed anew.
 */
export type BlobSigner = (request: { readonly method: string; readonly path: string }) => string;

/** An upload of a blob, or of the next part of it. */
export interface BlobPut {
  readonly digest: Digest;
  /** Of the whole blob, in bytes. */
  readonly size: number;
  /** The agent that uploads it. */
  readonly as: string;
  /** The byte that it begins with: the number of bytes that have arrived, or 0, which begins anew. */
  readonly from?: number | undefined;
  /** Signs each request where there is a wire between the two; a hub in the same process needs none. */
  readonly sign?: BlobSigner | undefined;
}

/** Who reads which part of a blob. */
export interface BlobRead {
  readonly digest: Digest;
  readonly as: string;
  /** The first byte; the first of the blob where it is left out. */
  readonly first?: number | undefined;
  /** The byte after the last one; the end of the blob where it is left out. */
  readonly end?: number | undefined;
  /** Signs each request where there is a wire between the two; a hub in the same process needs none. */
  readonly sign?: BlobSigner | undefined;
  /** Fires once nobody wants the bytes any more: what waits on a wire is cut. */
  readonly signal?: AbortSignal | undefined;
}

/** What is given of a blob. */
export interface BlobContent {
  /** Of the whole blob, in bytes. */
  readonly size: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Content of any size, which a hub keeps under its digest, apart from the envelopes that name it. */
export interface Blobs {
  /**
   * Takes bytes in, in any number of pieces. It settles once all of them are on disk, and where the blob
   * is whole, once that was compared with its digest. What came before an error is kept: `upload` says
   * how much that is.
   */
  put(upload: BlobPut, bytes: AsyncIterable<Uint8Array>): Promise<BlobUpload>;
  /** How much the hub has of a blob from an agent. */
  upload(asked: Pick<BlobRead, "digest" | "as" | "sign">): Promise<BlobUpload>;
  /** The bytes of a blob, for an agent that has uploaded it or is party of a handoff that names it. */
  read(read: BlobRead): Promise<BlobContent>;
}

/** All that an agent needs of a hub, whether it is in the same process or behind a socket. */
export interface Hub {
  readonly id: string;
  /** Its custody domain, which handoffs, hellos and requests are meant for: the thumbprint of the key that signed its first manifest. */
  readonly domain: string;
  /** True where it forgets everything with this process: an agent's key need not outlive it then. */
  readonly isVolatile?: boolean;
  /** Takes one envelope into custody; settles after the commit, with the hub's signed receipt. */
  submit(envelope: string): Promise<string>;
  /** Takes an agent's signed manifest into the registry; the first one may need the proof of an invitation. */
  publish(manifest: string, invitation?: string): Promise<void>;
  /** A page of an agent's manifests by sequence, or the newest alone. */
  manifests(query: ManifestsQuery): Promise<PublishedPage>;
  /**
   * Of those who offer a capability a page, the best of them first. Behind a socket only what is offered
   * to the agent that is attached; in the same process to `as`, and all of it where nobody is named.
   */
  find(query: FindQuery, as?: Asker): Promise<Found>;
  /** What the next hello must carry, where there is a wire between the two. */
  challenge?(): Promise<string>;
  /** Attaches an agent; deliveries for it go to the handler from then on, and deltas where they are shown. */
  attach(
    request: AttachRequest,
    handler: (delivery: Delivery) => void,
    show?: (delta: ShownDelta) => void,
  ): Promise<Attachment>;
  /** What the hub knows of a handoff that `as` is party of; undefined for everybody else. */
  handoff(id: string, as: string): Promise<HandoffView | undefined>;
  /** Large content; undefined where the hub keeps none. */
  readonly blobs?: Blobs | undefined;
}
