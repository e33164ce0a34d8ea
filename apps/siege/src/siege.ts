/// <reference types="node" />
import { readArguments } from "./arguments.ts";
import { CLASSES } from "./classes.ts";
import { writeTable } from "./readme.ts";
import { boundLine, isFailed, linesOf, summaryOf, tableOf } from "./report.ts";
import { quiet } from "./run/run-class.ts";
import { tryClass } from "./run/trial.ts";
import type { Row } from "./run/trial.ts";

/** Starting a hub and its honest pair, killing it and starting it again. */
const AROUND_SECONDS = 3;
const SECONDS_AT_LEAST = 1.5;
const QUIET_SECONDS = 3;

const { minutes, only, isJson, isWriting } = readArguments(process.argv.slice(2));
const classes = only ?? CLASSES;
const each = (minutes * 60) / classes.length - AROUND_SECONDS;
const seconds = Math.max(SECONDS_AT_LEAST, Math.min(each, minutes * 60));
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const quietP99 = await quiet(QUIET_SECONDS);
say(boundLine(quietP99));
say(`${classes.length} classes, ${seconds.toFixed(1)} s of attack each.`);
const rows: Row[] = [];
for (const attackClass of classes) {
  const row = await tryClass(attackClass, { seconds, quietP99 });
  rows.push(row);
  for (const line of linesOf(row)) say(line);
}
if (isWriting) writeTable(`${tableOf(rows)}\n\n${boundLine(quietP99)}`);
const summary = summaryOf(rows);
if (isJson) console.log(JSON.stringify(summary));
else {
  console.log(
    `worst honest p99 ${summary.worst_honest_p99_ms} ms, peak memory ${summary.peak_rss_mb} MB, ${summary.crashes} crashes`,
  );
  console.log(`${rows.length - summary.failed.length} passed, ${summary.failed.length} failed`);
}
process.exitCode = rows.some(isFailed) ? 1 : 0;
