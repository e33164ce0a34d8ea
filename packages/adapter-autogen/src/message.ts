/// <reference types="node" />
import { Buffer } from "node:buffer";
import { wordsOfResult } from "@waybill/agent/adapter";
import type { HandoffResult } from "@waybill/agent";
import { parseJson, stringifyJson, WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { BYTES_TO_WORKER } from "./wire.ts";
import type { WirePayload } from "./wire.ts";

/** A message of AutoGen: the name of its class in Python, and its members. */
export interface AutogenMessage {
  readonly type: string;
  readonly value: Json;
}

const JSON_TYPE = "application/json";

/** Files in a message may be more than an envelope takes. */
const LIMITS = { envelopeBytes: BYTES_TO_WORKER };

export function payloadOf({ type, value }: AutogenMessage): WirePayload {
  const data = Buffer.from(stringifyJson(value, LIMITS));
  assertFits(data.byteLength);
  return { data_type: type, data_content_type: JSON_TYPE, data };
}

export function messageOf({ data_type, data_content_type, data }: WirePayload): AutogenMessage {
  if (data_content_type !== JSON_TYPE) {
    throw new WaybillError(
      400,
      `A message of type ${data_type} has the content type ${data_content_type || "(none)"}; only ${JSON_TYPE} is supported.`,
    );
  }
  const text = new TextDecoder("utf-8", { fatal: true });
  let json: string;
  try {
    json = text.decode(data);
  } catch (cause) {
    throw new WaybillError(400, `A message of type ${data_type} is not UTF-8.`, { cause });
  }
  return { type: data_type, value: parseJson(json, LIMITS) };
}

/** A Python class has members: a result without any becomes the text of one. */
export function replyOf(result: HandoffResult): { [member: string]: Json } {
  const { output } = result;
  return isObject(output) ? output : { text: wordsOfResult(result) };
}

export function isObject(value: Json | undefined): value is { [member: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function assertFits(bytes: number): void {
  if (bytes <= BYTES_TO_WORKER) return;
  throw new WaybillError(
    413,
    `A message of ${bytes} bytes exceeds the ${BYTES_TO_WORKER} that a worker accepts: send less, or a reference.`,
  );
}
