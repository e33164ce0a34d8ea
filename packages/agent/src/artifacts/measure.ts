/// <reference types="node" />
import { digestOfBytes, runningDigest, WaybillError } from "@waybill/protocol";
import type { Artifact, Digest } from "@waybill/protocol";
import { fromBase64url } from "@waybill/protocol/wire";
import { files } from "../identity/files.ts";
import type { Files } from "../identity/files.ts";
import { labelOf } from "./given.ts";
import type { ArtifactBytes, ArtifactFile, ArtifactStream } from "./given.ts";

/** A file with known digest and size, whose bytes can be read again from any offset. */
export interface Measured {
  readonly name: string;
  readonly media_type: string;
  readonly digest: Digest;
  readonly size: number;
  read(first: number): AsyncIterable<Uint8Array>;
  /** Removes the temporary copy that was made for this upload. */
  remove?(): Promise<void>;
}

type Local = ArtifactBytes | ArtifactFile | ArtifactStream;

/** Reads what was given once, in pieces, for its digest and size. */
export async function measured(given: Local, signal: AbortSignal): Promise<Measured> {
  if ("bytes" in given) return measuredBytes(given);
  if ("path" in given) return measuredFile(given, signal);
  return measuredStream(given, signal);
}

function measuredBytes(given: ArtifactBytes): Measured {
  const { bytes } = given;
  return {
    ...labelOf(given),
    digest: digestOfBytes(bytes),
    size: bytes.length,
    read: (first) => once(bytes.subarray(first)),
  };
}

/** The bytes inside an artifact, if they match its digest. */
export function measuredInline({ name, media_type, digest, data = "" }: Artifact): Measured {
  const bytes = fromBase64url(data);
  if (bytes === undefined || digestOfBytes(bytes) !== digest) {
    throw new WaybillError(
      422,
      `The artifact ${name} was not sent: its bytes do not have the digest ${digest} that it names.`,
    );
  }
  const read = (first: number) => once(bytes.subarray(first));
  return { name, media_type, digest, size: bytes.length, read };
}

async function measuredFile(given: ArtifactFile, signal: AbortSignal): Promise<Measured> {
  const found = filesOf(given.path);
  const path = pathOf(given.path);
  try {
    const measure = await measureOf(found.fs.createReadStream(path), signal);
    return {
      ...labelOf(given),
      ...measure,
      read: part(found, path, measure.size),
    };
  } catch (cause) {
    throw WaybillError.is(cause) ? cause : unreadable(path, cause);
  }
}

/** Writes a stream to a temporary file, from which an interrupted upload is resumed. */
async function measuredStream(given: ArtifactStream, signal: AbortSignal): Promise<Measured> {
  const found = filesOf(given.name);
  const { fs, path } = found;
  const { tmpdir } = globalThis.process.getBuiltinModule("node:os");
  const folder = await fs.promises.mkdtemp(path.join(tmpdir(), "waybill-"));
  const remove = () => fs.promises.rm(folder, { recursive: true, force: true });
  try {
    const file = path.join(folder, "artifact");
    const writing = await fs.promises.open(file, "wx", 0o600);
    let measure: Pick<Measured, "digest" | "size">;
    try {
      measure = await measureOf(given.stream, signal, (bytes) => writeAll(writing, bytes));
    } finally {
      await writing.close();
    }
    const read = part(found, file, measure.size);
    return { ...labelOf(given), ...measure, read, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Bytes that are appended to a file afterwards do not belong to it. */
function part({ fs }: Files, path: string, size: number): Measured["read"] {
  return (start) =>
    start < size ? fs.createReadStream(path, { start, end: size - 1 }) : once(EMPTY);
}

const EMPTY = new Uint8Array();

interface Writable {
  write(bytes: Uint8Array): Promise<{ readonly bytesWritten: number }>;
}

/** A write may take only a part of its buffer. */
export async function writeAll(file: Writable, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes.subarray(at))).bytesWritten;
}

async function measureOf(
  stream: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  each: (bytes: Uint8Array) => Promise<void> = async () => undefined,
): Promise<{ digest: Digest; size: number }> {
  const running = runningDigest();
  let size = 0;
  for await (const bytes of stream) {
    signal.throwIfAborted();
    running.update(bytes);
    size += bytes.length;
    await each(bytes);
  }
  return { digest: running.digest(), size };
}

export async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

/** The file system, or an error that says why there is none. */
export function filesOf(what: string | URL): Files {
  const found = files();
  if (found !== undefined) return found;
  throw new WaybillError(
    400,
    `This runtime has no file system, which the artifact ${String(what)} needs: give it as bytes.`,
  );
}

export function pathOf(path: string | URL): string {
  if (typeof path === "string") return path;
  return globalThis.process.getBuiltinModule("node:url").fileURLToPath(path);
}

function unreadable(path: string, cause: unknown): WaybillError {
  const { message } = WaybillError.from(cause);
  return new WaybillError(
    422,
    `The file ${path} can't be read, so it was not sent: ${message}. Check the path and its permissions.`,
    { cause },
  );
}
