/// <reference types="node" />
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createAgent } from "@waybill/agent";
import type { Agent, HandoffResult } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Style } from "../terminal/style.ts";
import { resultStage } from "./stages.ts";
import { startDev, Workplace } from "../waybill-fixture.ts";

const FILM = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256));

let place: Workplace;
let line: ConnectedHub;
let anna: Agent;
beforeAll(async () => {
  place = new Workplace();
  line = await connect((await startDev(place)).url);
  anna = createAgent({ id: "anna", key: generateKey(), hub: line });
  anna.serve("turn", async ({ artifacts, result }) =>
    result({
      output: artifacts.map(({ name, media_type, size }) => [name, media_type, size ?? null]),
      artifacts: await Promise.all(
        artifacts.map(async (each) => ({
          name: `../${each.name}`,
          bytes: (await each.bytes()).toReversed(),
        })),
      ),
    }),
  );
  await anna.start();
  writeFileSync(place.path("film.mp4"), FILM);
  writeFileSync(place.path("note.txt"), "ahoy");
});
afterAll(async () => {
  await anna.stop({ mode: "release" });
  await line.close();
  await place.close();
});

const SEND = ["send", "turn", "--file", "film.mp4", "--file", "note.txt"];

test("files travel with the work, and result files are listed with the command that saves them", async () => {
  const { code, stdout } = await place.run(SEND);
  expect(JSON.parse(stdout)).toEqual([
    ["film.mp4", "video/mp4", 300_000],
    ["note.txt", "text/plain", null],
  ]);
  const result = (await place.jsonLines(SEND)).at(-1) as unknown as HandoffResult;
  const plain = { good: String, strong: String, faint: String } as unknown as Style;
  const saved = [{ name: "../film.mp4", path: "out/film.mp4" }];
  expect(resultStage(result, true).lines(plain).slice(1)).toEqual([
    "file ../film.mp4 (video/mp4), 300,000 bytes",
    "file ../note.txt (text/plain), 4 bytes",
    "To save files: --save <folder>",
  ]);
  expect(resultStage(result, true, saved).lines(plain)[1]).toBe(
    "file ../film.mp4 (video/mp4), saved as out/film.mp4",
  );
  expect(code).toBe(0);
});

test("result files are saved in the folder without replacing existing files", async () => {
  for (const _ of ["once", "again"]) {
    expect((await place.run([...SEND, "--save", "out"])).code).toBe(0);
  }
  const names = ["film (2).mp4", "film.mp4", "note (2).txt", "note.txt"];
  expect(readdirSync(place.path("out")).toSorted()).toEqual(names);
  for (const name of names.slice(0, 2)) {
    expect(readFileSync(place.path("out", name)).equals(FILM.toReversed())).toBe(true);
  }
});

test("with --json the result lists the saved paths, and not the files' content", async () => {
  const lines = await place.jsonLines([...SEND, "--save", "json"]);
  expect(lines.at(-1)).toMatchObject({
    event: "result",
    artifacts: [{ name: "../film.mp4", size: 300_000 }, { name: "../note.txt" }],
    saved: [
      { name: "../film.mp4", path: expect.stringContaining("film.mp4") as string },
      { name: "../note.txt", path: expect.stringContaining("note.txt") as string },
    ],
  });
});

test("a result whose files can't be saved stays at the hub, and the message says how to fetch it", async () => {
  const words = [...SEND, "--save", "film.mp4"];
  const first = await place.run(words);
  expect([first.code, first.stderr]).toEqual([
    2,
    expect.stringContaining("film.mp4 can't be created"),
  ]);
  const text = first.stderr.replaceAll(/\s+/g, " ");
  const [, again] = /To get it again: waybill (.*? --handoff [0-9a-f-]{36})/.exec(text) ?? [];
  expect(again).toBe(
    `send turn --file film.mp4 --file note.txt --save film.mp4 --handoff ${again?.slice(-36)}`,
  );
  const saving = again!.replace("--save film.mp4", "--save late").split(" ");
  const { code } = await place.run(saving);
  expect([code, readdirSync(place.path("late")).length]).toEqual([0, 2]);
});

test("a missing file is reported before anything is handed off", async () => {
  const { code, stderr } = await place.run(["send", "turn", "--file", "no.mp4"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("The file no.mp4 does not exist")]);
});
