import type { Row } from "./case.ts";
import type { Members } from "./envelope.ts";
import { digestOfJws, editor, hub, keyringOf, NOW, researcher } from "./parties.ts";
import type { KeyringEntry, Party } from "./parties.ts";
import { expand } from "./text.ts";
import type { Text } from "./text.ts";
import { signed } from "./wire.ts";

export const KEYRING: Record<string, KeyringEntry> = keyringOf(editor, researcher, hub);
/** When the envelope arrives: after all of the usual ones were issued. */
export const AT: number = NOW + 2000;

export interface Reading {
  readonly at?: number;
  readonly to?: string;
  readonly domain?: string;
  readonly keyring?: Record<string, KeyringEntry>;
}

function inputOf(compact: Text, { at = AT, keyring = KEYRING, ...reader }: Reading = {}): object {
  const { to, domain } = reader;
  return { compact, keyring, at, ...(to && { to }), ...(domain && { domain }) };
}

/** A case of a valid envelope; `payload` contains its expected members. */
export function reads(
  rules: readonly number[],
  title: string,
  compact: Text,
  payload: unknown,
  reading: Reading = {},
): Row {
  const expect = { status: "ok", digest: digestOfJws(expand(compact)), payload };
  return { rules, title, input: inputOf(compact, reading), expect };
}

export function readsEnvelope(
  rules: readonly number[],
  title: string,
  envelope: Members,
  signer: Party,
  reading: Reading = {},
): Row {
  return reads(rules, title, signed(envelope, signer), envelope, reading);
}

export function refuses(
  rules: readonly number[],
  title: string,
  status: number,
  compact: Text,
  reading: Reading & { place?: string } = {},
): Row {
  const { place } = reading;
  const expect = { status, ...(place !== undefined && { at: place }) };
  return { rules, title, input: inputOf(compact, reading), expect };
}

/** A valid signature over an envelope that breaks a rule. */
export function refusesEnvelope(
  rules: readonly number[],
  title: string,
  status: number,
  envelope: Members,
  signer: Party,
  reading: Reading & { place?: string } = {},
): Row {
  return refuses(rules, title, status, signed(envelope, signer), reading);
}
