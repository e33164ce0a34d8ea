/// <reference types="node" />
import { createHash } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { loadKey } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { makeFolder } from "../files/folder.ts";
import type { Settings } from "../settings/settings.ts";

/** The identity under which this process hands off. */
export interface Seat {
  readonly agent: string;
  readonly key: PrivateKey;
  leave(): void;
}

const SEATS_MAX = 64;
/** Undefined on Windows. */
const NO_LINK = constants.O_NOFOLLOW ?? 0;

/**
 * An agent is attached once, and two commands may run at the same time. The second one hands off as
 * terminal-…, with a key of its own, because nobody may enrol as operator-2. An explicitly named
 * agent or key is used exactly, and so is the operator if `isExact`, because only that name may
 * replay handoffs of others.
 */
export async function takeSeat({ values, origins }: Settings, isExact = false): Promise<Seat> {
  const { agent, key } = values;
  const folder = dirname(key);
  makeFolder(folder);
  if (origins.agent.source !== "default" || origins.key.source !== "default") {
    return { agent, key: await loadKey(key), leave: () => undefined };
  }
  const seats = isExact ? 1 : SEATS_MAX;
  for (let number = 1; number <= seats; number++) {
    const file = number === 1 ? agent : `${agent}-${number}`;
    const leave = lock(join(folder, `${file}.seat`));
    if (leave === undefined) continue;
    const own = await loadKey(join(folder, `${file}.key`));
    return { agent: number === 1 ? agent : `terminal-${hexOf(own)}`, key: own, leave };
  }
  throw new WaybillError(
    503,
    `Another command is handing off as ${agent} from ${folder}, and an agent can be connected only once. Try again when that command has ended, or use another agent with --agent and --key.`,
  );
}

const NAME_HEX = 8;

/** A suffix that is unique on any hub. */
function hexOf({ kid }: PrivateKey): string {
  return createHash("sha256").update(kid).digest("hex").slice(0, NAME_HEX);
}

/** The operating system releases the lock when the process ends, however it ends. */
function lock(path: string): (() => void) | undefined {
  // Created here, private to its owner and through no link, before SQLite would create it.
  closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | NO_LINK, 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === 5) return undefined;
    throw error;
  }
}
