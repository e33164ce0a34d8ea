/// <reference types="node" />
import { readFileSync, rmSync, statSync } from "node:fs";
import { createAgent, loadKey } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ProvenKey } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev } from "./waybill-fixture.ts";

let place: Workplace;
let dev: Dev;

beforeEach(async () => {
  place = new Workplace();
  dev = await startDev(place);
});

afterEach(() => place.close());

/** Starts the agent with the key in this file, and lets it hand work to itself. */
async function runs(id: string, file: string, recoveryKey?: ProvenKey): Promise<void> {
  const hub = await connect(dev.url);
  const agent = createAgent({ id, key: await loadKey(place.path(file)), hub, recoveryKey });
  try {
    agent.serve("greet", () => "hello");
    await agent.start();
    expect(await agent.handoff({ to: id, capability: "greet" }).result).toMatchObject({
      output: "hello",
    });
  } finally {
    await agent.stop();
    await hub.close();
  }
}

async function withRecoveryKey(): Promise<ProvenKey> {
  await place.run(["keys", "new", "anna.key"]);
  const made = await place.json(["keys", "recovery", "anna.recovery", "--for", "anna"]);
  const { file: _file, ...recoveryKey } = made as ProvenKey & { file: string };
  await runs("anna", "anna.key", recoveryKey);
  return recoveryKey;
}

test("an agent that lost its key is recovered with its recovery key, on record", async () => {
  const recoveryKey = await withRecoveryKey();
  rmSync(place.path("anna.key"));
  await place.run(["keys", "new", "other.key"]);
  await expect(runs("anna", "other.key")).rejects.toThrow(
    "waybill agents rotate anna --from-recovery <file>",
  );
  const rotated = await place.run(["agents", "rotate", "anna", "--from-recovery", "anna.recovery"]);
  expect(rotated).toMatchObject({ code: 0 });
  expect(rotated.stdout).toContain("anna now uses the key");
  await runs("anna", "anna.key", recoveryKey);
  const entries = (await place.run(["ledger", "export"])).stdout.trim().split("\n");
  const acts = entries
    .map((line) => JSON.parse(line) as { type: string; content: string })
    .filter(({ type }) => type === "decision")
    .map(({ content }) => JSON.parse(content) as object);
  const { kid } = (await place.json(["keys", "show", "anna.key"])) as { kid: string };
  expect(acts).toContainEqual({ type: "recovered", agent: "anna", kid });
  expect(await place.run(["ledger", "verify"])).toMatchObject({ code: 0 });
  expect((await place.run(["agents", "anna"])).stdout).toContain(
    `recovery key  ${recoveryKey.kid}`,
  );
});

test("a recovery needs no operator, and revokes the stolen key", async () => {
  await withRecoveryKey();
  const elsewhere = new Workplace();
  try {
    const line = ["agents", "rotate", "anna", "--hub", dev.url];
    const files = ["--from-recovery", place.path("anna.recovery"), "--new-key", "next.key"];
    expect(await elsewhere.run([...line, ...files])).toMatchObject({ code: 0 });
    expect(statSync(elsewhere.path("next.key")).mode & 0o777).toBe(0o600);
    await expect(runs("anna", "anna.key")).rejects.toMatchObject({ status: 401 });
  } finally {
    await elsewhere.close();
  }
});

test("a refused recovery says why and what to do, and changes nothing", async () => {
  await withRecoveryKey();
  await place.run(["keys", "new", "ben.key"]);
  await runs("ben", "ben.key");
  const before = (await place.json(["agents", "anna"])) as { sequence: number };
  const rotate = (...words: string[]) => place.run(["agents", "rotate", ...words]);
  const [from, file] = ["--from-recovery", "anna.recovery"];
  const refusals = [
    [await rotate("anna"), "Name the file with the recovery key of anna"],
    [await rotate("anna", from, "missing"), "The file missing does not exist"],
    [await rotate("anna", from, file), "is the current key of anna, and a recovery ends it"],
    [await rotate("anna", from, "ben.key", "--new-key", "new.key"), "the recovery key of anna is"],
    [await rotate("ben", from, file, "--new-key", "new.key"), "ben lists no recovery key"],
    [await rotate("nobody", from, file), "The hub does not know the agent nobody"],
  ] as const;
  for (const [{ code, stderr, stdout }, says] of refusals) {
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(says);
    expect(code).not.toBe(0);
    expect(stdout).toBe("");
  }
  expect(await place.json(["agents", "anna"])).toMatchObject({ sequence: before.sequence });
});

test("a recovery key is created once, private to its owner, and shown again on request", async () => {
  place.umask = "000";
  const line = ["keys", "recovery", "anna.recovery", "--for", "anna"];
  const first = await place.json(line);
  expect(statSync(place.path("anna.recovery")).mode & 0o777).toBe(0o600);
  expect(first).toMatchObject({ use: "recovery", file: "anna.recovery" });
  const kept = readFileSync(place.path("anna.recovery"), "utf8");
  expect(await place.json(line)).toEqual(first);
  expect(readFileSync(place.path("anna.recovery"), "utf8")).toBe(kept);
  const { stdout } = await place.run(line);
  expect(stdout).not.toContain((JSON.parse(kept) as { d: string }).d);
  expect(stdout).toContain("waybill agents rotate anna --from-recovery anna.recovery");
  expect(await place.run(["keys", "recovery", "x.recovery"])).toMatchObject({ code: 2 });
});
