import { writeFileSync } from "node:fs";
import { createAgent, loadKey } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { generateKey, provenRecoveryKey, signManifest } from "@waybill/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMANDS } from "./command-line/commands.ts";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev } from "./waybill-fixture.ts";

let place: Workplace;
let dev: Dev;
let line: ConnectedHub;
let anna: Agent;
let lost: string;
let invitation: string;
const expired = async (): Promise<string> => {
  const told = await place.jsonLines(["send", "absent", "1", "--to", "carl", "--timeout", "1s"]);
  return told.at(-1)!["handoff_id"] as string;
};
beforeAll(async () => {
  place = new Workplace();
  dev = await startDev(place);
  line = await connect(dev.url);
  anna = createAgent({ id: "anna", key: generateKey(), hub: line });
  anna.serve("count", ({ input }) => (input as string).length);
  anna.serve("write", ({ delta }) => {
    delta("The harbour is open.");
    return "The harbour is open.";
  });
  await anna.start();
  const carl = createAgent({ id: "carl", key: generateKey(), hub: line });
  carl.serve("absent", () => null);
  await carl.start();
  await carl.stop();
  await place.run(["groups", "add", "partners", "carl"]);
  await place.run(["keys", "new", "some.key"]);
  await line.publish(signManifest({ agent_id: "emil", capabilities: [] }, generateKey()));
  const offline = await loadKey(place.path("dora.recovery"));
  const recoveryKey = provenRecoveryKey("dora", offline);
  const dora = createAgent({ id: "dora", key: generateKey(), hub: line, recoveryKey });
  await dora.start();
  await dora.stop();
  writeFileSync(place.path("some.json"), '{"agent_id":"some","capabilities":[]}');
  await place.run(["backup", "kept.db"]);
  lost = await expired();
  ({ id: invitation } = (await place.json(["invite"])) as { id: string });
});
afterAll(async () => {
  await anna.stop();
  await line.close();
  await place.close();
});

/** The arguments of each command and its exit code. Commands that don't end are stopped by Ctrl-C. */
const CALLS: Readonly<
  Record<string, { readonly words: () => readonly string[]; readonly code?: number }>
> = {
  dev: { words: () => ["--port", "0", "--data", "other"] },
  hub: { words: () => ["--port", "0", "--data", "another"] },
  agents: { words: () => [] },
  "agents allow": { words: () => ["dora"] },
  "agents pin": { words: () => ["carl", generateKey().kid] },
  "agents retire": { words: () => ["emil"] },
  "agents rotate": { words: () => ["dora", "--from-recovery", "dora.recovery"] },
  "invitations list": { words: () => [] },
  "invitations revoke": { words: () => [invitation] },
  invite: { words: () => [] },
  "groups add": { words: () => ["partners", "anna", "carl"] },
  "groups list": { words: () => [] },
  "groups quota": { words: () => ["partners", "--open", "50"] },
  "groups remove": { words: () => ["partners", "carl"] },
  find: { words: () => ["count"] },
  send: { words: () => ["count", '"abc"'] },
  watch: { words: () => ["--after", "0"] },
  trace: { words: () => [lost] },
  "dead-letters list": { words: () => [] },
  "dead-letters show": { words: () => [lost] },
  "dead-letters replay": { words: () => [lost, "--timeout", "1s"], code: 7 },
  "dead-letters discard": { words: () => [lost, "nobody needs it"] },
  "ledger export": { words: () => [] },
  "ledger verify": { words: () => [] },
  "ledger checkpoint": { words: () => [] },
  backup: { words: () => ["copy.db"] },
  restore: { words: () => ["kept.db", "--data", "restored"] },
  "keys new": { words: () => ["new.key"] },
  "keys recovery": { words: () => ["new.recovery", "--for", "some"] },
  "keys show": { words: () => ["some.key"] },
  "keys thumbprint": { words: () => ["some.key"] },
  "manifest check": { words: () => ["some.json"] },
  "manifest sign": { words: () => ["some.json", "--with", "some.key"] },
  console: { words: () => [] },
  doctor: { words: () => [] },
  completion: { words: () => ["bash"] },
};
const GO_ON = new Set(["console", "dev", "hub", "watch"]);

test.each(COMMANDS.map(({ name }) => name))("%s --json prints only JSON", async (name) => {
  const { words, code = 0 } = CALLS[name]!;
  if (name === "dead-letters discard") lost = await expired();
  const running = place.start([...name.split(" "), ...words(), "--json"]);
  running.child.stdin!.end();
  const first = await running.line();
  if (GO_ON.has(name)) running.child.kill("SIGINT");
  const ran = await running.ended();
  for (const each of [first, ...ran.stdout.trimEnd().split("\n")]) {
    expect(JSON.parse(each)).toBeTypeOf("object");
  }
  expect(ran.code).toBe(code);
  // Only a hub writes to stderr: its log, which is lines of JSON too.
  const logged = ran.stderr.split("\n").filter((each) => each !== "");
  if (name !== "hub") expect(logged).toEqual([]);
  for (const each of logged) expect(JSON.parse(each)).toBeTypeOf("object");
});

test.each([
  [["agents", "nobody"], 4, 404],
  [["send", "count", "no json"], 2, 400],
  [["sned"], 2, 400],
])("%j --json fails with one line of JSON on stderr", async (words, code, status) => {
  const ran = await place.run([...words, "--json"]);
  expect(ran).toMatchObject({ code, stdout: "" });
  expect(ran.stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(ran.stderr)).toMatchObject({ error: { status } });
});

test("send --json prints streamed text piece by piece", async () => {
  const told = await place.jsonLines(["send", "write"]);
  const deltas = told.filter(({ event }) => event === "delta");
  expect(deltas.map(({ text }) => text).join("")).toBe("The harbour is open.");
  expect(deltas[0]).toMatchObject({ by: "anna", attempt: 1, number: 0 });
});
