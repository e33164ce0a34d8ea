/// <reference types="node" />
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { digestOf, generateKey, newId, signManifest } from "@waybill/protocol";
import { CALLS } from "@waybill/protocol/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, asOperator, codeOf, openWorld } from "../served-fixture.ts";
import type { Answer, Ask, Party, World } from "../served-fixture.ts";
import { ajv, mutated, readDescription } from "./described-fixture.ts";
import type { Described, Json } from "./described-fixture.ts";

let world: World;
let owner: Party;
let described: Described[];
let document: unknown;
/** Valid input for each operation, besides what its caller proves. */
let sound: Record<
  string,
  { path?: Json; query?: Json; body?: Json; bytes?: string; expected: number }
>;

beforeAll(async () => {
  world = await openWorld({ serve: { limits: { waitSeconds: 0.05 } } });
  owner = await world.party("owner");
  await world.party("worker", [{ name: "work", tags: ["useful"] }]);
  await world.hub.operator.changeGroup("partners", { add: ["ben"] });
  await world.hub.operator.changeGroup("operators", { add: ["owner"] });
  await world.party("unpinned");
  document = (await ask(`${world.url}/openapi.json`)).json;
  described = readDescription(document);
  const dead = await deadLetter();
  const again = owner.handoff("worker", { replayOf: dead });
  const other = await deadLetter();
  const open = owner.handoff("worker");
  await owner.submit(open.text);
  const { handoff_id: id, correlation_id } = open.envelope;
  const manifest = signManifest({ agent_id: "owner", capabilities: [] }, owner.key);
  const { id: unused } = await world.hub.operator.invite();
  const instance = "an instance";
  sound = {
    submitEnvelope: { body: { envelope: owner.handoff("worker").text }, expected: 200 },
    publishManifest: { path: { id: "owner" }, body: { manifest }, expected: 200 },
    listAgents: { query: { limit: 1, after: "a" }, expected: 200 },
    getAgent: { path: { id: "worker" }, expected: 200 },
    getManifests: { path: { id: "worker" }, expected: 200 },
    invite: { body: { agent: "newcomer", expires_seconds: 60 }, expected: 200 },
    listInvitations: { query: { limit: 5 }, expected: 200 },
    revokeInvitation: { path: { id: unused }, expected: 204 },
    pinKey: { path: { id: "unpinned" }, body: { kid: generateKey().kid }, expected: 204 },
    retireAgent: { path: { id: "unpinned" }, expected: 204 },
    allow: { body: { who: "newcomer" }, expected: 204 },
    listGroups: { query: { limit: 1, after: "a" }, expected: 200 },
    getGroup: { path: { name: "partners" }, expected: 200 },
    changeGroup: {
      path: { name: "partners" },
      body: { add: ["anna"], remove: ["ben"] },
      expected: 204,
    },
    setQuota: { path: { name: "partners" }, body: { open: 3, per_minute: 4 }, expected: 204 },
    removeGroup: { path: { name: "partners" }, expected: 204 },
    findCapabilities: {
      query: {
        capability: "work",
        version: "1",
        tags: ["useful"],
        within: 1_000,
        min_reliability: 0,
        words: "useful work",
      },
      expected: 200,
    },
    findForInput: { body: { capability: "work", input: { a: 1 }, tags: ["x"] }, expected: 200 },
    pollInbox: { query: { instance, credit: 2, wait_seconds: 0, cursor: "x.1" }, expected: 200 },
    reportToInbox: {
      body: {
        instance,
        taken: [{ handoff_id: id, attempt: 1 }],
        heartbeats: [{ handoff_id: id, attempt: 1 }],
        seen: [`${id}/1`],
        credit: 1,
      },
      expected: 204,
    },
    listHandoffs: { query: { correlation_id, limit: 5, after: newId(0) }, expected: 200 },
    getHandoff: { path: { id }, expected: 200 },
    getHistory: { path: { id }, query: { after: 1, limit: 1 }, expected: 200 },
    putBlob: { path: { digest: digestOf("abc") }, bytes: "abc", expected: 201 },
    getBlobUpload: { path: { digest: digestOf("abc") }, expected: 200 },
    getBlob: { path: { digest: digestOf("abc") }, expected: 200 },
    headBlob: { path: { digest: digestOf("abc") }, expected: 200 },
    listDeadLetters: { query: { after: newId(0), limit: 3 }, expected: 200 },
    getDeadLetter: { path: { id: dead }, expected: 200 },
    replayDeadLetter: { path: { id: dead }, body: { envelope: again.text }, expected: 200 },
    discardDeadLetter: { path: { id: other }, body: { reason: "old" }, expected: 204 },
    exportLedger: { query: { after: 0 }, expected: 200 },
    getCheckpoint: { expected: 200 },
    watchLedger: { query: { after: 0 }, expected: 200 },
    getConsole: { expected: 200 },
    getConsoleFile: { path: { file: "index.html" }, expected: 200 },
    getConsoleHost: { expected: 200 },
    createConsoleLink: { body: { role: "reader" }, expected: 200 },
    openConsoleSession: { body: { code: codeOf(world.served) }, expected: 200 },
    getFront: { expected: 200 },
    getHub: { expected: 200 },
    getSkill: { expected: 200 },
    getHealth: { expected: 200 },
    getReadiness: { expected: 200 },
    getMetrics: { expected: 200 },
    getDescription: { expected: 200 },
  };
});

afterAll(() => world.close());

/** Handed off to an agent that is away, with too little time. */
async function deadLetter(): Promise<string> {
  const handoff = owner.handoff("worker", { timeoutMs: 300 });
  const { handoff_id: id } = handoff.envelope;
  const ended = new Promise<void>((resolve) => {
    const stop = world.store.onCommit((stored) => {
      if (stored?.id !== id || stored.state !== "dead_lettered") return;
      stop();
      resolve();
    });
  });
  expect((await owner.submit(handoff.text)).status).toBe(200);
  await ended;
  return id;
}

type By = "agent" | "operator" | "stranger";

async function send(
  operation: Described,
  by: By,
  {
    path = {},
    query = {},
    bytes,
    body = bytes,
  }: { path?: Json; query?: Json; body?: unknown; bytes?: string },
): Promise<Answer> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each));
  }
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(path[name])),
  );
  const target = `${filled}${search.size === 0 ? "" : `?${search.toString()}`}`;
  const options: Ask = { method: operation.method, body };
  if (operation.id === "watchLedger") return glimpse(target, by);
  if (by === "agent") {
    // No proof covers the bytes of a blob.
    return owner.ask(target, options, bytes === undefined ? {} : { bodyDigest: undefined });
  }
  const headers = by === "operator" ? operator(target, operation.method, body) : {};
  return ask(world.url + target, { ...options, headers });
}

function operator(target: string, method: string, body?: unknown): Record<string, string> {
  return { ...asOperator(world.served, target, { method, body }) };
}

/** The beginning of an endless answer. */
async function glimpse(target: string, by: By): Promise<Answer> {
  const stop = new AbortController();
  const headers: Record<By, () => Record<string, string>> = {
    operator: () => operator(target, "GET"),
    agent: () => ({ authorization: owner.proof(target, "GET") }),
    stranger: () => ({}),
  };
  const response = await fetch(world.url + target, {
    headers: headers[by](),
    signal: stop.signal,
  });
  const { status, headers: answered } = response;
  if (!response.ok) {
    const text = await response.text();
    return { status, headers: answered, text, json: JSON.parse(text) as Answer["json"] };
  }
  const first = await response.body!.getReader().read();
  stop.abort();
  const text = new TextDecoder().decode(first.value);
  return { status, headers: answered, text, json: {} };
}

/** Whether the description has this answer. */
function isAsDescribed({ answers, method }: Described, { status, headers, text }: Answer): void {
  const contents = answers.get(status);
  expect(contents, `${status}: ${text}`).toBeDefined();
  if (method === "HEAD" || contents!.size === 0) return expect(text).toBe("");
  const type = headers.get("content-type")!.split(";")[0]!;
  expect([...contents!.keys()]).toContain(type);
  const validate = contents!.get(type);
  if (validate === undefined) return;
  expect(validate(JSON.parse(text)), ajv.errorsText(validate.errors)).toBe(true);
}

function callersOf({ security }: Described): { may: By[]; mayNot: By[] } {
  const all: By[] = ["agent", "operator", "stranger"];
  const isOpen = security.length === 0 || security.some((each) => Object.keys(each).length === 0);
  const named = new Set(security.flatMap((each) => Object.keys(each)));
  const may = all.filter((by) => isOpen || named.has(by));
  return { may, mayNot: all.filter((by) => !may.includes(by)) };
}

test("the description passes the linter's recommended rules", async () => {
  const folder = await mkdtemp(join(tmpdir(), "waybill-openapi-"));
  try {
    const file = join(folder, "openapi.json");
    await writeFile(file, JSON.stringify(document));
    const linter = createRequire(import.meta.url).resolve("@redocly/cli/package.json");
    const program = join(dirname(linter), "bin/cli.js");
    const command = [program, "lint", "--format", "json", file];
    const { stdout } = await promisify(execFile)(process.execPath, command, {
      cwd: folder,
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    });
    const { problems } = JSON.parse(stdout) as { problems: { ruleId: string }[] };
    // A hub on loopback has a loopback address: the only rule that does not apply here.
    const others = problems.filter(({ ruleId }) => ruleId !== "no-server-example.com");
    expect(others).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("every operation states its maximum cost", () => {
  const { paths } = document as { paths: Record<string, Record<string, Json>> };
  const all = Object.values(paths).flatMap((path) => Object.values(path));
  expect(all).toHaveLength(described.length);
  for (const { operationId, "x-waybill-cost": cost } of all) {
    expect(cost, String(operationId)).toMatch(/^O\(.+\)/);
  }
});

test("every frame and every call of a socket states its maximum cost", () => {
  const costs = (document as Json)["x-waybill-socket-costs"] as Record<string, string>;
  const said = [...CALLS, "hello", "taken", "heartbeat", "delta", "seen", "credit", "ping", "pong"];
  expect(Object.keys(costs).toSorted()).toEqual(said.toSorted());
  for (const cost of Object.values(costs)) expect(cost).toMatch(/^O\(.+\)/);
});

test("valid input gets an answer of the described shape", async () => {
  expect(described.map(({ id }) => id).toSorted()).toEqual(Object.keys(sound).toSorted());
  for (const operation of described) {
    const { expected, ...input } = sound[operation.id]!;
    const { may } = callersOf(operation);
    const answer = await send(operation, may[0]!, input);
    expect(answer.status, `${operation.id}: ${answer.text}`).toBe(expected);
    isAsDescribed(operation, answer);
  }
});

test("a caller without permission is told so", async () => {
  for (const operation of described) {
    const { expected: _expected, ...input } = sound[operation.id]!;
    for (const by of callersOf(operation).mayNot) {
      const answer = await send(operation, by, input);
      expect(answer.status, `${operation.id} by ${by}`).toBe(by === "stranger" ? 401 : 403);
      isAsDescribed(operation, answer);
    }
  }
});

test("input that breaks its schema is refused with 400, and every answer is described", async () => {
  let refused = 0;
  for (const operation of described) {
    if (operation.id === "watchLedger") continue;
    const { expected: _expected, ...input } = sound[operation.id]!;
    const by = callersOf(operation).may[0]!;
    const { body } = input;
    for (const place of ["path", "query"] as const) {
      for (const { name, schema, required } of operation.parameters) {
        if (!operation.parameters.some((each) => each.name === name && each.in === place)) continue;
        const validate = ajv.compile(schema);
        for (const value of ["", "x y", "é", "-1", "1.5", "1e3", "99999999999999999999", "../x"]) {
          const changed = { ...input, [place]: { ...input[place], [name]: value } };
          const answer = await send(operation, by, changed);
          isAsDescribed(operation, answer);
          const isNumber = schema["type"] === "number" || schema["type"] === "integer";
          const isDecimal = /^-?\d+(\.\d+)?$/.test(value);
          if (schema["type"] === "array") continue;
          if (validate(isNumber && isDecimal ? Number(value) : value)) continue;
          // An empty segment makes another path, with another operation or none.
          if (place === "path" && value === "") continue;
          expect(answer.status, `${operation.id} ${name}=${value}: ${answer.text}`).toBe(400);
          refused++;
        }
        if (place === "path" || !required) continue;
        const { [name]: _left, ...without } = input.query ?? {};
        expect((await send(operation, by, { ...input, query: without })).status).toBe(400);
      }
    }
    if (operation.body === undefined || body === undefined) continue;
    const validate = ajv.compile(operation.body);
    for (const value of [...mutated(body, operation.body), null, [], "text", 1]) {
      const answer = await send(operation, by, {
        ...input,
        body: value === "text" ? '"x"' : value,
      });
      isAsDescribed(operation, answer);
      if (validate(value)) continue;
      expect(answer.status, `${operation.id} ${JSON.stringify(value).slice(0, 80)}`).toBe(400);
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(100);
});
