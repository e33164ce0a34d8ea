/// <reference types="node" />
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "./command-line/commands.ts";
import { widthOf } from "./terminal/text.ts";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev } from "./waybill-fixture.ts";

const MANY_COMMANDS = fileURLToPath(new URL("many-commands-fixture.ts", import.meta.url));
const COMMAND = fileURLToPath(new URL("waybill.ts", import.meta.url));
const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;
const GROUP = "reading-rooms-of-the-northern-library";
const RESEARCHER = "research-agent-of-the-northern-library";
const CAPABILITY = "summarise_quarterly_reports";
const SERVED = {
  name: CAPABILITY,
  description: "Reads every quarterly report that it is given and says in a paragraph what changed",
  input_schema: { topic: "string", pages: "int" },
  lease_seconds: 5,
  tags: ["reports", "finance", "summaries", "quarterly"],
};

let place: Workplace;
let dev: Dev;
let line: ConnectedHub;
let agents: Agent[];
let job: string;
let lost: string;
let thumbprint: string;

async function enrolled(id: string, serve: (agent: Agent) => void): Promise<Agent> {
  const agent = createAgent({ id, key: generateKey(), hub: line });
  serve(agent);
  await agent.start();
  return agent;
}

async function sent(...words: readonly string[]): Promise<Record<string, unknown>[]> {
  return [...(await place.jsonLines(["send", ...words]))];
}

function newName(): string {
  return `of-${process.pid}-${Math.random().toString(36).slice(2)}`;
}

/** Every command that ends by itself, including those that fail. */
function commands(): readonly (readonly string[])[] {
  const input = '{"topic":"tea","pages":3}';
  return [
    [],
    ...COMMANDS.map(({ name }) => [...name.split(" "), "--help"]),
    ["dead-letters"],
    ["agents"],
    ["agents", RESEARCHER],
    ["agents", "reserch-agent"],
    ["find", CAPABILITY],
    ["find", CAPABILITY, "--input", '{"topic":1}'],
    ["find", "summarize_quarterly_reports"],
    ["find"],
    ["send", CAPABILITY, input],
    ["send", CAPABILITY, "{"],
    ["send", CAPABILITY, "@no-such-file-in-this-folder.json"],
    ["send", "fails", '"x"'],
    ["send", "no_such_capability_anywhere", "1"],
    ["send", "absent", "1", "--to", "carl", "--timeout", "1s"],
    ["trace", job],
    ["trace", lost],
    ["trace", "01a1f195-a689-7480-9b70-ba152cbbe0d1"],
    ["trace", "not-an-id"],
    ["dead-letters", "list"],
    ["dead-letters", "show", lost],
    ["ledger", "verify"],
    ["ledger", "verify", "missing.ndjson"],
    ["backup", `backups/${newName()}.db`],
    ["restore", "some.json"],
    ["keys", "thumbprint", "some.key"],
    ["keys", "new", "some.key"],
    ["keys", "recovery", `${newName()}.key`, "--for", RESEARCHER],
    ["invite", "--agent", "anna"],
    ["invitations", "list"],
    ["invitations", "revoke", "no-such-invitation"],
    ["groups", "add", GROUP, RESEARCHER],
    ["groups", "quota", GROUP, "--open", "20", "--per-minute", "100"],
    ["groups", "list"],
    ["groups", "remove", GROUP, RESEARCHER],
    ["agents", "allow", thumbprint],
    ["agents", "pin", "carl", thumbprint],
    ["agents", "retire", "dora-of-the-northern-library"],
    ["agents", "rotate", RESEARCHER, "--from-recovery", "some.key"],
    ["manifest", "check", "some.json"],
    ["manifest", "sign", "some.json"],
    ["doctor"],
    ["agents", "--hub", "http://127.0.0.1:1"],
    ["agents", "--hub", "http://no-such-host.invalid"],
    ["dev", "--host"],
    ["sned"],
    ["find", "x", "--limt", "3"],
    ["dev", "--port", new URL(dev.url).port, "--data", "elsewhere"],
  ];
}

/** Runs in a terminal of this many columns, made by `script`. */
function inTerminal(command: readonly string[], columns: number) {
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const shell = `stty cols ${columns} rows 24; exec ${words}`;
  const { FORCE_COLOR: _force, ...env } = process.env;
  const child = spawn("script", ["-qec", shell, "/dev/null"], {
    cwd: place.folder,
    env: { ...env, NO_COLOR: "1" },
  });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (shown += piece));
  return { child, shown: () => shown };
}

async function shownByAll(columns: number): Promise<string[]> {
  const all = commands();
  const { child, shown } = inTerminal(
    [process.execPath, MANY_COMMANDS, JSON.stringify(all)],
    columns,
  );
  child.stdin.end();
  await once(child, "close");
  const outputs = shown().split(/\0\d+\0\0\d+\0/);
  if (outputs.length !== all.length + 1) throw new Error(shown());
  return outputs;
}

/** Runs until it prints `until`, then presses Ctrl-C. */
async function shownUntil(words: readonly string[], until: string, columns: number) {
  const { child, shown } = inTerminal([process.execPath, COMMAND, ...words], columns);
  let isAsked = false;
  child.stdout.on("data", () => {
    if (isAsked || !shown().includes(until)) return;
    isAsked = true;
    child.stdin.write("\u0003");
  });
  await once(child, "close");
  return shown().replace("^C", "");
}

/** All lines that were ever visible: a status line replaces the one before. */
function linesOf(text: string): string[] {
  return text
    .split("\n")
    .flatMap((each) => each.split("\r"))
    .map((each) => each.replaceAll("\u001b[K", "").trimEnd());
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Times, counts, digests and folders change from run to run. */
const CHANGES =
  /^[+\d.,:%~-]+$|^\d{4}-\d\d-\d\dt\S+z$|^backups|^.+before-\d|of-\d+-|\.jws|^sha256:/;
/** So do invitations and their ids, thumbprints, and the entry of a recovery key. */
const RANDOM =
  /^[\w-]{20,22}$|^[\w-]{40,43}$|^[\w-]{40,43}\.[\w-]{22}\.[\w-]{40,43}$|^kid":.*,"proof":/;

/** The words, without surrounding punctuation. */
function wordsOf(text: string): string[] {
  return linesOf(text)
    .flatMap((each) => each.split(/\s+/))
    .map((word) => word.replace(/^[^\w/]+|[^\w/]+$/gu, "").toLowerCase())
    .filter((word) => word !== "" && ![CHANGES, RANDOM, UUID].some((each) => each.test(word)));
}

describe.skipIf(!hasScript)(
  `on a terminal${hasScript ? "" : " (skipped: no script of util-linux on this machine)"}`,
  () => {
    let whole: Set<string>;
    beforeAll(async () => {
      place = new Workplace();
      dev = await startDev(place);
      line = await connect(dev.url);
      agents = [
        await enrolled(RESEARCHER, (agent) =>
          agent.serve(SERVED, async ({ progress }) => {
            await progress({ message: "reading the reports of all four quarters", fraction: 0.25 });
            return { summary: "more tea" };
          }),
        ),
        await enrolled("bert", (agent) =>
          agent.serve("fails", () => {
            throw new Error("The printing press of the northern library has run out of black ink");
          }),
        ),
        await enrolled("dora-of-the-northern-library", () => undefined),
        await enrolled("carl", (agent) => agent.serve("absent", () => null)),
      ];
      await agents.pop()!.stop();
      await place.run(["keys", "new", "some.key"]);
      thumbprint = (await place.run(["keys", "thumbprint", "some.key"])).stdout.trim();
      const manifest = { agent_id: "some", capabilities: [SERVED] };
      writeFileSync(place.path("some.json"), JSON.stringify(manifest));
      const told = await sent(CAPABILITY, '{"topic":"tea","pages":3}');
      job = told[0]!["correlation_id"] as string;
      const ended = await sent("absent", "1", "--to", "carl", "--timeout", "1s");
      lost = ended.at(-1)!["handoff_id"] as string;
      whole = new Set((await shownByAll(1000)).flatMap(wordsOf));
    });
    afterAll(async () => {
      for (const agent of agents) await agent.stop();
      await line.close();
      await place.close();
    });

    test.each([80, 100, 60])(
      "no line is wider than %d columns, and no word is split",
      async (at) => {
        const faults: string[] = [];
        for (const [index, text] of (await shownByAll(at)).entries()) {
          const said = commands()[index]?.join(" ") ?? "";
          for (const each of linesOf(text)) {
            // A path, an address or a key that is wider than the terminal stays in one piece.
            if (!/\S\s+\S/.test(each)) continue;
            if (widthOf(each) > at) faults.push(`${said}: too wide: ${each}`);
          }
          for (const word of wordsOf(text)) {
            if (!whole.has(word)) faults.push(`${said}: torn: ${word}`);
          }
        }
        expect(faults).toEqual([]);
      },
    );

    test.each([80, 60])("continuous output fits %d columns too", async (at) => {
      const shown = [
        await shownUntil(["dev", "--port", "0", "--data", `other-${at}`], "watch", at),
        await shownUntil(
          ["hub", "--host", "0.0.0.0", "--port", "0", "--data", `open-${at}`],
          "WARNING",
          at,
        ),
        await shownUntil(["watch", "--after", "0"], "acknowledges it", at),
      ];
      for (const each of shown.flatMap(linesOf)) {
        if (/\S\s+\S/.test(each) && !each.startsWith("{")) {
          expect(widthOf(each), each).toBeLessThanOrEqual(at);
        }
      }
      const ids = shown.join(" ").match(/(?<=job\s+)\S{9,}/g)!;
      expect(ids.length).toBeGreaterThan(0);
      for (const id of ids) expect(id).toMatch(UUID);
    });
  },
);
