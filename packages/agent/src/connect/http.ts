/// <reference types="node" />
import { request as plainRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as secureRequest } from "node:https";
import { parseJson, WaybillError } from "@waybill/protocol";
import { errorOfResponse } from "@waybill/protocol/wire";
import type { Address } from "./address.ts";
import { unreachable } from "./unreachable.ts";

/** The largest answer: all manifests of one agent. */
const ANSWER_BYTES = 16 * 1024 * 1024;

export interface Request {
  readonly method?: "GET" | "POST" | "PUT";
  readonly body?: object;
  readonly signal: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request to a hub, and its JSON answer. These requests are public and not signed. */
export async function request(address: Address, path: string, options: Request): Promise<unknown> {
  let answer: Answer;
  try {
    answer = await send(address, path, options);
  } catch (error) {
    if (WaybillError.is(error)) throw error;
    throw unreachable(address.socketPath === undefined ? originOf(address) : address.url, error);
  }
  const { status, text } = answer;
  if (status >= 300 && status <= 399) {
    throw new WaybillError(
      404,
      `${address.url}${path} redirects to another address: connect to that address if it belongs to the hub.`,
    );
  }
  if (status < 200 || status > 299) throw errorOfResponse(status, text);
  return text === "" ? undefined : parseJson(text, { envelopeBytes: ANSWER_BYTES });
}

/**
 * One connection for each request, because there are few. A kept-alive connection may have been
 * dropped silently, and would lose the next request.
 */
async function send(
  address: Address,
  path: string,
  { method = "GET", body, signal }: Request,
): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers =
    text === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  const url = address.path(path);
  const { socketPath } = address;
  const open = url.startsWith("https:") ? secureRequest : plainRequest;
  const sent: ClientRequest = open(url, { method, headers, signal, agent: false, socketPath });
  sent.once("response", resolve);
  sent.once("error", reject);
  sent.end(text);
  const response = await promise;
  return { status: response.statusCode ?? 0, text: await textOf(response) };
}

function originOf({ url }: Address): string {
  return new URL(url).origin;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES) {
      throw new WaybillError(413, `The hub answers with more than ${ANSWER_BYTES} bytes.`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
