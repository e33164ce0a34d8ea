/// <reference types="node" />
// `npm run demo`: a newsroom on one job, told as it happens, and proven at the end.
import { mkdirSync, mkdtempSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startModel } from "./model/model.ts";
import { checksOf } from "./proof/checks.ts";
import { prove } from "./proof/proof.ts";
import { publishStory } from "./room/newsroom.ts";
import { askAtTerminal, DEFAULT_ANSWER } from "./room/person.ts";
import { VICTIM } from "./staff/staff.ts";
import { Chronicle } from "./story/chronicle.ts";
import { jsonTeller } from "./telling/json.ts";
import { paintFor } from "./telling/style.ts";
import { terminalTeller } from "./telling/terminal.ts";

// What was started here ends with it.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
}

const startedAt = Date.now();
const { json: isJson, data } = parseArgs({
  options: { json: { type: "boolean", default: false }, data: { type: "string" } },
}).values;

const paint = paintFor(process.stdout, process.env);
const terminal = terminalTeller(process.stdout, paint, startedAt);
const teller = isJson ? jsonTeller() : terminal;
const isSomebodyThere = !isJson && process.stdin.isTTY && process.stdout.isTTY;
const answer = isSomebodyThere
  ? askAtTerminal(terminal.prompt)
  : () => Promise.resolve(DEFAULT_ANSWER);

const folder = data === undefined ? mkdtempSync(join(tmpdir(), "waybill-demo-")) : resolve(data);
mkdirSync(folder, { recursive: true });
const model = await startModel(VICTIM, process.env);
const chronicle = new Chronicle((event) => teller.tell(event));
try {
  teller.begin({
    folder,
    model: model.isReal ? model.name : "a script (set OPENAI_API_KEY for a real one)",
  });
  const published = await publishStory({ folder, model, answer, chronicle });
  const proof = await prove(published, startedAt);
  const checks = checksOf(proof, published, chronicle);
  teller.end({ published, events: chronicle.events, proof, checks, figures: proof.figures });
  if (checks.some(({ holds }) => !holds)) process.exitCode = 1;
} finally {
  await model.close();
}
