import { WaybillError } from "@waybill/protocol";
import type { Clock } from "@waybill/protocol/wire";
import type { Commit, Store } from "../store.ts";

const SETTING = "readiness probe";
const PROBE_AGAIN_AFTER_MS = 1_000;
const CHARACTERS_AT_LEAST = 64 * 1024;
const CHARACTERS_AT_MOST = 2 * 1024 * 1024;

/**
 * Whether a commit would succeed. After a success nothing is written to find out. After a failure
 * only a probe of the same size shows that there is room again: a smaller commit may fit into the
 * rest of a full disk.
 */
export class StoreHealth {
  readonly #store: Pick<Store, "saveSetting">;
  readonly #clock: Clock;
  #failure: { readonly cause: unknown } | undefined;
  #characters = 0;
  #probedAt = -Infinity;
  #probing: Promise<void> | undefined;

  constructor(store: Pick<Store, "saveSetting">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** A commit has failed. */
  failed(cause: unknown, commit?: Commit): void {
    this.#failure = { cause };
    this.#characters = Math.max(this.#characters, commit === undefined ? 0 : charactersOf(commit));
  }

  /** Rejects with 503 if the last commit failed, and no probe has succeeded since. */
  async check(): Promise<void> {
    if (this.#failure === undefined) return;
    const now = this.#clock.now();
    if (this.#probing === undefined && now - this.#probedAt >= PROBE_AGAIN_AFTER_MS) {
      this.#probedAt = now;
      this.#probing = this.#probe().finally(() => (this.#probing = undefined));
    }
    await this.#probing;
    if (this.#failure === undefined) return;
    throw new WaybillError(503, "The store accepts no commits, because the last one failed.", {
      cause: this.#failure.cause,
      retryAfterMs: PROBE_AGAIN_AFTER_MS,
    });
  }

  async #probe(): Promise<void> {
    const failure = this.#failure;
    const wanted = Math.max(CHARACTERS_AT_LEAST, this.#characters);
    try {
      await this.#store.saveSetting(SETTING, " ".repeat(Math.min(wanted, CHARACTERS_AT_MOST)));
      await this.#store.saveSetting(SETTING, "");
    } catch (cause) {
      this.#failure = { cause };
      return;
    }
    // A failure during the probe is newer than it.
    if (this.#failure !== failure) return;
    this.#failure = undefined;
    this.#characters = 0;
  }
}

function charactersOf({ handoff, manifest, entries }: Commit): number {
  const texts = [handoff?.record, manifest?.text, ...entries.map(({ content }) => content)];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}
