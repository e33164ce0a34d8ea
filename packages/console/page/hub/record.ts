import type { WireEntry, WireHandoffView, WireWellKnown } from "@waybill/protocol/wire";
import { checkEntry, signedDiscardIn, Trust } from "../trust/check.ts";
import type { CheckedEntry } from "../trust/check.ts";
import { contractsOf } from "./breaches.ts";
import type { BoundAttempt } from "./breaches.ts";
import { payloadOf } from "./handoffs.ts";
import { get } from "./hub.ts";

/** Everything on record about one handoff, checked in this browser. */
export interface HandoffRecord {
  readonly hub: string;
  readonly view: WireHandoffView;
  readonly entries: readonly CheckedEntry[];
  /** What was agreed in each accepted attempt, and whether it was kept. */
  readonly contracts: readonly BoundAttempt[];
  /** Why manifests do not hold, by agent. */
  readonly problems: ReadonlyMap<string, string>;
}

const PAGE = 200;
/** Signatures that are checked before the page is drawn again. */
const AT_ONCE = 8;

/** Reads and checks a handoff; later calls read only what is new. */
export class RecordReader {
  readonly #id: string;
  #trust: Trust | undefined;
  #entries: CheckedEntry[] = [];

  /** `trust` has the keys of agents that others have read; without it they are read anew. */
  constructor(id: string, trust?: Trust) {
    this.#id = id;
    this.#trust = trust;
  }

  async read(signal: AbortSignal): Promise<HandoffRecord> {
    if (this.#trust === undefined) {
      const { hub } = await get<WireWellKnown>("/.well-known/waybill", signal);
      this.#trust = new Trust(hub);
    }
    const path = `/v1/handoffs/${encodeURIComponent(this.#id)}`;
    const view = await get<WireHandoffView>(path, signal);
    for (let isMore = true; isMore;) {
      const after = this.#entries.at(-1)?.entry.sequence ?? 0;
      const found = await get<{ entries: WireEntry[]; next?: number }>(
        `${path}/history?after=${after}&limit=${PAGE}`,
        signal,
      );
      const checked = await this.#checked(found.entries);
      signal.throwIfAborted();
      this.#entries = [...this.#entries, ...checked];
      isMore = found.next !== undefined && found.entries.length > 0;
    }
    const entries = this.#entries;
    const contracts = await contractsOf(view, entries, this.#trust);
    const { hub, problems } = this.#trust;
    return { hub, view, entries, contracts, problems };
  }

  async #checked(entries: readonly WireEntry[]): Promise<CheckedEntry[]> {
    const trust = this.#trust!;
    const read = entries.map((entry) => ({ entry, envelope: envelopeOf(entry) }));
    const agents = read.flatMap((each) => signerOf(each) ?? []);
    let keys = await trust.keysOf(agents);
    const checked: CheckedEntry[] = [];
    for (const { entry, envelope } of read) {
      const signer = signerOf({ entry, envelope });
      let found = checkEntry(entry, this.#id, keys, envelope);
      if (found.verdict.type === "broken" && signer !== undefined) {
        // The agent may have a new key since its manifests were read.
        trust.forget(signer);
        keys = await trust.keysOf(agents);
        found = checkEntry(entry, this.#id, keys, envelope);
      }
      checked.push(found);
      if (checked.length % AT_ONCE === 0) await new Promise((resolve) => setTimeout(resolve));
    }
    return checked;
  }
}

function signerOf({ entry, envelope }: Pick<CheckedEntry, "entry" | "envelope">) {
  return envelope?.from ?? signedDiscardIn(entry)?.signed.by;
}

function envelopeOf({ type, content }: WireEntry) {
  if (type !== "envelope") return undefined;
  try {
    return payloadOf(content);
  } catch {
    return undefined;
  }
}
