/// <reference types="node" />
import { digestOfBytes } from "@waybill/protocol";
import type { Actor } from "./actor.ts";
import type { Answer, Attacker } from "./attacker.ts";

/** A unique text of one-byte characters. */
export function someText(size: number, of: string): string {
  return of.padEnd(size, "b");
}

export function blobPathOf(text: string): string {
  return `/v1/blobs/${digestOfBytes(Buffer.from(text))}`;
}

/** Uploads a whole blob. */
export function putBlob(attacker: Attacker, actor: Actor, text: string): Promise<Answer> {
  return putPart(attacker, actor, blobPathOf(text), text);
}

/** Uploads the first bytes of a blob; without `size` they are the whole blob. */
export function putPart(
  attacker: Attacker,
  actor: Actor,
  path: string,
  text: string,
  size?: number,
): Promise<Answer> {
  return attacker.ask({
    method: "PUT",
    path,
    body: text,
    headers: {
      authorization: actor.proof("PUT", path),
      ...(size !== undefined && { "content-range": `bytes 0-${text.length - 1}/${size}` }),
    },
    label: size === undefined ? "upload" : "part",
  });
}

/** The head of a request signed by its actor, for a raw socket. */
export function signedHead(
  { place }: Attacker,
  actor: Actor,
  method: string,
  path: string,
  ...headers: readonly string[]
): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${place.host}:${place.port}`,
    `Authorization: ${actor.proof(method, path)}`,
    ...headers,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}
