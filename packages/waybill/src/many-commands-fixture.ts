/// <reference types="node" />
// Runs several command lines in one process, one after the other, because starting a process is slow.
// The output of each ends with a mark and its exit code.
import { argv, stderr, stdout } from "node:process";
import { main } from "./main.ts";

// Each command adds a listener for a closed pipe.
stdout.setMaxListeners(0);
for (const words of JSON.parse(argv[2]!) as string[][]) {
  const code = await main(words);
  for (const stream of [stdout, stderr]) stream.write(`\0${code}\0`);
}
