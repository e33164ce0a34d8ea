/// <reference types="node" />
// `npm run demo`: a newsroom on one job, told as it happens, and proven at the end.
import { constants } from "node:os";
import { startModel } from "./model/model.ts";
import { readOptions } from "./options.ts";
import { checksOf } from "./proof/checks.ts";
import { prove } from "./proof/proof.ts";
import { publishStory } from "./room/newsroom.ts";
import { askAtTerminal, DEFAULT_ANSWER } from "./room/person.ts";
import { VICTIM } from "./staff/staff.ts";
import { Chronicle } from "./story/chronicle.ts";
import type { StoryEvent } from "./story/event.ts";
import { jsonTeller } from "./telling/json.ts";
import { paintFor } from "./telling/style.ts";
import { terminalTeller } from "./telling/terminal.ts";

// Child processes end with this one.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
}

const startedAt = Date.now();
const { isJson, folder } = readOptions(process.argv.slice(2));
const terminal = terminalTeller(process.stdout, paintFor(process.stdout, process.env), startedAt);
const teller = isJson ? jsonTeller() : terminal;
const isSomebodyThere = !isJson && process.stdin.isTTY && process.stdout.isTTY;
const answer = isSomebodyThere
  ? askAtTerminal(terminal.prompt)
  : () => Promise.resolve(DEFAULT_ANSWER);

const model = await startModel(VICTIM, process.env);
const chronicle = new Chronicle((event) => teller.tell(event));
try {
  const name = model.isReal ? model.name : "a script (set OPENAI_API_KEY for a real one)";
  teller.begin({ folder, model: name });
  const published = await publishStory({ folder, model, answer, chronicle });
  const proof = await prove(published, startedAt);
  const checks = checksOf(proof, published, chronicle);
  teller.end({ published, events: chronicle.events, checks, figures: proof.figures });
  if (checks.some(({ holds }) => !holds)) process.exitCode = 1;
} catch (error) {
  const { says = "nothing" } = chronicle.events.find(isFailure) ?? {};
  console.error(`\nThe story came to no end: ${(error as Error).message}`);
  console.error(`What failed first: ${says}\nWhat there is of it: ${folder}`);
  process.exitCode = 1;
} finally {
  await model.close();
}

function isFailure({ event, tone }: StoryEvent): boolean {
  return event === "result" && tone === "bad";
}
