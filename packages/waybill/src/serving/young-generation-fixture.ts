/// <reference types="node" />
import { setImmediate as turn } from "node:timers/promises";
import { getHeapSpaceStatistics } from "node:v8";
import { collectGarbage } from "./collect-garbage.ts";

const TURNS = 2_000;
const OBJECTS_PER_TURN = 5_000;
const TURNS_KEPT = 600;

/** Produces garbage like a busy hub, and prints the size of the young generation in MB. */
collectGarbage();
const kept: unknown[][] = [];
let most = 0;
for (let count = 0; count < TURNS; count++) {
  kept.push(Array.from({ length: OBJECTS_PER_TURN }, (_, index) => ({ index, of: [count] })));
  if (kept.length > TURNS_KEPT) kept.shift();
  await turn();
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
  most = Math.max(most, young!.space_size);
}
console.log(Math.round(most / 1024 / 1024));
