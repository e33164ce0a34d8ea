/// <reference types="node" />
import { readArguments } from "./arguments.ts";
import { CLASSES } from "./classes.ts";
import { boundLine, isFailed, isUnsafe, linesOf, summaryOf } from "./report.ts";
import { mayBeOfABusyMachine, mayBeOfANoisyMachine } from "./run/judge.ts";
import { quiet } from "./run/run-class.ts";
import { tryClass } from "./run/trial.ts";
import type { Row } from "./run/trial.ts";
import { attackSeconds } from "./schedule.ts";
import { writeTable } from "./written.ts";

const QUIET_SECONDS = 3;

const { minutes, only, isJson, isWriting, judgesLatency } = readArguments(process.argv.slice(2));
const classes = only ?? CLASSES;
const endAt = performance.now() + minutes * 60_000;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const hasSecondTry = judgesLatency ? mayBeOfABusyMachine : mayBeOfANoisyMachine;
const quietP99 = await quiet(QUIET_SECONDS);
say(boundLine(quietP99));
const rows: Row[] = [];
for (const [index, attackClass] of classes.entries()) {
  const seconds = attackSeconds(endAt - performance.now(), classes.length - index);
  const row = await tryClass(attackClass, { seconds, quietP99, hasSecondTry });
  rows.push(row);
  for (const line of linesOf(row)) say(line);
}
const summary = summaryOf(rows);
if (isWriting) writeTable(rows, boundLine(quietP99));
if (isJson) console.log(JSON.stringify(summary));
else {
  console.log(
    `worst honest p99 ${summary.worst_honest_p99_ms} ms, peak memory ${summary.peak_rss_mb} MB, ${summary.crashes} crashes`,
  );
  const failed = rows.filter(judgesLatency ? isFailed : isUnsafe).length;
  if (!judgesLatency) {
    const over = rows.filter((row) => isFailed(row) && !isUnsafe(row));
    const names = over.map(({ attackClass }) => attackClass.name);
    console.log(`over the bound of latency: ${names.join(", ") || "none"}`);
  }
  console.log(`${rows.length - failed} passed, ${failed} failed`);
}
process.exitCode = rows.some(judgesLatency ? isFailed : isUnsafe) ? 1 : 0;
