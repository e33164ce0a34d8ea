/// <reference types="node" />
import { request } from "node:http";
import { connect } from "node:net";
import { signCompact, thumbprint } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";

const L = 2n ** 252n + 27742317777372353535851937790883648493n;

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

export interface RawAsk {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly isChunked?: boolean;
}

/** A request with headers that `fetch` would not send. */
export function rawAsk(url: string, ask: RawAsk = {}): Promise<RawAnswer> {
  const { method = "GET", path = "/healthz", headers = {}, body, isChunked = false } = ask;
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const length =
      body === undefined || isChunked ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = request(
      { hostname, port, method, path, headers: { ...length, ...headers }, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode!, text }));
      },
    );
    sent.on("error", reject);
    if (body !== undefined) sent.write(body);
    sent.end();
  });
}

/** Sends raw bytes; returns everything that arrives until the other side closes. */
export function rawBytes(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.setEncoding("utf8");
    socket.on("data", (part: string) => (answer += part));
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
    socket.write(text);
  });
}

export function base64url(content: string | Uint8Array): string {
  return Buffer.from(content).toString("base64url");
}

export function partsOf(compact: string): [header: string, payload: string, signature: string] {
  return compact.split(".") as [string, string, string];
}

export function payloadOf(compact: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(partsOf(compact)[1], "base64url").toString()) as Record<
    string,
    unknown
  >;
}

/** Signs a payload that no honest party would write. */
export function sealed(payload: object | string, key: PrivateKey): string {
  return signCompact(typeof payload === "string" ? payload : JSON.stringify(payload), key);
}

/** The malleated signature: S + L equals S for a verifier that does not check. */
export function withLargeS(compact: string): string {
  const [header, payload, signature] = partsOf(compact);
  const bytes = Buffer.from(signature, "base64url");
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString("hex")}`) + L;
  const hex = s.toString(16).padStart(64, "0");
  bytes.set(Buffer.from(hex, "hex").reverse(), 32);
  return `${header}.${payload}.${base64url(bytes)}`;
}

export function withR(compact: string, hex: string): string {
  const [header, payload, signature] = partsOf(compact);
  const bytes = Buffer.from(signature, "base64url");
  bytes.set(Buffer.from(hex, "hex"), 0);
  return `${header}.${payload}.${base64url(bytes)}`;
}

/** A message with any header; the signature is valid for it. */
export function withHeader(header: string, payload: object, key: PrivateKey): string {
  const input = `${base64url(header)}.${base64url(JSON.stringify(payload))}`;
  return `${input}.${base64url(key.sign(Buffer.from(input)))}`;
}

/** A manifest that claims a key which nobody should hold. */
export function manifestWithKey(agent: string, hex: string): string {
  const jwk = { kty: "OKP", crv: "Ed25519", x: base64url(Buffer.from(hex, "hex")) };
  const kid = thumbprint(Buffer.from(hex, "hex"));
  const header = `{"alg":"Ed25519","kid":"${kid}","typ":"waybill+jws"}`;
  const payload = { waybill: 1, kind: "manifest", agent_id: agent, capabilities: [], keys: [jwk] };
  const signature = Buffer.alloc(64);
  signature.set(Buffer.from(hex, "hex"), 0);
  return `${base64url(header)}.${base64url(JSON.stringify(payload))}.${base64url(signature)}`;
}

/** The identity, the other points of small order, and spellings that are not canonical. */
export const WEAK_KEYS: readonly string[] = [
  `01${"00".repeat(31)}`,
  "00".repeat(32),
  `${"00".repeat(31)}80`,
  `ec${"ff".repeat(30)}7f`,
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  // y = p, and y = p + 1
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`,
];
