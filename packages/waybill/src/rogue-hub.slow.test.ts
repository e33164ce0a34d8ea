/// <reference types="node" />
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { newId } from "@waybill/protocol";
import { OPERATOR_SCHEME } from "@waybill/protocol/wire";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { impostor, redirector, relay } from "./rogue-fixture.ts";
import type { Rogue } from "./rogue-fixture.ts";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev, Ran } from "./waybill-fixture.ts";

let place: Workplace;
let dev: Dev;
let lost: string;
let rogue: Rogue;
beforeAll(async () => {
  place = new Workplace();
  dev = await startDev(place);
  const sent = ["send", "work", "--timeout", "1s", "--json"];
  await place.run(["send", "work", "--agent", "anna", "--key", "anna.key"]);
  const ran = await place.run(sent);
  lost = /"handoff_id":"([^"]+)"/.exec(ran.stdout + ran.stderr)?.[1] ?? newId();
});
afterEach(() => rogue?.close());
afterAll(async () => {
  await dev.stop();
  await place.close();
});

/** Every command that speaks to a hub, and some that need none. */
const commands = (): Record<string, string[]> => ({
  agents: ["agents"],
  "agents with a name": ["agents", "operator"],
  find: ["find", "work"],
  send: ["send", "work", "--timeout", "1s"],
  "send as somebody": ["send", "work", "--agent", "bert", "--key", "bert.key"],
  watch: ["watch", "--after", "0"],
  trace: ["trace", lost],
  "dead-letters list": ["dead-letters", "list"],
  "dead-letters show": ["dead-letters", "show", lost],
  "dead-letters replay": ["dead-letters", "replay", lost, "--timeout", "1s"],
  "dead-letters discard": ["dead-letters", "discard", lost, "old"],
  "ledger export": ["ledger", "export", "--from-hub"],
  "ledger checkpoint": ["ledger", "checkpoint"],
  doctor: ["doctor"],
  completion: ["completion", "bash"],
});
/** Commands that need an operator. */
const OPERATORS = /^(watch|trace|dead-letters|ledger)/;

/** Runs every command with extra words; returns the outcome of each. */
async function everyCommand(
  at: Workplace,
  more: readonly string[],
  env: Record<string, string>,
  isWanted: (name: string) => boolean = () => true,
): Promise<(readonly [string, Ran])[]> {
  const wanted = Object.entries(commands()).filter(([name]) => isWanted(name));
  // Commands without a hub have no option for one.
  const lines = wanted.map(([name, words]) =>
    name === "completion" ? words : [...words, ...more],
  );
  // These wait for a socket, so they run concurrently.
  const isSlow = ([first]: readonly string[]) => first === "send";
  const [quick, ...slow] = await Promise.all([
    at.runAll(
      lines.filter((words) => !isSlow(words)),
      env,
    ),
    ...lines.filter(isSlow).map((words) => at.run(words, { env })),
  ]);
  const rest = [...quick];
  return wanted.map(([name], index) => [name, (isSlow(lines[index]!) ? slow : rest).shift()!]);
}

const secret = () => dev.operator_token.split(".")[1]!;

/** The requests that were sent with a header of this kind, in a form that can be sent again. */
function signedRequests(heard: string): { method: string; path: string; authorization: string }[] {
  const pattern = new RegExp(
    `(GET|POST|PUT) (\\S+) HTTP/1\\.1\\r\\n(?:[^\\r]+\\r\\n)*?authorization: (${OPERATOR_SCHEME} \\S+)`,
    "gi",
  );
  return [...heard.matchAll(pattern)].map(([, method, path, authorization]) => ({
    method: method!,
    path: path!,
    authorization: authorization!,
  }));
}

async function nothingIsWorthAnything(heard: string): Promise<void> {
  expect(heard).not.toContain(secret());
  expect(heard).not.toContain(Buffer.from(secret()).toString("base64url"));
  for (const { method, path, authorization } of signedRequests(heard)) {
    const again = await fetch(dev.url + path, { method, headers: { authorization } });
    expect(again.status, `${method} ${path}`).toBe(401);
  }
}

describe.each([
  ["the token of the data folder", () => ({})],
  ["a token of the environment", () => ({ WAYBILL_TOKEN: dev.operator_token })],
])("%s, and --hub names a rogue", (_, env) => {
  test("that poses as the hub", async () => {
    rogue = await impostor(dev.url);
    const ran = await everyCommand(place, ["--hub", rogue.url], env());
    const signed = signedRequests(rogue.heard()).map(({ path }) => path);
    expect(signed).toContain("/v1/ledger?after=0");
    expect(signed).toContain("/v1/ledger/checkpoint");
    expect(signed.length).toBeGreaterThanOrEqual(ran.length - 3);
    await nothingIsWorthAnything(rogue.heard());
  });

  test("that forwards everything immediately", async () => {
    rogue = await relay(dev.url);
    for (const [name, ran] of await everyCommand(place, ["--hub", rogue.url, "--json"], env())) {
      if (!OPERATORS.test(name)) continue;
      expect(ran, name).toMatchObject({ code: 5, stdout: "" });
      expect(ran.stderr).toContain("which is not an address of this hub");
    }
    await nothingIsWorthAnything(rogue.heard());
  });

  test("that redirects every request", async () => {
    const behind = await impostor(dev.url);
    rogue = await redirector(behind.url);
    for (const [name, { code }] of await everyCommand(place, ["--hub", rogue.url], env())) {
      expect(code === 0, name).toBe(name === "completion" || name === "doctor");
    }
    expect(behind.heard()).toBe("");
    await behind.close();
    await nothingIsWorthAnything(rogue.heard());
  });
});

test("a hub of another domain gets anonymous requests, and a refusal says why", async () => {
  const other = new Workplace();
  const second = await startDev(other);
  rogue = await relay(second.url);
  expect((await place.run(["agents", "--hub", rogue.url])).code).toBe(0);
  const refused = await place.run(["dead-letters", "list", "--hub", rogue.url]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain(place.path(".waybill", "operator.token"));
  expect(refused.stderr).toContain("belongs to the hub with the custody domain");
  expect(refused.stderr).toContain(`The request went to the hub at ${rogue.url} (from --hub).`);
  expect(rogue.heard()).not.toMatch(/authorization/i);
  await second.stop();
  await other.close();
});

describe("a waybill.json in the current folder", () => {
  let foreign: Workplace;
  beforeAll(async () => {
    foreign = new Workplace();
  });
  afterAll(() => foreign.close());

  const redirected = async (words: string[], env: Record<string, string>, members = {}) => {
    rogue = await impostor(dev.url);
    writeFileSync(foreign.path("waybill.json"), JSON.stringify({ hub: rogue.url, ...members }));
    return foreign.run(words, { env });
  };
  const isAsking = (name: string) => !/doctor|completion/.test(name);

  test("does not redirect a token from the environment", async () => {
    await redirected([], {});
    for (const [name, { code, stderr }] of await everyCommand(
      foreign,
      [],
      { WAYBILL_TOKEN: dev.operator_token },
      isAsking,
    )) {
      expect(code, name).toBe(5);
      expect(stderr).toContain(`--hub ${rogue.url}`);
    }
    expect(rogue.heard()).toBe("");
  });

  test("does not redirect a named data folder", async () => {
    await redirected([], {});
    const data = ["--data", place.path(".waybill")];
    for (const [name, { code }] of await everyCommand(foreign, data, {}, isAsking)) {
      expect(code, name).toBe(5);
    }
    expect(rogue.heard()).toBe("");
  });

  test("can't name a data folder elsewhere together with a hub", async () => {
    const { code } = await redirected(["agents"], {}, { data: place.path(".waybill") });
    expect(code).toBe(5);
    expect(rogue.heard()).toBe("");
  });

  test("counts if it or its hub is named, and then is announced", async () => {
    const env = { WAYBILL_TOKEN: dev.operator_token };
    const named = await redirected(["agents", "--config", "waybill.json"], env);
    expect(rogue.heard()).toContain("/v1/agents");
    expect(named.code).not.toBe(5);
    await rogue.close();
    await redirected(["agents"], {});
    expect(rogue.heard()).toContain("/v1/agents");
    await rogue.close();
    const found = await redirected(["agents", "--hub", dev.url], env);
    expect(found.code).toBe(0);
    expect(rogue.heard()).toBe("");
  });

  test("is announced to people who read the answer, if nobody named it", async () => {
    const { stderr } = await redirected(["agents"], {});
    expect(stderr).toContain(`asking ${rogue.url} (from hub in ${foreign.path("waybill.json")})`);
  });
});

describe("a data folder", () => {
  test("whose hub has gone is not served by another hub at its address", async () => {
    const other = new Workplace();
    const gone = await startDev(other);
    await gone.stop("SIGKILL");
    const port = new URL(gone.url).port;
    const third = new Workplace();
    const taken = await startDev(third, ["--port", port]);
    for (const words of [["agents"], ["find", "work"], ["dead-letters", "list"]]) {
      const ran = await other.run(words);
      expect(ran.code).toBe(3);
      expect(ran.stderr).toContain("is no longer at");
      expect(ran.stderr).toContain(other.path(".waybill", "hub.url"));
    }
    expect((await other.run(["send", "work", "--timeout", "1s"])).code).toBe(5);
    await taken.stop();
    await third.close();
    await other.close();
  });

  test("without a hub is not served by the hub of another folder", async () => {
    const empty = new Workplace();
    for (const words of [["agents"], ["send", "work"], ["dead-letters", "list"]]) {
      const ran = await empty.run(words);
      expect(ran.code).toBe(3);
      expect(ran.stderr).toContain(empty.path(".waybill", "hub.url"));
    }
    await empty.close();
  });

  test("of an older release gets a new token at the start", async () => {
    const old = new Workplace();
    mkdirSync(old.path(".waybill"), { mode: 0o700 });
    writeFileSync(old.path(".waybill", "operator.token"), `${"x".repeat(43)}\n`, { mode: 0o600 });
    const started = await startDev(old);
    expect(started.operator_token).toMatch(/^[\w-]{43}\.[\w-]{43}$/);
    const file = () => readFileSync(old.path(".waybill", "operator.token"), "utf8").trim();
    expect(file()).toBe(started.operator_token);
    await started.stop();
    rmSync(old.path(".waybill", "operator.token"));
    const again = await startDev(old);
    expect(again.operator_token).not.toBe(started.operator_token);
    expect(again.operator_token.split(".")[0]).toBe(started.operator_token.split(".")[0]);
    expect((await old.run(["dead-letters", "list"])).code).toBe(0);
    await again.stop();
    await old.close();
  });

  test("stores its token only in operator.token, and in no backup", async () => {
    expect((await place.run(["backup", "copy.db"])).code).toBe(0);
    for (const name of ["copy.db", ".waybill/hub.db", ".waybill/hub.db-wal"]) {
      const bytes = readFileSync(place.path(...name.split("/")), "latin1");
      expect(bytes).not.toContain(secret());
    }
  });
});
