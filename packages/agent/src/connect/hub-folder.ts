/// <reference types="node" />
import { lstatSync } from "node:fs";
import type { Stats } from "node:fs";
import { join } from "node:path";
import { WaybillError } from "@waybill/protocol";
import { operatorTokenDomain } from "@waybill/protocol/wire";
import { isForeign, readOwn } from "./own-file.ts";

/** A hub on this machine, found by its data folder. */
export interface FoundHub {
  readonly url: string;
  /** The custody domain of the folder. Another hub may listen at the URL by now. */
  readonly hubKey: string | undefined;
}

/**
 * The hub of a data folder: on its Unix socket if it has one, and otherwise at its URL. Throws a 503
 * while there is none.
 */
export function hubOfFolder(folder: string): FoundHub {
  const token = readOwn(join(folder, "operator.token"));
  const hubKey = "text" in token ? operatorTokenDomain(token.text.trim()) : undefined;
  const socket = join(folder, "hub.sock");
  const stats = statsOf(socket);
  if (stats !== undefined) {
    if (stats.isSocket() && !isForeign(stats.uid)) return { url: `unix:${socket}`, hubKey };
    throw new WaybillError(
      403,
      `${socket} is not a socket of this user, and is not used. Remove it, or name the hub by its URL.`,
    );
  }
  const file = readOwn(join(folder, "hub.url"));
  if ("text" in file) return { url: file.text.trim(), hubKey };
  throw new WaybillError(
    503,
    `No hub runs in the data folder ${folder} (no address: hub.url, ${file.why}). Start one with "waybill dev" beside the folder, or name a hub by its address.`,
  );
}

/** Undefined also if this user may not look into the folder; then its other files say so. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
