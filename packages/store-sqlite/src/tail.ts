import type { LedgerEntry, ManifestCard, Page, StoredManifest, TextPage } from "@waybill/hub/store";
import type { PlacedBlock } from "./entries.ts";
import { Blocks } from "./log/blocks.ts";
import type { ReadableLogFolder } from "./log/disk.ts";
import type { Frame } from "./log/frame.ts";
import { linesOf, parseLine } from "./log/line.ts";
import type { Place } from "./log/place.ts";
import { readTail } from "./log/recover.ts";
import type { Reader } from "./reader.ts";

/** Reads a store that another process owns: its index, and what is in the log and not indexed yet. */
export class TailReader {
  readonly #reader: Reader;
  readonly #folder: ReadableLogFolder;
  /** The last entry that the index had when this was opened. */
  readonly #indexed: number;
  #place: Place;
  readonly #blocks: PlacedBlock[] = [];
  readonly #manifests = new Map<string, StoredManifest[]>();
  readonly #newest = new Map<string, ManifestCard>();

  constructor(reader: Reader, folder: ReadableLogFolder) {
    this.#reader = reader;
    this.#folder = folder;
    this.#place = reader.place();
    this.#indexed = this.#place.head.sequence;
  }

  /** The end of what is in the log by now. */
  place(): Place {
    this.#place = readTail(this.#folder, this.#place, (frame, { segment }) =>
      this.#add(frame, segment),
    );
    return this.#place;
  }

  ledger({ after = 0, limit, characters = Infinity }: TextPage<number>): LedgerEntry[] {
    const end = Math.min(this.place().head.sequence, after + limit);
    const taken: LedgerEntry[] = [];
    for (let sequence = after + 1, sum = 0; sequence <= end && sum < characters; sequence++) {
      const entry = this.#entry(sequence);
      taken.push(entry);
      sum += entry.content.length;
    }
    return taken;
  }

  manifests(agent: string, page: TextPage<number>): StoredManifest[] {
    this.place();
    const { after = 0, limit, characters = Infinity } = page;
    const found = this.#reader.manifests(agent, page);
    let sum = found.reduce((total, { text }) => total + text.length, 0);
    for (const manifest of this.#manifests.get(agent) ?? []) {
      if (found.length >= limit || sum >= characters) break;
      if (manifest.sequence <= (found.at(-1)?.sequence ?? after)) continue;
      found.push(manifest);
      sum += manifest.text.length;
    }
    return found;
  }

  agents(page: Page<string>): ManifestCard[] {
    this.place();
    const { after = "", limit } = page;
    const cards = new Map(this.#reader.agents(page).map((card) => [card.agent, card]));
    for (const [agent, card] of this.#newest) if (agent > after) cards.set(agent, card);
    const sorted = [...cards.values()].toSorted((one, other) => (one.agent < other.agent ? -1 : 1));
    return sorted.slice(0, limit);
  }

  #entry(sequence: number): LedgerEntry {
    if (sequence <= this.#indexed) return this.#reader.entry(sequence);
    let [low, high] = [0, this.#blocks.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#blocks[middle]!.sequence <= sequence) low = middle;
      else high = middle - 1;
    }
    return this.#reader.entryIn(this.#blocks[low]!, sequence);
  }

  #add(frame: Frame, segment: number): void {
    const blocks = new Blocks(frame, (block) => this.#blocks.push({ ...block, segment }));
    for (const written of linesOf(frame.body)) {
      const line = parseLine(written.text);
      blocks.add(line, written);
      if (line.type === "manifest") {
        const { agent, sequence, digest, text: signed, at, facts } = line.manifest;
        const manifest = { agent, sequence, digest, text: signed, at, facts };
        this.#manifests.set(agent, [...(this.#manifests.get(agent) ?? []), manifest]);
        this.#newest.set(agent, { agent, sequence, digest, at, facts });
      } else if (line.type === "keys") this.#restate(line.keys.agent, line.keys.facts);
    }
    blocks.end();
  }

  /** An operator's change of keys changes the facts of the newest manifest. */
  #restate(agent: string, facts: string): void {
    const known = this.#newest.get(agent) ?? this.#reader.manifest(agent);
    if (known === undefined) return;
    const { sequence, digest, at } = known;
    this.#newest.set(agent, { agent, sequence, digest, at, facts });
    const last = this.#manifests.get(agent)?.pop();
    if (last !== undefined) this.#manifests.get(agent)!.push({ ...last, facts });
  }
}
