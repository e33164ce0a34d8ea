/// <reference types="node" />
import { readFileSync } from "node:fs";

/** As its package.json says, which lies beside `src` and beside `dist`. */
export function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
