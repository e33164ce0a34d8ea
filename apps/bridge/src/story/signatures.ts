import type { LedgerEntry } from "@waybill/hub";
import {
  keyring,
  parseJson,
  parseManifest,
  readCompact,
  verifyEnvelope,
  verifyManifest,
} from "@waybill/protocol";
import type { Keyring, VerifiedManifest } from "@waybill/protocol";

/** Checks the signatures in a ledger, with the keys of the manifests before them. */
export class Signatures {
  readonly #manifests = new Map<string, VerifiedManifest>();
  readonly #all: VerifiedManifest[] = [];
  #keys: Keyring = keyring([]);
  #checked = 0;

  /** How many were valid. */
  get checked(): number {
    return this.#checked;
  }

  get keyOf(): Keyring["keyOf"] {
    return this.#keys.keyOf;
  }

  /** Throws if an entry is not signed by its named author. */
  check({ type, content, at }: LedgerEntry): void {
    if (type === "decision") return;
    if (type === "envelope") verifyEnvelope(content, { keyOf: this.#keys.keyOf, at });
    else this.#takeManifest(content, at);
    this.#checked++;
  }

  #takeManifest(text: string, at: number): void {
    const { agent_id: agent } = parseManifest(parseJson(readCompact(text).payload));
    const verified = verifyManifest(text, { at, previous: this.#manifests.get(agent) });
    this.#manifests.set(agent, verified);
    this.#all.push(verified);
    this.#keys = keyring(this.#all);
  }
}
