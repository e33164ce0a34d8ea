import { digestOfBytes, WaybillError } from "@waybill/protocol";
import type { Artifact } from "@waybill/protocol";
import { signRequest, toBase64url } from "@waybill/protocol/wire";
import type { Blobs, BlobSigner, Clock, Hub } from "@waybill/protocol/wire";
import type { OwnKey } from "../identity/own-key.ts";
import type { Link } from "../link/link.ts";
import { isArtifact } from "./given.ts";
import type { GivenArtifact } from "./given.ts";
import { measured, measuredInline } from "./measure.ts";
import type { Measured } from "./measure.ts";
import { concatenated } from "./concatenated.ts";
import { Patience } from "./patience.ts";
import { originOf, receivedArtifact } from "./received.ts";
import type { BlobArtifact, Origin, ReceivedArtifact } from "./received.ts";

/** Larger artifacts are uploaded instead of sent inline, unless a setting says otherwise. */
export const INLINE_ARTIFACT_BYTES: number = 64 * 1024;
/** The artifacts in one envelope together may be this many times as large as a single one. */
const INLINE_TOGETHER = 4;

export interface ArtifactsOptions {
  readonly id: string;
  readonly key: OwnKey;
  readonly newId: () => string;
  readonly hub: Hub;
  readonly link: Link;
  readonly clock: Clock;
  readonly inlineBytes: number | undefined;
}

/** The files that an agent sends and receives. Files too large for an envelope are stored at the hub. */
export class Artifacts implements Origin {
  readonly #options: ArtifactsOptions;
  readonly #inlineBytes: number;
  readonly #uploading = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: ArtifactsOptions) {
    const { hub, inlineBytes = INLINE_ARTIFACT_BYTES } = options;
    if (!(inlineBytes >= 0)) {
      throw new WaybillError(
        400,
        `inlineArtifactBytes is ${inlineBytes}: give a number of bytes, 0 or more.`,
      );
    }
    this.#options = options;
    this.#inlineBytes = hub.blobs === undefined ? Infinity : inlineBytes;
  }

  get domain(): string {
    return this.#options.hub.domain;
  }

  /** Whether any of these needs more than being named. */
  areToBeSent(given: readonly GivenArtifact[] = []): boolean {
    let room = this.#inlineBytes * INLINE_TOGETHER;
    return given.some((each) => {
      if (!isArtifact(each)) return true;
      if (each.data === undefined) return this.#isForeign(each);
      const bytes = Math.floor((each.data.length * 3) / 4);
      if (bytes > Math.min(this.#inlineBytes, room)) return true;
      room -= bytes;
      return false;
    });
  }

  /** Uploads what is too large for an envelope, and returns the artifacts for the envelope. */
  async send(
    given: readonly GivenArtifact[],
    { until, signal }: { readonly until: number; readonly signal: AbortSignal },
  ): Promise<Artifact[]> {
    const ending = AbortSignal.any([this.#closing.signal, signal]);
    const artifacts: Artifact[] = [];
    let room = this.#inlineBytes * INLINE_TOGETHER;
    for (const each of given) {
      const file = await this.#fileOf(each, ending);
      if (file === undefined) {
        artifacts.push({ ...(each as Artifact) });
        continue;
      }
      try {
        const { name, media_type, digest, size } = file;
        if (size <= Math.min(this.#inlineBytes, room)) {
          room -= size;
          artifacts.push(await inline(file));
        } else {
          await this.#uploaded(file, until, ending);
          artifacts.push({ name, media_type, digest, size });
        }
      } finally {
        await file.remove?.();
      }
    }
    return artifacts;
  }

  /** The file behind what was given; undefined if an envelope can refer to it as it is. */
  async #fileOf(given: GivenArtifact, signal: AbortSignal): Promise<Measured | undefined> {
    if (!isArtifact(given)) return measured(given, signal);
    if (given.data !== undefined) return measuredInline(given);
    if (!this.#isForeign(given)) return undefined;
    const { name, media_type, digest, size } = given as BlobArtifact;
    const blob = { name, media_type, digest, size };
    return { ...blob, read: (first) => originOf(given)!.read(blob, first) };
  }

  /** This hub does not have what is stored at the hub of another domain. */
  #isForeign(given: Artifact): boolean {
    return given.size !== undefined && (originOf(given)?.domain ?? this.domain) !== this.domain;
  }

  /** Two envelopes with one file upload it once. */
  async #uploaded(file: Measured, until: number, signal: AbortSignal): Promise<void> {
    const { digest } = file;
    while (this.#uploading.has(digest)) {
      await this.#uploading.get(digest)!.catch(() => undefined);
      signal.throwIfAborted();
    }
    const uploading = this.#upload(file, until, signal);
    this.#uploading.set(digest, uploading);
    try {
      await uploading;
    } finally {
      this.#uploading.delete(digest);
    }
  }

  async #upload(file: Measured, until: number, signal: AbortSignal): Promise<void> {
    const { id: as, link } = this.#options;
    const blobs = this.#blobs();
    const sign = this.#sign;
    const { digest, size, name } = file;
    const ending = new AbortController();
    const both = AbortSignal.any([ending.signal, signal]);
    let arrived = 0;
    const attempt = async (): Promise<void> => {
      // It may be complete because another agent uploaded it and this one may read it.
      let state = await blobs.upload({ digest, as, sign });
      while (!state.isComplete) {
        both.throwIfAborted();
        arrived = state.received;
        // All bytes have arrived and the hub refuses them: its copy was damaged.
        const from = arrived < size ? arrived : 0;
        state = await blobs.put({ digest, size, as, from, sign }, uploadBytes(file, from, both));
        if (!state.isComplete && state.received <= from) throw stalled(name);
      }
    };
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined);
    const stop = () => stopped.reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      const uploading = link.retry(
        () => attempt().catch((error: unknown) => asTemporaryUpload(name, error)),
        until,
      );
      await Promise.race([uploading, stopped.promise]);
    } catch (error) {
      if (!WaybillError.is(error, 503) && !WaybillError.is(error, 504)) throw error;
      throw new WaybillError(
        504,
        `The artifact ${name} was not uploaded in time: ${arrived} of ${size} bytes have arrived at the hub. ${error.message} A retry resumes there: give it more time.`,
        { cause: error },
      );
    } finally {
      signal.removeEventListener("abort", stop);
      ending.abort(new WaybillError(499, `The upload of ${name} was cancelled.`));
    }
  }

  /** The files that came in an envelope. */
  received(artifacts: readonly Artifact[]): ReceivedArtifact[] {
    return artifacts.map((artifact) => receivedArtifact(artifact, this));
  }

  /** The bytes of a blob from an offset on. A dropped connection does not end them. */
  async *read(
    { name, digest, size }: BlobArtifact,
    first: number,
    asked?: AbortSignal,
  ): AsyncIterable<Uint8Array> {
    const { id: as, link, clock } = this.#options;
    const blobs = this.#blobs();
    const sign = this.#sign;
    const closing = this.#closing.signal;
    const signal = asked === undefined ? closing : AbortSignal.any([closing, asked]);
    const patience = new Patience({ name, size: size - first, clock, signal });
    for (let at = first; at < size;) {
      const cut = new AbortController();
      const reading = () =>
        blobs
          .read({ digest, as, first: at, sign, signal: cut.signal })
          .catch((error: unknown) => asTemporaryRead(error));
      let pieces: AsyncIterator<Uint8Array> | undefined;
      try {
        const { bytes } = await patience.during(link.retry(reading, patience.until));
        pieces = bytes[Symbol.asyncIterator]();
        for (;;) {
          const next = await patience.during(pieces.next());
          if (next.done === true) return;
          at += next.value.length;
          patience.received(next.value.length);
          yield next.value;
        }
      } catch (error) {
        if (!WaybillError.is(error, 503)) throw error;
        await patience.pause(error);
      } finally {
        // Waiting for a retry counts against the hub's time too.
        cut.abort();
        pieces?.return?.().catch(() => undefined);
      }
    }
  }

  #blobs(): Blobs {
    const { hub } = this.#options;
    if (hub.blobs !== undefined) return hub.blobs;
    throw new WaybillError(
      413,
      `The hub ${hub.id} stores no blobs, and this file is too large for an envelope. Send a smaller file, or a URL.`,
    );
  }

  readonly #sign: BlobSigner = ({ method, path }) => {
    const { id: from, key, hub, clock, newId } = this.#options;
    const { id: to, domain } = hub;
    return signRequest(
      { from, to, domain, id: newId(), at: clock.now(), method, path },
      key.current,
    );
  };

  /** Aborts all transfers under way. */
  close(reason: WaybillError): void {
    this.#closing.abort(reason);
  }
}

async function inline({ name, media_type, digest, read }: Measured): Promise<Artifact> {
  const bytes = concatenated(await Array.fromAsync(read(0)));
  // The file may have been written to since its digest was computed.
  if (digestOfBytes(bytes) !== digest) throw changedWhileSending(name);
  return { name, media_type, digest, data: toBase64url(bytes) };
}

/** The bytes of a file for an upload: as many as were measured, unless the upload is aborted. */
async function* uploadBytes(
  { name, size, read }: Measured,
  first: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  let at = first;
  for await (const bytes of read(first)) {
    signal.throwIfAborted();
    at += bytes.length;
    yield bytes;
  }
  if (at !== size) throw changedWhileSending(name);
}

/** Errors that may be temporary: the hub is asked again how much it has. */
const TEMPORARY: ReadonlySet<number> = new Set([301, 409]);

/** Other reads of the same agent end before long, so this one is worth a retry. */
function asTemporaryRead(thrown: unknown): never {
  const error = WaybillError.from(thrown);
  throw error.status === 301 ? new WaybillError(503, error.message, { cause: error }) : thrown;
}

function asTemporaryUpload(name: string, thrown: unknown): never {
  const error = WaybillError.from(thrown);
  if (TEMPORARY.has(error.status)) throw new WaybillError(503, error.message, { cause: error });
  // The hub has compared the bytes with the digest.
  if (error.status === 400) throw changedWhileSending(name, error);
  throw thrown;
}

function stalled(name: string): WaybillError {
  return new WaybillError(
    503,
    `The hub accepts no more bytes of the artifact ${name} at the moment.`,
  );
}

function changedWhileSending(name: string, cause?: unknown): WaybillError {
  return new WaybillError(
    422,
    `The artifact ${name} was not sent: its bytes have changed since its digest was computed. Send it once nothing writes to it any more.`,
    { cause },
  );
}
