/// <reference types="node" />
import { once } from "node:events";
import { request as plainRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as secureRequest } from "node:https";
import { parseJson, WaybillError } from "@waybill/protocol";
import {
  blobPath,
  blobUploadPath,
  errorOfResponse,
  readBlobUpload,
  writeContentRange,
} from "@waybill/protocol/wire";
import type {
  BlobContent,
  BlobPut,
  BlobRead,
  Blobs,
  BlobSigner,
  BlobUpload,
} from "@waybill/protocol/wire";
import type { Address } from "./address.ts";
import { unreachable } from "./unreachable.ts";

/**
 * The longest time without any bytes. A hub compares what it has of a blob with the digest before it
 * answers.
 */
const SILENCE_MS = 120_000;
const ANSWER_BYTES = 64 * 1024;

interface BlobRequest {
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly signal?: AbortSignal | undefined;
}

/** The blobs of a remote hub. Each call is one request; the caller resumes after one that was cut. */
export class RemoteBlobs implements Blobs {
  readonly #address: Address;
  readonly #closing: AbortSignal;

  constructor(address: Address, closing: AbortSignal) {
    this.#address = address;
    this.#closing = closing;
  }

  async put(
    { digest, size, from = 0, sign }: BlobPut,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<BlobUpload> {
    const path = blobPath(digest);
    const range = { "content-range": writeContentRange({ first: from, end: size, size }) };
    const headers = {
      ...signed("PUT", path, sign),
      "content-length": size - from,
      "content-type": "application/octet-stream",
      ...(from > 0 ? range : {}),
    };
    return this.#upload(await this.#ask({ method: "PUT", path, headers }, bytes));
  }

  async upload({ digest, sign }: Pick<BlobRead, "digest" | "sign">): Promise<BlobUpload> {
    const path = blobUploadPath(digest);
    const headers = signed("GET", path, sign);
    return this.#upload(await this.#ask({ method: "GET", path, headers }));
  }

  async #upload(response: IncomingMessage): Promise<BlobUpload> {
    return readBlobUpload(parseJson(await textOf(this.#pieces(response))));
  }

  async read({ digest, first = 0, end, sign, signal }: BlobRead): Promise<BlobContent> {
    const path = blobPath(digest);
    const isPart = first > 0 || end !== undefined;
    const headers = {
      ...signed("GET", path, sign),
      ...(isPart ? { range: `bytes=${first}-${end === undefined ? "" : end - 1}` } : {}),
    };
    const response = await this.#ask({ method: "GET", path, headers, signal });
    const [, whole] = /\/(\d+)$/.exec(response.headers["content-range"] ?? "") ?? [];
    const size = Number(isPart ? whole : response.headers["content-length"]);
    if (response.statusCode === (isPart ? 206 : 200) && Number.isSafeInteger(size)) {
      return { size, bytes: this.#pieces(response) };
    }
    response.destroy();
    throw new WaybillError(
      500,
      `${this.#address.url} does not return the requested part of a blob: something between it and this agent may have changed the request.`,
    );
  }

  async #ask(asked: BlobRequest, bytes?: AsyncIterable<Uint8Array>): Promise<IncomingMessage> {
    const url = this.#address.path(asked.path);
    const open = url.startsWith("https:") ? secureRequest : plainRequest;
    const { method, headers, signal = this.#closing } = asked;
    this.#closing.throwIfAborted();
    const ending = AbortSignal.any([this.#closing, signal]);
    const { socketPath } = this.#address;
    const sent = open(url, { method, headers, agent: false, signal: ending, socketPath });
    sent.setTimeout(SILENCE_MS, () => sent.destroy(silent()));
    const answered = once(sent, "response").catch((error: unknown) => {
      throw this.#cut(error);
    }) as Promise<[IncomingMessage]>;
    // What comes after the answer does not invalidate it.
    sent.on("error", () => undefined);
    const written = bytes === undefined ? void sent.end() : write(sent, bytes);
    const failed = Promise.resolve(written).then(() => answered);
    failed.catch(() => undefined);
    const [response] = await Promise.race([answered, failed]);
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode <= 299) return response;
    const error = errorOfResponse(statusCode, await textOf(this.#pieces(response)));
    sent.destroy();
    throw error;
  }

  async *#pieces(response: IncomingMessage): AsyncGenerator<Uint8Array> {
    try {
      yield* response as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw this.#cut(error);
    } finally {
      response.destroy();
    }
  }

  #cut(error: unknown): unknown {
    this.#closing.throwIfAborted();
    return unreachable(this.#address.url, error);
  }
}

function signed(method: "GET" | "PUT", path: string, sign: BlobSigner | undefined) {
  return sign === undefined ? {} : { authorization: sign({ method, path }) };
}

/** Writes the bytes of a request, with backpressure, until there is an answer. */
async function write(sent: ClientRequest, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const over = new AbortController();
  for (const event of ["response", "close"]) sent.once(event, () => over.abort());
  try {
    for await (const piece of bytes) {
      if (over.signal.aborted) return;
      if (sent.write(piece)) continue;
      await once(sent, "drain", { signal: over.signal }).catch(() => undefined);
    }
    sent.end();
  } catch (error) {
    sent.destroy();
    throw error;
  }
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES) {
      throw new WaybillError(413, `The hub answers with more than ${ANSWER_BYTES} bytes.`);
    }
    parts.push(piece);
  }
  return Buffer.concat(parts).toString();
}

function silent(): Error {
  return Object.assign(new Error("No bytes were transferred in time."), { name: "TimeoutError" });
}
