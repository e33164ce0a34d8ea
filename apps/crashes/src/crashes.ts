/// <reference types="node" />
import { readArguments } from "./arguments.ts";
import { planFrom } from "./plan/plan.ts";
import { reportOf } from "./report.ts";
import { tryPlan } from "./trial.ts";

const { handoffs, kills, seed, topology, isJson } = readArguments(process.argv.slice(2));
const say = (line: string) => void process.stderr.write(`${line}\n`);
const print = (line: string) => void process.stdout.write(`${line}\n`);
say(`--topology ${topology} --handoffs ${handoffs} --kills ${kills} --seed ${seed}`);

const verdict = await tryPlan(planFrom(seed, handoffs, kills, topology), say);
const { summary, properties, failed } = verdict;
if (isJson) print(JSON.stringify({ ...summary, properties }));
else for (const line of reportOf(verdict)) print(line);
if (failed > 0) say(`The same plan again: --seed ${seed}`);
print(`${properties.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
