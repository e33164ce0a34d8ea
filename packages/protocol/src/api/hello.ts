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

/** What the hub that a hello came to knows about it. */
export interface HelloFacts {
  readonly to: string;
  readonly now: number;
  readonly clockSkewMs: number;
  /** What it was asked with; left out where there is no wire between the two. */
  readonly nonce?: string | undefined;
}

/** Whether a hello is for this hub, from now, and an answer to its challenge. */
export function checkHello(hello: Hello, { to, now, clockSkewMs, nonce }: HelloFacts): void {
  if (hello.to !== to) {
    throw new WaybillError(401, `The hello is for ${hello.to}, and this is ${to}.`, { at: "/to" });
  }
  if (Math.abs(now - hello.at) > clockSkewMs) {
    throw new WaybillError(401, "The hello is not from now; check the agent's clock.", {
      at: "/at",
    });
  }
  if (nonce === undefined || hello.nonce === nonce) return;
  throw new WaybillError(
    401,
    "The hello does not carry the nonce of this socket's challenge; sign one for each socket.",
    { at: "/nonce" },
  );
}
