/// <reference types="node" />
import { fileURLToPath } from "node:url";
import { buildPage } from "./page.ts";

await buildPage(fileURLToPath(new URL("../dist/page", import.meta.url)));
