/// <reference types="node" />
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGES = fileURLToPath(new URL("../../../packages/", import.meta.url));

export function folderOf(name: string): string {
  return join(PACKAGES, name);
}
