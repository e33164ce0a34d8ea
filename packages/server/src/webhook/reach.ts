/// <reference types="node" />
import { lookup as resolve } from "node:dns";
import type { LookupAddress, LookupOptions } from "node:dns";
import { request as plainRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as secureRequest } from "node:https";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { WaybillError } from "@waybill/protocol";
import { isInnerAddress } from "@waybill/protocol/wire";

export interface ReachOptions {
  /** Addresses of an inner network that are allowed, as `host` or `host:port`. */
  readonly innerInboxes: readonly string[];
  readonly answerBytes: number;
  readonly resolve?: typeof resolve;
  /** The required address: the one that has echoed the challenge, whatever its name resolves to now. */
  readonly pinned?: string | undefined;
  /** Whether a connection to this address is allowed; undefined if that was decided before. */
  readonly admits?: ((address: string) => WaybillError | undefined) | undefined;
}

export interface Posted {
  readonly text: string;
  /** Which address has answered. */
  readonly address: string | undefined;
}

export interface Post {
  readonly body: string;
  readonly authorization: string;
  readonly signal: AbortSignal;
}

/**
 * The URL of an inbox, or why nothing is sent there. The URL parser has normalised disguised addresses
 * (127.1, 0x7f000001, 2130706433).
 */
export function placeOf(inbox: string, innerInboxes: readonly string[]): URL {
  const url = new URL(inbox);
  if (url.username !== "" || url.password !== "") {
    throw new WaybillError(403, "An inbox URL must not contain a user name or a password.");
  }
  if (isNamed(url, innerInboxes)) return url;
  if (url.protocol !== "https:") {
    throw new WaybillError(
      403,
      `An inbox must have an https URL; ${url.protocol}// is not encrypted.`,
    );
  }
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  // Names that mean this machine whatever a resolver returns (RFC 6761).
  if (/(^|\.)localhost\.?$/.test(literal)) throw inner(url.hostname, "of this machine");
  if (isIP(literal) !== 0 && isInnerAddress(literal)) throw inner(url.hostname, literal);
  return url;
}

function isNamed({ hostname, host }: URL, innerInboxes: readonly string[]): boolean {
  return innerInboxes.includes(hostname) || innerInboxes.includes(host);
}

/** Posts to an inbox, and returns its answer. The address is checked at connect time. */
export async function post(
  inbox: string,
  { body, authorization, signal }: Post,
  options: ReachOptions,
): Promise<Posted> {
  const url = placeOf(inbox, options.innerInboxes);
  const headers = {
    authorization,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  const refusal = isIP(literal) === 0 ? undefined : options.admits?.(literal);
  if (refusal !== undefined) throw refusal;
  const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === "https:" ? secureRequest : plainRequest;
  const sent = open(url, {
    method: "POST",
    headers,
    signal,
    agent: false,
    lookup: lookupFor(url, options),
  });
  sent.once("response", answered);
  sent.once("error", reject);
  sent.end(body);
  try {
    const response = await promise;
    const address = response.socket.remoteAddress;
    return { text: await answerOf(response, options.answerBytes), address };
  } catch (error) {
    if (WaybillError.is(error)) throw error;
    const { message } = WaybillError.from(error);
    throw new WaybillError(503, `The inbox is unreachable: ${message}`, { cause: error });
  } finally {
    sent.destroy();
  }
}

function lookupFor(url: URL, options: ReachOptions): LookupFunction {
  const { innerInboxes, pinned, resolve: resolveName = resolve, admits } = options;
  if (pinned !== undefined) return always(pinned);
  const found = isNamed(url, innerInboxes) ? allOf(resolveName) : outerOnly(resolveName);
  return admits === undefined ? found : admitted(found, admits);
}

/** The most addresses of a name that are tried: as many as a dual-stack host has. */
const ADDRESSES_TRIED = 2;

function admitted(
  found: LookupFunction,
  admits: (address: string) => WaybillError | undefined,
): LookupFunction {
  return (hostname, options, callback) =>
    found(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      const tried = (addresses as LookupAddress[]).slice(0, ADDRESSES_TRIED);
      for (const { address } of tried) {
        const refusal = admits(address);
        if (refusal !== undefined) return callback(refusal, "", 0);
      }
      give(tried, options, callback);
    });
}

function always(address: string): LookupFunction {
  return (_hostname, options, callback) =>
    give([{ address, family: isIP(address) }], options, callback);
}

function allOf(resolveName: typeof resolve): LookupFunction {
  return (hostname, options, callback) =>
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "", 0);
      give(found, options, callback);
    });
}

type Heard = Parameters<LookupFunction>[2];

function give(addresses: readonly LookupAddress[], options: LookupOptions, callback: Heard): void {
  if (options.all === true) return callback(null, [...addresses]);
  const [{ address, family } = { address: "", family: 0 }] = addresses;
  return callback(null, address, family);
}

/** Resolves a name, and refuses it if any of its addresses is inner: a name may have both kinds. */
export function outerOnly(resolveName: typeof resolve = resolve): LookupFunction {
  return (hostname, options, callback) => {
    const wanted: LookupOptions = { ...options, all: true };
    resolveName(hostname, wanted, (error, found) => {
      const addresses = found as unknown as LookupAddress[];
      if (error !== null) return callback(error, "", 0);
      const bad = addresses.find(({ address }) => isInnerAddress(address));
      if (bad !== undefined) return callback(inner(hostname, bad.address), "", 0);
      give(addresses, options, callback);
    });
  };
}

async function answerOf(response: IncomingMessage, most: number): Promise<string> {
  const status = response.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    throw new WaybillError(403, `The inbox redirects (${status}), and redirects are not followed.`);
  }
  if (status < 200 || status > 299) {
    throw new WaybillError(503, `The inbox answers with ${status}.`);
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > most)
      throw new WaybillError(413, `The inbox answers with more than ${most} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function inner(name: string, address: string): WaybillError {
  return new WaybillError(
    403,
    `The inbox ${name} resolves to a private address, ${address}; the hub's operator can allow this host.`,
  );
}
