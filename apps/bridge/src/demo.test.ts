/// <reference types="node" />
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ledgerEntries, verifyLedger } from "@waybill/hub";
import type { LedgerEntry } from "@waybill/hub";
import { parseEnvelope, readCompact } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import { openSqliteReader } from "@waybill/store-sqlite";
import { expect, test } from "vitest";
import { startModel } from "./model/model.ts";
import { checksOf } from "./proof/checks.ts";
import { prove } from "./proof/proof.ts";
import type { Proof } from "./proof/proof.ts";
import { publishStory } from "./room/newsroom.ts";
import { VICTIM } from "./staff/staff.ts";
import { Chronicle } from "./story/chronicle.ts";

const DEMO = fileURLToPath(new URL("demo.ts", import.meta.url));
const WAYBILL = fileURLToPath(new URL("../../../packages/waybill/src/waybill.ts", import.meta.url));
const run = promisify(execFile);
/** No test calls a paid model, whatever the environment contains. */
const OFFLINE = { ...process.env, OPENAI_API_KEY: "" };

type Line = Readonly<Record<string, unknown>>;

async function entriesIn(folder: string): Promise<LedgerEntry[]> {
  const reader = await openSqliteReader(join(folder, "hub.db"));
  try {
    return await Array.fromAsync(ledgerEntries(reader));
  } finally {
    await reader.close();
  }
}

function envelopesIn(entries: readonly LedgerEntry[]) {
  const decisions = entries.flatMap(({ type, content }) =>
    type === "decision" ? [JSON.parse(content) as { type: string; digest?: string }] : [],
  );
  const refused = new Set(decisions.map((each) => each.type === "refused" && each.digest));
  const envelopes = entries.flatMap(({ type, content, digest }) =>
    type === "envelope" && !refused.has(digest)
      ? [parseEnvelope(readCompact(content).payload)]
      : [],
  );
  return { envelopes, decisions };
}

test("the last line matches the ledger, and the database can be explored", async () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bridge-"));
  const demo = [DEMO, "--json", "--data", folder];
  const { stdout } = await run(process.execPath, demo, { env: OFFLINE });
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const figures = lines.at(-1)!;

  const entries = await entriesIn(folder);
  const { envelopes, decisions } = envelopesIn(entries);
  const handoffs = envelopes.filter(({ kind }) => kind === "handoff");
  const results = envelopes.flatMap((each) => (each.kind === "result" ? [each] : []));
  const ended = (status: number) =>
    new Set(results.flatMap(({ body, handoff_id: id }) => (body.status === status ? [id] : [])))
      .size;
  expect(figures).toEqual({
    handoffs: handoffs.length,
    completed: ended(200),
    failed: results.length - ended(200),
    cancelled: envelopes.filter(({ kind }) => kind === "cancel").length,
    dead_lettered: decisions.filter(({ type }) => type === "expire" || type === "dead_letter")
      .length,
    replayed: handoffs.filter((each) => "replay_of" in each).length,
    refused: lines.filter(({ event }) => event === "refused").length,
    violations: 0,
    ledger_entries: entries.length,
    ledger_ok: (await verifyLedger(entries)).holds,
    seconds: expect.any(Number),
  });
  expect(figures).toMatchObject({ handoffs: 14, completed: 13, dead_lettered: 1, replayed: 1 });
  expect(figures["refused"]).toBe(3);
  expect(lines.filter(({ event, holds }) => event === "checked" && holds !== true)).toEqual([]);

  const again = run(process.execPath, [DEMO, "--data", folder]);
  await expect(again).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("a folder of its own"),
  });

  const hub = spawn(process.execPath, [WAYBILL, "dev", "--data", folder, "--port", "0", "--json"]);
  try {
    await new Promise((resolve) => createInterface({ input: hub.stdout }).once("line", resolve));
    const job = lines.find(({ event }) => event === "published")!["job"] as string;
    const explore = async (...args: string[]) =>
      (await run(process.execPath, [WAYBILL, ...args, "--data", folder])).stdout;
    expect(await explore("trace", job)).toMatch(/14 handoffs[\s\S]*✔ All \d+ signatures are valid/);
    const missed = lines.find(({ event }) => event === "dead_lettered")!["handoff_id"] as string;
    expect(await explore("dead-letters", "show", missed)).toMatch(/504 DEADLINE_EXCEEDED/);
  } finally {
    hub.kill("SIGKILL");
  }
});

test("with a key the demo calls a real model, and without a terminal it has no colours", async () => {
  const said = (text: string) => ({ text: `${text} (said by the other model)` });
  const other = await startScriptedModel(({ body }) => {
    const request = JSON.stringify(body);
    if (request.includes("response_format")) return { text: '{"answer": "as the other says"}' };
    return said(request.includes("Write the article") ? "HEADLINE\nThe article" : "Fine");
  });
  const env = { ...process.env, OPENAI_API_KEY: "a key", OPENAI_BASE_URL: other.url };
  const { stdout } = await run(process.execPath, [DEMO], {
    env: { ...env, OPENAI_MODEL: "another-model", FORCE_COLOR: "" },
  });
  await other.close();
  expect(stdout).toContain("The article (said by the other model)");
  expect(stdout).toMatch(/The\s+model\s+is\s+another-model\./);
  expect(stdout).not.toContain("\u001b");
  expect(stdout).not.toMatch(/^ {2}✗/m);
  expect(other.requests.length).toBeGreaterThanOrEqual(13);
  for (const { body, headers } of other.requests) {
    expect([body.model, headers.authorization]).toEqual(["another-model", "Bearer a key"]);
  }
});

test("a violated claim is detected", async () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bridge-"));
  const model = await startModel(VICTIM, {});
  const chronicle = new Chronicle(() => undefined);
  const answer = () => Promise.resolve("Anna");
  const published = await publishStory({ folder, model, answer, chronicle });
  await model.close();
  expect(published.article).toMatch(/^Signed for.*\nBy Anna\n/);
  const proof = await prove(published, Date.now());
  const faults = (changed: Proof, story = chronicle) =>
    checksOf(changed, published, story).filter(({ holds }) => !holds).length;
  expect(faults(proof)).toBe(0);

  const { figures } = proof;
  const wrong = { ledger_entries: 0, ledger_ok: false, seconds: 0, violations: 0 };
  for (const name of Object.keys(figures).filter((each) => !Object.hasOwn(wrong, each))) {
    const off = { ...figures, [name]: (figures[name as keyof typeof figures] as number) + 1 };
    expect([name, faults({ ...proof, figures: off })]).not.toEqual([name, 0]);
  }
  expect(faults(proof, new Chronicle(() => undefined))).toBeGreaterThan(0);
  expect(faults({ ...proof, forgeriesOnRecord: 1 })).toBe(1);

  const changed = mkdtempSync(join(tmpdir(), "waybill-bridge-"));
  cpSync(dirname(published.database), changed, { recursive: true });
  const database = join(changed, "hub.db");
  redate(`${database}-log`);
  const redated = await prove({ ...published, database }, Date.now());
  expect(redated.figures.ledger_ok).toBe(false);
  expect(faults(redated)).toBeGreaterThan(0);
});

function hasDecision(file: string): boolean {
  return file.endsWith(".log") && readFileSync(file).includes(',"decision",');
}

/** Changes the time of one decision in the ledger, as somebody might who has access to the disk. */
function redate(log: string): void {
  const name = readdirSync(log).find((each) => hasDecision(join(log, each)))!;
  const segment = join(log, name);
  const bytes = readFileSync(segment);
  const digit = bytes.indexOf(',"decision",') - 1;
  bytes[digit]! ^= 1;
  writeFileSync(segment, bytes);
}
