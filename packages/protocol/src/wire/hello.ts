import { WaybillError } from "../error.ts";
import { parseJson, stringifyJson } from "../json/json.ts";
import { isAgentId } from "../manifest/agent-id.ts";
import { signCompact } from "../signing/jws.ts";
import { isKid } from "../signing/key.ts";
import type { PrivateKey } from "../signing/key.ts";
import { formatTime, parseTime } from "../time.ts";

/** What an agent signs to attach: its id, the hub, its process, the time, and the challenge. */
export interface Hello {
  readonly from: string;
  readonly to: string;
  /** The custody domain of that hub. */
  readonly domain: string;
  readonly instance: string;
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The hub's challenge, if the hub is remote. */
  readonly nonce?: string | undefined;
}

/** Signs the hello with which an agent attaches to a hub. */
export function signHello({ at, ...hello }: Hello, key: PrivateKey): string {
  const { from, to, domain, instance, id, nonce } = hello;
  const members = { from, to, domain, instance, id, at: formatTime(at), nonce };
  return signCompact(stringifyJson({ waybill: 1, kind: "hello", ...members }), key);
}

/** Reads the hello in a payload. Its signature is checked elsewhere. */
export function readHello(payload: string): Hello {
  const value = parseJson(payload) as Record<string, unknown> | null;
  const { waybill, kind, from, to, domain, instance, id, at, nonce } = value ?? {};
  const time = typeof at === "string" ? parseTime(at) : undefined;
  if (waybill !== 1 || kind !== "hello" || !isAgentId(from) || time === undefined) {
    throw new WaybillError(
      400,
      'This is not a hello: its payload must have "waybill": 1, "kind": "hello", from, to, domain, instance, id and at.',
    );
  }
  if (typeof to !== "string" || typeof instance !== "string" || typeof id !== "string") {
    throw new WaybillError(
      400,
      "A hello must name the hub (to), the process (instance) and its id.",
    );
  }
  if (!isKid(domain)) {
    throw new WaybillError(400, "A hello must name the custody domain of the hub (domain).", {
      at: "/domain",
    });
  }
  const hello = { from, to, domain, instance, id, at: time };
  if (nonce === undefined) return hello;
  if (typeof nonce !== "string") {
    throw new WaybillError(400, "The nonce of a hello must be the string that the hub sent.", {
      at: "/nonce",
    });
  }
  return { ...hello, nonce };
}

/** What the hub knows when it checks a hello. */
export interface HelloFacts {
  readonly to: string;
  readonly domain: string;
  readonly now: number;
  readonly clockSkewMs: number;
  /** Its challenge; undefined in the same process. */
  readonly nonce?: string | undefined;
}

/** Checks that a hello is for this hub, current, and an answer to its challenge. */
export function checkHello(
  hello: Hello,
  { to, domain, now, clockSkewMs, nonce }: HelloFacts,
): void {
  if (hello.to !== to) {
    throw new WaybillError(401, `The hello is for ${hello.to}, but this is ${to}.`, { at: "/to" });
  }
  if (hello.domain !== domain) {
    throw new WaybillError(
      401,
      `The hello is for the custody domain ${hello.domain}, but ${to} belongs to ${domain}.`,
      { at: "/domain" },
    );
  }
  if (Math.abs(now - hello.at) > clockSkewMs) {
    throw new WaybillError(401, "The time of the hello is off; check the agent's clock.", {
      at: "/at",
    });
  }
  if (nonce === undefined || hello.nonce === nonce) return;
  throw new WaybillError(
    401,
    "The hello does not have the nonce of this socket's challenge; sign a new hello for each socket.",
    { at: "/nonce" },
  );
}
