import { signal } from "@preact/signals";
import { digestOf, newId } from "@waybill/protocol";
import { signOperatorRequest, toBase64url } from "@waybill/protocol/wire";
import type { ConsoleRole, WireConsoleSession, WireWellKnown } from "@waybill/protocol/wire";
import { forget, keep, kept } from "./kept.ts";

/** Somebody who is signed in. In a secure context the key can be used and not be read. */
export interface Session {
  readonly session: string;
  readonly key: CryptoKey | string;
  readonly domain: string;
  /** The hub's own id. */
  readonly hub: string;
  readonly host: string;
  readonly role: ConsoleRole;
  readonly expiresAt: number;
}

/** `undefined` until it is known whether somebody is signed in. */
export const session = signal<Session | null | undefined>(undefined);
/** Why there is no session, if there should be one. */
export const signInProblem = signal<string>("");

const SCHEME = "Waybill-Console";
const SIGN_IN = "#/in/";
const CURRENT = "current";

/** Takes the code out of the address before anything else happens. */
export async function restoreSession(): Promise<void> {
  const { hash, pathname } = location;
  if (hash.startsWith(SIGN_IN)) {
    history.replaceState(null, "", `${pathname}#/`);
    try {
      const opened = await openSession(hash.slice(SIGN_IN.length));
      // Before anything is shown: a link signs in once, and the page may be reloaded at once. A key
      // that scripts can read is not kept.
      if (typeof opened.key !== "string") await keep(CURRENT, opened);
      session.value = opened;
      return;
    } catch (error) {
      signInProblem.value = (error as Error).message;
    }
  }
  const known = await kept<Session>(CURRENT);
  session.value = known !== undefined && known.expiresAt > Date.now() ? known : null;
}

/** Forgets the session in this browser. */
export async function signOut(why = ""): Promise<void> {
  session.value = null;
  signInProblem.value = why;
  await forgetSession();
}

/** After a reload this browser is signed out. */
export async function forgetSession(): Promise<void> {
  await forget(CURRENT);
}

async function openSession(code: string): Promise<Session> {
  const hub = await ask<WireWellKnown>("/.well-known/waybill");
  const { host } = await ask<{ host: string | null }>("/v1/console/host");
  const opened = await ask<WireConsoleSession>("/v1/console/sessions", { code });
  const token = `${hub.domain}.${opened.key}`;
  return {
    session: opened.session,
    key: await keyOf(token),
    domain: hub.domain,
    hub: hub.hub,
    host: host ?? location.host,
    role: opened.role,
    expiresAt: Date.parse(opened.expires_at),
  };
}

async function ask<Answer>(path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(path, {
    ...(body !== undefined && {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
    redirect: "error",
  });
  const answer = (await response.json()) as Answer & { readonly detail?: string };
  if (response.ok) return answer;
  throw new Error(answer.detail ?? `The hub answered ${response.status}.`);
}

const HMAC = { name: "HMAC", hash: "SHA-256" } as const;
const MESSAGE = "waybill operator 1\n";

/** Over plain HTTP from elsewhere browsers have no such keys; the hub lets these sessions only read. */
async function keyOf(token: string): Promise<CryptoKey | string> {
  if (!isSecureContext) return token;
  return crypto.subtle.importKey("raw", new TextEncoder().encode(token), HMAC, false, ["sign"]);
}

/** The Authorization header of one request. */
export async function proofOf(
  { session: text, key, domain, host }: Session,
  method: string,
  path: string,
  body: string | undefined,
): Promise<string> {
  const bodyDigest = body === undefined ? undefined : digestOf(body);
  if (typeof key === "string") {
    const claim = { host, id: newId(), at: Date.now(), method, path, bodyDigest };
    const [, proof] = signOperatorRequest(claim, key).split(" ");
    return `${SCHEME} ${text}.${proof}`;
  }
  const payload = encoded({
    waybill: 1,
    kind: "operator_request",
    domain,
    host,
    id: newId(),
    at: new Date().toISOString(),
    method,
    path,
    body_digest: bodyDigest,
  });
  const message = new TextEncoder().encode(MESSAGE + payload);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
  return `${SCHEME} ${text}.${payload}.${toBase64url(mac)}`;
}

function encoded(value: unknown): string {
  return toBase64url(new TextEncoder().encode(JSON.stringify(value)));
}
