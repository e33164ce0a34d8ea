/// <reference types="node" />
import { createHash, timingSafeEqual } from "node:crypto";
import type { Store } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { newOperatorToken, operatorTokenDomain } from "@waybill/protocol/wire";

const SETTING = "operator token";
const REMOVED = "";

/**
 * The token of the operators of a custody domain's hubs. A given one is not stored, so that no copy of
 * the store contains it; otherwise it is made at the first start over a store, and kept. One of
 * another domain, or of an older form, is replaced.
 */
export async function operatorTokenOf(
  store: Pick<Store, "setting" | "saveSetting">,
  domain: string,
  given?: string,
): Promise<string> {
  const saved = await store.setting(SETTING);
  if (given !== undefined) {
    checkToken(given, domain);
    if (saved !== undefined && saved !== REMOVED) await store.saveSetting(SETTING, REMOVED);
    return given;
  }
  if (saved !== undefined && operatorTokenDomain(saved) === domain) return saved;
  const token = newOperatorToken(domain);
  await store.saveSetting(SETTING, token);
  return token;
}

function checkToken(token: string, domain: string): void {
  if (operatorTokenDomain(token) === domain) return;
  throw new WaybillError(
    400,
    `The operator token does not belong to the custody domain ${domain}. Create one with newOperatorToken, from @waybill/protocol/wire.`,
  );
}

/** Compares in constant time. */
export function isSameToken(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
