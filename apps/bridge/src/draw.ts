/// <reference types="node" />
// Draws the picture of the project's README: the output of a run of the demo, unchanged.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pictureOf } from "./telling/picture.ts";

/** The whole output would be as long as a page. */
const SHOWN = ["TEN QUESTIONS GO OUT", "WHO DID WHAT", "THE PROOF"];

const SCENE = "\n\n  \u001b[1m";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const output = execFileSync(process.execPath, [here("demo.ts")], {
  encoding: "utf8",
  env: { ...process.env, FORCE_COLOR: "1", OPENAI_API_KEY: "" },
});
const scenes = output.slice(0, output.indexOf("Done in")).split(SCENE);
const shown = scenes.filter(
  (scene, at) => at === 0 || SHOWN.some((each) => scene.startsWith(each)),
);
writeFileSync(here("../demo.svg"), pictureOf(shown.join(SCENE)));
