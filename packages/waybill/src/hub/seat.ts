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

/** Who hands off from this process. */
export interface Seat {
  readonly agent: string;
  readonly key: PrivateKey;
  leave(): void;
}

const SEATS_MAX = 64;
/** Not there on Windows. */
const NO_LINK = constants.O_NOFOLLOW ?? 0;

/**
 * An agent is attached once, and two commands may run at a time: the second one hands off as
 * terminal-…, with a key of its own, because nobody enrols as operator-2. An agent or key that was named is exactly that one; and so is
 * the operator where `isExact`, because only that name may replay what others have handed off.
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

/** One of a kind at whatever hub. */
function hexOf({ kid }: PrivateKey): string {
  return createHash("sha256").update(kid).digest("hex").slice(0, NAME_HEX);
}

/** The system holds the lock as long as the process lives, however it ends. */
function lock(path: string): (() => void) | undefined {
  // Made here, for its owner alone and through no link, before SQLite makes it.
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
