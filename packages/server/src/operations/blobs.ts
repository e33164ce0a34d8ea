/// <reference types="node" />
import type { Blobs } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import type { BlobRead } from "@waybill/protocol/wire";
import {
  httpShapes,
  readContentRange,
  readRange,
  writeBlobUpload,
  writeContentRange,
} from "@waybill/protocol/wire";
import type { Caller } from "../access/caller.ts";
import type { Served } from "../served.ts";
import { Bytes, operation, WithStatus } from "./operation.ts";
import type { AnyOperation, OperationRequest } from "./operation.ts";

const OCTETS = "application/octet-stream";
/** Headers that keep a browser from showing a blob as a page of the hub. */
const AS_A_FILE = {
  "accept-ranges": "bytes",
  "cache-control": "private",
  "content-disposition": "attachment",
  "x-content-type-options": "nosniff",
};

export function blobOperations(): readonly AnyOperation[] {
  const { ofBlob, blobUpload } = httpShapes();
  return [
    operation({
      id: "putBlob",
      method: "PUT",
      path: "/v1/blobs/{digest}",
      summary:
        "Uploads a blob, or with Content-Range the next part of it. 201: the blob is complete, verified against its digest, and on disk. 202: bytes are missing.",
      cost: "O(bytes): each is hashed and written once, as fast as the agent's budget allows. A blob that was uploaded in parts is read once more.",
      who: "agent",
      params: ofBlob,
      headers: { "content-range": "bytes first-last/size, of a part" },
      takesBytes: true,
      waits: true,
      answer: blobUpload,
      statuses: [201, 202],
      refusals: [404, 409, 413],
      async handle({ served, caller, params: { digest }, header, bytes }) {
        const part = partOf(header);
        const { first: from, end, size } = part;
        const upload = await blobsOf(served).put(
          { digest, size, as: agentOf(caller), from },
          withLength(bytes, end - from),
        );
        return new WithStatus(upload.isComplete ? 201 : 202, writeBlobUpload(upload));
      },
    }),
    operation({
      id: "getBlobUpload",
      method: "GET",
      path: "/v1/blobs/{digest}/upload",
      summary: "How much of a blob the hub has received from the calling agent.",
      cost: "O(1): three rows and the size of one file.",
      who: "agent",
      params: ofBlob,
      answer: blobUpload,
      refusals: [404],
      async handle({ served, caller, params: { digest } }) {
        const upload = await blobsOf(served).upload({ digest, as: agentOf(caller) });
        return writeBlobUpload(upload);
      },
    }),
    ...(["GET", "HEAD"] as const).map((method) =>
      operation({
        id: method === "GET" ? "getBlob" : "headBlob",
        method,
        path: "/v1/blobs/{digest}",
        summary:
          method === "GET"
            ? "The bytes of a blob, for an agent that has uploaded it, or is party of a handoff that names it, and for operators."
            : "The size of a blob in bytes, for whoever may read it.",
        cost: "O(1) at a time, as long as it is read: one piece is in memory.",
        who: "party",
        params: ofBlob,
        headers: { range: "bytes=first-last, of a part" },
        waits: true,
        answer: OCTETS,
        statuses: [200, 206],
        refusals: [404],
        handle: readBlob,
      }),
    ),
  ];
}

async function readBlob({
  served,
  caller,
  params: { digest },
  header,
}: OperationRequest<{ digest: `sha256:${string}` }, never, never>): Promise<Bytes> {
  const blobs = blobsOf(served);
  const read = (range: Pick<BlobRead, "first" | "end"> = {}) =>
    caller.type === "operator"
      ? served.hub.operator.readBlob({ digest, ...range })
      : blobs.read({ digest, as: agentOf(caller), ...range });
  const { size, bytes } = await read();
  const part = readRange(header("range"), size);
  const headers = { ...AS_A_FILE, "content-type": OCTETS, etag: `"${digest}"` };
  if (part === undefined) {
    return new Bytes(200, { ...headers, "content-length": String(size) }, bytes);
  }
  const { first, end } = part;
  const given = await read({ first, end });
  return new Bytes(
    206,
    {
      ...headers,
      "content-length": String(end - first),
      "content-range": writeContentRange(part),
    },
    given.bytes,
  );
}

function blobsOf({ hub }: Pick<Served, "hub">): Blobs {
  if (hub.blobs !== undefined) return hub.blobs;
  throw new WaybillError(
    404,
    "This hub stores no blobs. Send content in the envelope (data), or as a URL (url).",
  );
}

function agentOf(caller: Caller): string {
  return (caller as Extract<Caller, { type: "agent" }>).agent;
}

/** Which part of the blob a request contains. */
function partOf(header: (name: string) => string | undefined) {
  const length = header("content-length");
  const range = header("content-range");
  if (range !== undefined) {
    const part = readContentRange(range);
    if (length === undefined || Number(length) === part.end - part.first) return part;
    throw new WaybillError(
      400,
      `The Content-Range states ${part.end - part.first} bytes, but the Content-Length ${length}.`,
    );
  }
  if (length !== undefined) return { first: 0, end: Number(length), size: Number(length) };
  throw new WaybillError(
    400,
    "An upload must state the size of the blob: in Content-Length for a whole blob, or in Content-Range: bytes first-last/size for a part.",
  );
}

/** No more than announced: further bytes would be counted as the next part. */
async function* withLength(
  bytes: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const piece of bytes) {
    if (piece.length > left) {
      if (left > 0) yield piece.subarray(0, left);
      throw new WaybillError(400, `More bytes arrived than the announced ${length}.`);
    }
    left -= piece.length;
    if (piece.length > 0) yield piece;
  }
}
