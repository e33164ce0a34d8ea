import { WaybillError } from "../error.ts";
import { parseJson, stringifyJson } from "../json/json.ts";
import { isAgentId } from "../manifest/agent-id.ts";
import { signCompact } from "../signing/jws.ts";
import type { PrivateKey } from "../signing/key.ts";
import { formatTime, parseTime } from "../time.ts";

/** What an agent signs to attach: who it is, to which hub, which process, when, and where it was asked. */
export interface Hello {
  readonly from: string;
  readonly to: string;
  readonly instance: string;
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** What the hub asked with, where there is a wire between the two. */
  readonly nonce?: string | undefined;
}

export function signHello({ from, to, instance, id, at, nonce }: Hello, key: PrivateKey): string {
  const hello = { waybill: 1, kind: "hello", from, to, instance, id, at: formatTime(at), nonce };
  return signCompact(stringifyJson(hello), key);
}

/** The hello in a payload. Who signed it is another question. */
export function readHello(payload: string): Hello {
  const value = parseJson(payload) as Record<string, unknown> | null;
  const { waybill, kind, from, to, instance, id, at, nonce } = value ?? {};
  const time = typeof at === "string" ? parseTime(at) : undefined;
  if (waybill !== 1 || kind !== "hello" || !isAgentId(from) || time === undefined) {
    throw new WaybillError(
      400,
      'This is no hello: its payload must have "waybill": 1, "kind": "hello", from, to, instance, id and at.',
    );
  }
  if (typeof to !== "string" || typeof instance !== "string" || typeof id !== "string") {
    throw new WaybillError(400, "A hello names the hub (to), the process (instance) and its id.");
  }
  if (nonce === undefined) return { from, to, instance, id, at: time };
  if (typeof nonce !== "string") {
    throw new WaybillError(400, "The nonce of a hello is a string: the one that the hub sent.", {
      at: "/nonce",
    });
  }
  return { from, to, instance, id, at: time, nonce };
}
