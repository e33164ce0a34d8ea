import { WaybillError } from "../error.ts";
import type { VerifiedManifest } from "../manifest/manifest.ts";
import { digestOf } from "../signing/digest.ts";

const HEX_START = "sha256:".length;
const HEX_DIGITS = 12;

/** The default id of a hub of this custody domain. */
export function hubIdOf(domain: string): string {
  return `hub-${digestOf(domain).slice(HEX_START, HEX_START + HEX_DIGITS)}`;
}

/** Whether a hub's manifests, by sequence, begin with the key that identifies its custody domain. */
export function checkDomain(domain: string, manifests: readonly VerifiedManifest[]): void {
  const [first] = manifests;
  if (first?.kid === domain && first.manifest.sequence === 1) return;
  throw new WaybillError(
    401,
    first?.manifest.sequence === 1
      ? `The hub claims that its custody domain is ${domain}, but the key that signed its first manifest is ${first.kid}.`
      : `The hub claims that its custody domain is ${domain}, but does not show the first manifest that would prove it.`,
    { at: "/domain" },
  );
}
