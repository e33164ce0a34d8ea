/// <reference types="node" />
import { parseArgs } from "node:util";
import { whole } from "../arguments.ts";
import { linesOf, runLoad } from "./load-run.ts";

const { values } = parseArgs({
  args: process.argv.slice(2).filter((each) => each !== "--"),
  options: {
    agents: { type: "string", default: "100" },
    seconds: { type: "string", default: "20" },
    kills: { type: "string", default: "0" },
    json: { type: "boolean", default: false },
  },
});
const plan = {
  agents: whole("agents", values.agents),
  seconds: whole("seconds", values.seconds),
  kills: whole("kills", values.kills),
};
const report = await runLoad(plan, (line) => void process.stderr.write(`${line}\n`));
const failed = report.properties.filter(({ problems }) => problems.length > 0).length;
if (values.json) console.log(JSON.stringify(report));
else for (const line of linesOf(report)) console.log(line);
console.log(`${report.properties.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
