/// <reference types="node" />
import { digestOfBytes, runningDigest, WaybillError } from "@waybill/protocol";
import type { Artifact } from "@waybill/protocol";
import { fromBase64url } from "@waybill/protocol/wire";
import { concatenated } from "./concatenated.ts";
import { filesOf, once, pathOf, writeAll } from "./measure.ts";

/** The default limit of `bytes()`. */
export const DEFAULT_BYTES_LIMIT: number = 64 * 1024 * 1024;

/** How long to wait for an artifact's bytes. */
export interface WaitOptions {
  /**
   * Ends the wait, such as `AbortSignal.timeout(10_000)`. By default a hub is waited for as long as
   * bytes come: at most a minute for the next ones, and in all a minute plus a second for each 64 kB.
   */
  readonly signal?: AbortSignal | undefined;
}

/** How an artifact's bytes are read into memory. */
export interface ReadOptions extends WaitOptions {
  /** The most bytes to read, by default `DEFAULT_BYTES_LIMIT`. */
  readonly limit?: number | undefined;
}

/**
 * A received file. Its bytes are inside, or at the hub, which is asked for them when they are read.
 * Bytes without the signed digest and size are refused with 422.
 *
 * @example
 * ```ts
 * const { artifacts } = await agent.handoff({ capability: "render", input }).result;
 * for (const artifact of artifacts) await artifact.save(`out/${basename(artifact.name)}`);
 * ```
 */
export interface ReceivedArtifact extends Artifact {
  /** All bytes at once. More bytes than the limit are a 413, before any are read. */
  bytes(options?: ReadOptions): Promise<Uint8Array>;
  /**
   * The bytes as a stream. They are verified when the last one has come: discard what was made from
   * them if reading fails.
   */
  stream(options?: WaitOptions): AsyncIterable<Uint8Array>;
  /** Writes the bytes to a file, which appears once all of them have arrived and are verified. */
  save(path: string | URL, options?: WaitOptions): Promise<void>;
}

/** An artifact whose bytes are stored at a hub. */
export type BlobArtifact = Artifact & { readonly size: number };

/** The receiver of an artifact, which can read its bytes at the hub that stores them. */
export interface Origin {
  /** The custody domain of that hub. */
  readonly domain: string;
  read(blob: BlobArtifact, first: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

const ORIGIN = Symbol("who has received it");

/**
 * An artifact with methods to read its bytes. They are not enumerable, because they are not part of
 * what is signed.
 */
export function receivedArtifact(artifact: Artifact, origin: Origin): ReceivedArtifact {
  const hidden = {
    [ORIGIN]: origin,
    bytes: (options?: ReadOptions) => bytesOf(artifact, origin, options),
    stream: ({ signal }: WaitOptions = {}) => checkedStream(artifact, origin, signal),
    save: (path: string | URL, { signal }: WaitOptions = {}) =>
      save(artifact, origin, path, signal),
  };
  const properties = Reflect.ownKeys(hidden).map((name) => [
    name,
    { value: hidden[name as keyof typeof hidden], enumerable: false },
  ]);
  return Object.defineProperties(
    { ...artifact },
    Object.fromEntries(properties) as PropertyDescriptorMap,
  ) as ReceivedArtifact;
}

/** The receiver of an artifact; undefined for one that was made here, or copied. */
export function originOf(artifact: Artifact): Origin | undefined {
  return (artifact as { readonly [ORIGIN]?: Origin })[ORIGIN];
}

async function bytesOf(
  artifact: Artifact,
  origin: Origin,
  { limit = DEFAULT_BYTES_LIMIT, signal }: ReadOptions = {},
): Promise<Uint8Array> {
  const { name, size, data } = artifact;
  const length = size ?? Math.floor(((data?.length ?? 0) * 3) / 4);
  if (length > limit) {
    throw new WaybillError(
      413,
      `The artifact ${name} has ${length} bytes, and at most ${limit} are read into memory: give a higher limit, or read it with stream() or save().`,
    );
  }
  return concatenated(await Array.fromAsync(checkedStream(artifact, origin, signal)));
}

async function* checkedStream(
  artifact: Artifact,
  origin: Origin,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  const { name, digest, size, data, url } = artifact;
  if (size !== undefined) return yield* checkedBlob({ ...artifact, size }, origin, signal);
  if (data === undefined) {
    throw new WaybillError(
      422,
      `The artifact ${name} lies at ${url} and is not part of the envelope: fetch it there, and compare its digest.`,
    );
  }
  const bytes = fromBase64url(data);
  if (bytes === undefined || digestOfBytes(bytes) !== digest) throw changed(artifact);
  yield* once(bytes);
}

async function* checkedBlob(
  blob: BlobArtifact,
  origin: Origin,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  const { size, digest } = blob;
  const running = runningDigest();
  let received = 0;
  for await (const bytes of origin.read(blob, 0, signal)) {
    received += bytes.length;
    if (received > size) break;
    running.update(bytes);
    yield bytes;
  }
  if (received !== size || running.digest() !== digest) throw changed(blob);
}

async function save(
  artifact: Artifact,
  origin: Origin,
  to: string | URL,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { fs, path } = filesOf(artifact.name);
  const target = path.resolve(pathOf(to));
  const beside = path.join(path.dirname(target), ".waybill-");
  const folder = await fs.promises.mkdtemp(beside).catch((cause: unknown) => {
    throw notSaved(artifact.name, target, cause);
  });
  try {
    const file = path.join(folder, "artifact");
    const writing = await fs.promises.open(file, "wx");
    try {
      for await (const bytes of checkedStream(artifact, origin, signal))
        await writeAll(writing, bytes);
      await writing.sync();
    } finally {
      await writing.close();
    }
    await fs.promises.rename(file, target);
  } catch (cause) {
    throw WaybillError.is(cause) ? cause : notSaved(artifact.name, target, cause);
  } finally {
    await fs.promises.rm(folder, { recursive: true, force: true });
  }
}

function notSaved(name: string, target: string, cause: unknown): WaybillError {
  const { message } = WaybillError.from(cause);
  return new WaybillError(
    500,
    `The artifact ${name} was not saved at ${target}: ${message}. Choose a file in an existing, writable folder.`,
    { cause, retryable: false },
  );
}

function changed({ name, digest, size }: Artifact): WaybillError {
  const sized = size === undefined ? "" : ` and the size ${size}`;
  return new WaybillError(
    422,
    `The artifact ${name} was changed in transit: its bytes do not have the digest ${digest}${sized} that its sender has signed.`,
  );
}
