/// <reference types="node" />
import { mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev } from "./waybill-fixture.ts";

let place: Workplace;
let dev: Dev;
let silent: Server;
let free: string;

beforeAll(async () => {
  place = new Workplace();
  dev = await startDev(place);
  writeFileSync(place.path("half.json"), '{"topic":');
  writeFileSync(place.path("empty.json"), "");
  mkdirSync(place.path("folder"));
  silent = createServer(() => undefined).listen(0, "127.0.0.1");
  const unused = createServer().listen(0, "127.0.0.1");
  await Promise.all([once(silent, "listening"), once(unused, "listening")]);
  free = urlOf(unused);
  unused.close();
});
afterAll(async () => {
  silent.close();
  await place.close();
});

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The command line, what happened, what to do, and the exit code. */
type Case = readonly [() => readonly string[], string, string, number];

const CASES: Readonly<Record<string, Case>> = {
  "a missing file": [
    () => ["send", "x", "@draft.json"],
    "The file draft.json does not exist.",
    "it was looked for in",
    2,
  ],
  "a folder in the place of a file": [
    () => ["send", "x", "@folder"],
    "folder is a folder, not a file.",
    "Name a file in it.",
    2,
  ],
  "a path through a file": [
    () => ["manifest", "check", "empty.json/x"],
    "The file empty.json/x does not exist: a part of the path is a file",
    "Check the path.",
    2,
  ],
  "a file that is not JSON": [
    () => ["send", "x", "@half.json"],
    "The input is not valid JSON:",
    "It was read from the file half.json.",
    2,
  ],
  "an empty file": [
    () => ["send", "x", "@empty.json"],
    "The input is empty: the file empty.json has no content.",
    "It must be JSON",
    2,
  ],
  "empty stdin": [
    () => ["send", "x", "-"],
    "The input is empty: stdin has no content.",
    "Pipe JSON in:",
    2,
  ],
  "an argument that is not JSON": [
    () => ["send", "x", "tea"],
    "The input is not valid JSON:",
    "A text needs its own quotes",
    2,
  ],
  "a missing ledger": [
    () => ["ledger", "verify", "missing.ndjson"],
    "The file missing.ndjson does not exist.",
    "Check the path",
    2,
  ],
  "a missing backup": [
    () => ["restore", "missing.db", "--replace"],
    "missing.db does not exist.",
    "Check the path",
    2,
  ],
  "a missing database": [
    () => ["ledger", "export", "--database", "missing.db"],
    "missing.db does not exist.",
    "Check the path",
    2,
  ],
  "a missing configuration": [
    () => ["agents", "--config", "missing.json"],
    "missing.json does not exist.",
    "Check the path",
    2,
  ],
  "a place that takes no folders": [
    () => ["dev", "--port", "0", "--data", "empty.json/data"],
    "can't be created: a part of its path is a file.",
    "Choose another place",
    5,
  ],
  "no hub in this folder": [
    () => ["agents", "--data", "folder"],
    "No hub runs in the data folder",
    'Start one with "waybill dev"',
    3,
  ],
  "a hub that has ended": [
    () => ["agents", "--hub", free],
    "(from --hub): nothing listens there.",
    "Start the hub, or check host and port",
    3,
  ],
  "a hub that has ended, for work": [
    () => ["send", "x", "1", "--hub", free, "--timeout", "3s"],
    "nothing listens there.",
    "Start the hub, or check host and port",
    3,
  ],
  "a host that DNS does not know": [
    () => ["agents", "--hub", "http://no-such-host.invalid"],
    "(DNS).",
    "this machine's",
    3,
  ],
  "TLS where there is none": [
    () => ["agents", "--hub", dev.url.replace("http:", "https:")],
    "what listens there does not speak TLS.",
    "begins with http:",
    3,
  ],
  "a hub that does not answer": [
    () => ["send", "x", "1", "--hub", urlOf(silent), "--timeout", "3s"],
    "it has not answered in time.",
    "look at its log.",
    3,
  ],
  "a port that is taken": [
    () => ["dev", "--port", new URL(dev.url).port, "--data", "another"],
    "another program already listens there.",
    "--port (0 picks a free one)",
    3,
  ],
  "a database that is in use": [
    () => ["dev", "--port", "0"],
    "is open in process",
    "Stop that hub",
    3,
  ],
};

test.each(Object.entries(CASES))(
  "%s: reports what happened and what to do, then the codes",
  async (_, [words, happened, advice, code]) => {
    const typed = words();
    // One after the other: two hubs that start in one folder would interfere.
    const ran = await place.run(typed);
    const json = await place.run([...typed, "--json"]);
    const lines = ran.stderr.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^✗ \S.*[.:]|^✗ The input is not valid JSON/);
    expect(lines[0]).toContain(happened);
    expect(lines[0]).not.toMatch(/\b[1-5]\d\d [A-Z_]+\b/);
    expect(ran.stderr.replaceAll(/\s+/g, " ")).toContain(advice);
    expect(lines.at(-1)).toMatch(new RegExp(`exit code ${code} · \\d{3} [A-Z_]+$`));
    expect(ran).toMatchObject({ code, stdout: "" });
    expect(json.code).toBe(code);
    const { error } = JSON.parse(json.stderr) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ status: expect.any(Number) as number, exit_code: code });
    expect(error["code"]).not.toBe("NO_CAPABILITY");
  },
);
