/// <reference types="node" />
// Draws the picture of the project's README: the output of a run of the demo, as it came.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pictureOf } from "./telling/picture.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const output = execFileSync(process.execPath, [here("demo.ts")], {
  encoding: "utf8",
  env: { ...process.env, FORCE_COLOR: "1" },
});
// What comes after the proof is about files that only this machine has.
writeFileSync(here("../demo.svg"), pictureOf(output.slice(0, output.indexOf("Done in"))));
