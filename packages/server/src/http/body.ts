/// <reference types="node" />
import type { IncomingMessage } from "node:http";
import { parseJson, WaybillError } from "@waybill/protocol";
import type { Json, Limits } from "@waybill/protocol";
import { LARGE_MESSAGE_BYTES, STRANGERS } from "../access/fair-bytes.ts";
import type { FairBytes } from "../access/fair-bytes.ts";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import type { Connections } from "./connections.ts";
import type { HeaderCheckOptions } from "./check-headers.ts";

/** What a request contains around its envelope. */
export const BODY_BYTES_BESIDE_ENVELOPE: number = 4 * 1024;

export interface BodyOptions {
  readonly door: HeaderCheckOptions;
  readonly connections: Connections;
  readonly turns: FairScheduler;
  readonly largeMessages: FairBytes;
  readonly hubLimits: Limits;
}

export interface Body {
  readonly bytes: Buffer;
  readonly value: Json;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * A body, parsed by the rules of the protocol: whatever another reader could interpret differently is
 * refused.
 */
export async function readBody(request: IncomingMessage, options: BodyOptions): Promise<Body> {
  const { door, connections, turns, largeMessages, hubLimits } = options;
  const bytes = await take(request, door, connections);
  const { owner, address = "" } = connections.of(request.socket) ?? {};
  if (bytes.length >= LARGE_MESSAGE_BYTES) {
    await enter(request, bytes.length, owner ?? STRANGERS, largeMessages);
  }
  return new Promise((resolve, reject) => {
    const work = () => {
      try {
        resolve({ bytes, value: valueOf(bytes, hubLimits, door.bodyBytes) });
      } catch (error) {
        reject(WaybillError.from(error));
      }
    };
    if (owner === undefined) turns.runForStranger(address, work);
    else turns.run(owner, work);
  });
}

/** What has entered for requests that are not answered yet. */
const inWork = new WeakMap<IncomingMessage, number>();

/** Waits for room. If the client goes away meanwhile, its body is forgotten. */
function enter(
  request: IncomingMessage,
  length: number,
  who: string,
  largeMessages: FairBytes,
): Promise<void> {
  const { socket } = request;
  return new Promise((resolve, reject) => {
    const cut = () => reject(new WaybillError(400, "The client has closed the connection."));
    socket.once("close", cut);
    largeMessages.enter(who, length, () => {
      socket.off("close", cut);
      if (socket.destroyed) return largeMessages.leave(length);
      inWork.set(request, length);
      resolve();
    });
  });
}

/** A request has its answer, and what its body needs besides the bytes is not needed any more. */
export function leaveBody(request: IncomingMessage, largeMessages: FairBytes): void {
  const bytes = inWork.get(request);
  if (bytes === undefined) return;
  inWork.delete(request);
  largeMessages.leave(bytes);
}

function take(
  request: IncomingMessage,
  { tolls, bodyBytes }: HeaderCheckOptions,
  connections: Connections,
): Promise<Buffer> {
  const toll = tolls.of(request);
  const isPaid = request.headers["content-length"] !== undefined;
  const parts: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const done = () => {
      request.off("data", add);
      request.off("end", end);
      request.off("close", cut);
      request.off("error", cut);
    };
    const add = (part: Buffer) => {
      bytes += part.length;
      try {
        if (bytes > bodyBytes) {
          throw new WaybillError(413, `The body has more than ${bodyBytes} bytes, the limit here.`);
        }
        if (!isPaid) tolls.more(toll, part.length);
      } catch (error) {
        done();
        return reject(WaybillError.from(error));
      }
      connections.holdForRequest(request, part.length);
      parts.push(part);
    };
    const end = () => {
      done();
      resolve(Buffer.concat(parts));
    };
    const cut = () => {
      done();
      reject(new WaybillError(400, "The body has ended before it was complete."));
    };
    request.on("data", add);
    request.once("end", end);
    request.once("close", cut);
    request.once("error", cut);
  });
}

function valueOf(bytes: Uint8Array, limits: Limits, bodyBytes: number): Json {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new WaybillError(400, "The body is not UTF-8.", { at: "", cause });
  }
  return parseJson(text, { envelopeBytes: bodyBytes, jsonDepth: limits.jsonDepth });
}
