/// <reference types="node" />
import { fileURLToPath } from "node:url";

/** The folder of the page in the published package, which contains it built. */
export async function pageFolder(): Promise<string> {
  return fileURLToPath(new URL("page", import.meta.url));
}
