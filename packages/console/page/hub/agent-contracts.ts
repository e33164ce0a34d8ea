import type { Breach } from "@waybill/protocol/audit";
import type { WireWellKnown } from "@waybill/protocol/wire";
import { Trust } from "../trust/check.ts";
import { rows } from "./feed.ts";
import { isEnded, isFor } from "./handoffs.ts";
import { get } from "./hub.ts";
import { RecordReader } from "./record.ts";

/** What the record says about an agent's contracts, as far as it was read. */
export interface AgentContracts {
  /** Handoffs whose records were read, of so many that are to be read. */
  readonly read: number;
  readonly of: number;
  /** Attempts whose contract the agent has kept. */
  readonly kept: number;
  /** Attempts whose contract it has broken. */
  readonly broken: readonly BrokenContract[];
  /** Handoffs with signatures that do not hold: they prove nothing. */
  readonly unsound: readonly string[];
}

/** One attempt in which an agent broke its contract. */
export interface BrokenContract {
  readonly handoff: string;
  readonly attempt: number;
  readonly breaches: readonly Breach[];
}

/** How many of the newest handoffs are read: each costs a few requests and a dozen signatures. */
const HANDOFFS_AT_MOST = 50;
const AT_ONCE = 4;

/** The newest ended handoffs that an agent was offered, of those that this page knows. */
export function handoffsOf(agent: string): readonly string[] {
  const found = rows.all().filter((row) => isFor(row, agent) && isEnded(row));
  return found.slice(-HANDOFFS_AT_MOST).map(({ id }) => id);
}

/** Reads and checks the records of these handoffs, and counts the contracts of an agent. */
export async function contractsOfAgent(
  agent: string,
  ids: readonly string[],
  stop: AbortSignal,
  progressed: (contracts: AgentContracts) => void,
): Promise<void> {
  const { hub } = await get<WireWellKnown>("/.well-known/waybill", stop);
  const trust = new Trust(hub);
  const waiting = ids.values();
  const count = { read: 0, of: ids.length, kept: 0 };
  const broken: BrokenContract[] = [];
  const unsound: string[] = [];
  const tell = () => progressed({ ...count, broken: [...broken], unsound: [...unsound] });
  tell();
  const work = async () => {
    for (const id of waiting) {
      const { contracts, entries } = await new RecordReader(id, trust).read(stop);
      const isSound = entries.every(({ verdict }) => verdict.type !== "broken");
      if (!isSound) unsound.push(id);
      for (const { attempt, recipient, breaches } of isSound ? contracts : []) {
        if (recipient !== agent) continue;
        const own = breaches.filter(({ by }) => by === agent);
        if (own.length === 0) count.kept++;
        else broken.push({ handoff: id, attempt, breaches: own });
      }
      count.read++;
      tell();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
