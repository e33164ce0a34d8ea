import { WaybillError } from "../error.ts";
import type { Envelope } from "../envelope/envelope.ts";
import type { Digest } from "../signing/digest.ts";

/** A blob as an envelope refers to it: by an artifact with a `size`. */
export interface NamedBlob {
  readonly digest: Digest;
  readonly size: number;
  /** The place of the reference in the envelope, as a JSON Pointer. */
  readonly at: string;
}

/** How much of a blob a hub has from the agent that asks. */
export interface BlobUpload {
  /** The number of bytes from the first one on; 0 if the agent has uploaded nothing of it. */
  readonly received: number;
  /** The size of the whole, once the agent has stated it. */
  readonly size?: number | undefined;
  /** The hub has all of it, with a verified digest, on durable storage. */
  readonly isComplete: boolean;
}

/** The same, as JSON. */
export interface WireBlobUpload {
  readonly received: number;
  readonly size?: number | undefined;
  readonly complete: boolean;
}

/** A part of a blob: its first byte, the byte after its last one, and the size of the whole. */
export interface BlobPart {
  readonly first: number;
  readonly end: number;
  readonly size: number;
}

/** The path of a blob at a hub. */
export function blobPath(digest: Digest): string {
  return `/v1/blobs/${digest}`;
}

/** The path of the state of an agent's upload. */
export function blobUploadPath(digest: Digest): string {
  return `${blobPath(digest)}/upload`;
}

/** The blobs that an envelope refers to, each with each size once. */
export function blobsIn({ body }: Envelope): readonly NamedBlob[] {
  const named = new Map<string, NamedBlob>();
  if (!("artifacts" in body)) return [];
  body.artifacts?.forEach(({ digest, size }, index) => {
    const key = `${digest} ${size}`;
    if (size === undefined || named.has(key)) return;
    named.set(key, { digest, size, at: `/body/artifacts/${index}` });
  });
  return [...named.values()];
}

/**
 * Checks whether an envelope may refer to a blob. `known` is the blob's size if its sender has
 * uploaded it completely or may read it. For everybody else the answer does not depend on whether the
 * blob exists.
 */
export function checkNamedBlob({ digest, size, at }: NamedBlob, known: number | undefined): void {
  if (known === undefined) {
    throw new WaybillError(
      403,
      `The artifact names the blob ${digest}, which its sender has not completely uploaded and may not read here. Upload all of it first (PUT ${blobPath(digest)}), then send the envelope again.`,
      { at },
    );
  }
  if (known === size) return;
  throw new WaybillError(
    400,
    `The artifact states ${size} bytes for the blob ${digest}, but it has ${known}.`,
    { at: `${at}/size` },
  );
}

/** Checks that the next bytes of an upload begin where the earlier ones end. */
export function checkBlobPart(
  { first, size }: Pick<BlobPart, "first" | "size">,
  upload: Pick<BlobUpload, "received" | "size">,
): void {
  const { received } = upload;
  if (first > 0 && upload.size !== undefined && upload.size !== size) {
    throw new WaybillError(
      409,
      `The upload was started for a blob of ${upload.size} bytes, but this part states ${size}. Restart the upload from byte 0.`,
      { received },
    );
  }
  if (first === received || first === 0) return;
  throw new WaybillError(
    409,
    `The part starts at byte ${first}, but ${received} bytes have arrived; continue from there.`,
    { received },
  );
}

/** Checks that the bytes of an upload match the digest in its path: otherwise nothing of them is kept. */
export function checkUploadedBlob(digest: Digest, uploaded: Digest): void {
  if (uploaded === digest) return;
  throw new WaybillError(
    400,
    `The bytes have the digest ${uploaded}, but the path names ${digest}. The upload was discarded; send the bytes that have this digest.`,
  );
}

/** Until when a hub keeps a blob for a handoff that refers to it; undefined while the handoff is open. */
export function blobKeptUntil(endedAt: number | null, keptMs: number): number | undefined {
  return endedAt === null ? undefined : endedAt + keptMs;
}

/** Checks that received bytes are the blob that an artifact names; a reader does this before it uses them. */
export function checkBlob(
  named: Pick<NamedBlob, "digest" | "size">,
  received: Pick<NamedBlob, "digest" | "size">,
): void {
  const { digest, size } = named;
  if (received.size !== size) {
    throw new WaybillError(
      422,
      `The blob ${digest} should have ${size} bytes, but ${received.size} arrived. Discard them, and read it again.`,
    );
  }
  if (received.digest === digest) return;
  throw new WaybillError(
    422,
    `The bytes received for the blob ${digest} have the digest ${received.digest}: the hub, or somebody in between, has changed them. Discard them.`,
  );
}

const CONTENT_RANGE = /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16})$/;

/** The Content-Range header of a part. */
export function writeContentRange({ first, end, size }: BlobPart): string {
  return `bytes ${first}-${end - 1}/${size}`;
}

/** Reads the Content-Range header of a part; throws a 400 if it is invalid. */
export function readContentRange(header: string): BlobPart {
  const [first, last, size] = (CONTENT_RANGE.exec(header) ?? []).slice(1).map(Number);
  const isSound =
    first !== undefined && first <= last! && last! < size! && Number.isSafeInteger(size);
  if (isSound) return { first, end: last! + 1, size: size! };
  throw new WaybillError(
    400,
    `The Content-Range of a part must be "bytes first-last/size", with the size of the whole blob, not ${JSON.stringify(header)}.`,
  );
}

const RANGE = /^bytes=(?:(\d{1,16})-(\d{1,16})?|-(\d{1,16}))$/;

/**
 * The part of a blob that a Range header requests; undefined for the whole, also if it requests
 * several parts.
 */
export function readRange(header: string | undefined, size: number): BlobPart | undefined {
  const [, from, to, ending] = RANGE.exec(header ?? "") ?? [];
  if (from === undefined && ending === undefined) return undefined;
  const first = from === undefined ? Math.max(0, size - Number(ending)) : Number(from);
  const end = Math.min(to === undefined ? size : Number(to) + 1, size);
  if (first < end) return { first, end, size };
  // A range whose last byte is before its first is ignored (RFC 9110, 14.1.1).
  if (to !== undefined && Number(to) < first) return undefined;
  throw new WaybillError(400, `The blob has ${size} bytes, so it has no range ${header}.`);
}

/** The state of an upload, as JSON. */
export function writeBlobUpload({ received, size, isComplete }: BlobUpload): WireBlobUpload {
  return { received, ...(size === undefined ? {} : { size }), complete: isComplete };
}

/** Reads the state of an upload; throws a 400 if it is invalid. */
export function readBlobUpload(value: unknown): BlobUpload {
  const { received, size, complete } = (value ?? {}) as Record<string, unknown>;
  const isCount = (count: unknown): count is number =>
    Number.isSafeInteger(count) && Number(count) >= 0;
  if (
    !isCount(received) ||
    (size !== undefined && !isCount(size)) ||
    typeof complete !== "boolean"
  ) {
    throw new WaybillError(
      400,
      "This is not the state of an upload: it lacks received or complete.",
    );
  }
  return { received, size, isComplete: complete };
}
