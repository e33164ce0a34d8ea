/// <reference types="node" />
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Store } from "../../store.ts";

const SETTING = "operator token";
const BYTES = 32;

/** The token that operators' calls carry: made at the first start over a store, and the same ever after. */
export async function operatorTokenOf(
  store: Pick<Store, "setting" | "saveSetting">,
): Promise<string> {
  const saved = await store.setting(SETTING);
  if (saved !== undefined) return saved;
  const token = randomBytes(BYTES).toString("base64url");
  await store.saveSetting(SETTING, token);
  return token;
}

/** Compares in a time that tells nothing about where the two differ. */
export function isSameToken(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
