import { AGENT } from "./agent.ts";
import { HUB } from "./hub.ts";
import type { Mutant } from "./mutant.ts";
import { SERVER } from "./server.ts";
import { STORE_SQLITE } from "./store-sqlite.ts";

/** The faults of each package, by its folder in `packages`. */
export const TABLES: Readonly<Record<string, readonly Mutant[]>> = {
  agent: AGENT,
  hub: HUB,
  server: SERVER,
  "store-sqlite": STORE_SQLITE,
};
