/// <reference types="node" />
import { parseJson, WaybillError } from "@waybill/protocol";
import type { Json, Limits } from "@waybill/protocol";

/** What a request holds around its envelope. */
export const BODY_BYTES_BESIDE_ENVELOPE: number = 4 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A body, read by the rules of the protocol: whatever another reader could take differently is refused. */
export function readBody(bytes: Uint8Array, limits: Limits, bodyBytes: number): Json {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new WaybillError(400, "The body is not UTF-8.", { at: "", cause });
  }
  return parseJson(text, { envelopeBytes: bodyBytes, jsonDepth: limits.jsonDepth });
}
