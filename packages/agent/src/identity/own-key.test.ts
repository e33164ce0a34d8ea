/// <reference types="node" />
import { execFile } from "node:child_process";
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { memoryStore, openHub } from "@waybill/hub";
import { generateKey } from "@waybill/protocol";
import type { Hub } from "@waybill/protocol/wire";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createAgent } from "../agent.ts";
import { OwnKey } from "./own-key.ts";

let folder: string;
const script = process.argv[1];

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "waybill-keys-")));
  vi.stubEnv("WAYBILL_KEYS", "");
});

afterEach(async () => {
  process.argv[1] = script!;
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await rm(folder, { recursive: true, force: true });
});

/** The key of an agent, and its file. */
async function keyOf(id: string, domain = "domain"): Promise<{ kid: string; path: string }> {
  const own = new OwnKey({ domain } as Hub, id, undefined);
  const { kid } = await own.load();
  return { kid, path: own.path! };
}

/** The path of the running script, in a folder with these files. */
async function runs(path: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
  for (const [name, text] of Object.entries({ ...files, [path]: "" })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  process.argv[1] = join(folder, path);
}

const APP = JSON.stringify({ name: "app" });

test("an agent keeps its key beside the application's package.json, readable by its owner only", async () => {
  await runs("src/agents/main.js", { "package.json": APP });
  const first = await keyOf("anna");
  expect(first.path).toBe(join(folder, ".waybill/keys/domain/anna.key"));
  expect(await keyOf("anna")).toEqual(first);
  for (const made of [".waybill", ".waybill/keys", ".waybill/keys/domain"]) {
    expect((await stat(join(folder, made))).mode & 0o777).toBe(0o700);
  }
  expect((await stat(first.path)).mode & 0o777).toBe(0o600);
  expect(await readFile(join(folder, ".waybill/keys/.gitignore"), "utf8")).toBe("*\n");
});

test("agents at hubs of the same name have separate keys", async () => {
  await runs("main.js");
  const kids = [await keyOf("anna"), await keyOf("bert"), await keyOf("anna", "other")];
  expect(new Set(kids.map(({ kid }) => kid)).size).toBe(3);
});

test("agents that start at the same moment agree on one key", async () => {
  await runs("main.js");
  const keys = await Promise.all(Array.from({ length: 8 }, () => keyOf("anna")));
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(1);
});

test("the application is found through the folders that a build or a tool adds", async () => {
  await runs("dist/main.js", { "package.json": APP, "dist/package.json": '{"type":"module"}' });
  expect((await keyOf("anna")).path).toBe(join(folder, ".waybill/keys/domain/anna.key"));

  await runs("plain/main.js", { "package.json": "{}" });
  expect((await keyOf("bert")).path).toBe(join(folder, ".waybill/keys/domain/bert.key"));

  await runs("node_modules/.bin/runner.js", { "package.json": APP });
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(join(folder, "work"));
  await mkdir(join(folder, "work"));
  await writeFile(join(folder, "work/package.json"), APP);
  expect((await keyOf("carl")).path).toBe(join(folder, "work/.waybill/keys/domain/carl.key"));
  cwd.mockRestore();
});

test("WAYBILL_KEYS names another folder, which may be a link", async () => {
  await mkdir(join(folder, "secrets"));
  await symlink(join(folder, "secrets"), join(folder, "link"));
  vi.stubEnv("WAYBILL_KEYS", join(folder, "link"));
  const { path, kid } = await keyOf("anna");
  expect(path).toBe(join(folder, "link/domain/anna.key"));
  vi.stubEnv("WAYBILL_KEYS", join(folder, "new/keys"));
  const second = await keyOf("anna");
  expect(second.path).toBe(join(folder, "new/keys/domain/anna.key"));
  expect(second.kid).not.toBe(kid);
});

test("no key is read or written through a link at a default path", async () => {
  await runs("main.js", { "package.json": APP });
  const elsewhere = join(folder, "elsewhere");
  await mkdir(elsewhere, { mode: 0o700 });
  for (const link of [".waybill", ".waybill/keys", ".waybill/keys/domain"]) {
    await rm(join(folder, ".waybill"), { recursive: true, force: true });
    await mkdir(dirname(join(folder, link)), { recursive: true, mode: 0o700 });
    await symlink(elsewhere, join(folder, link));
    await expect(keyOf("anna")).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining(`${join(folder, link)} is a symbolic link`),
    });
  }
  await rm(join(folder, ".waybill"), { recursive: true });
  const { path } = await keyOf("anna");
  await keyOf("bert");
  await rm(path);
  await symlink(join(dirname(path), "bert.key"), path);
  await expect(keyOf("anna")).rejects.toMatchObject({ status: 401 });
  await rm(path);
  await symlink(join(folder, "missing"), path);
  await expect(keyOf("anna")).rejects.toMatchObject({ status: 401 });
});

test.skipIf(process.platform === "win32")(
  "no key is kept where others can write, and a path that is no folder is refused",
  async () => {
    await runs("main.js", { "package.json": APP });
    await keyOf("anna");
    await chmod(join(folder, ".waybill/keys"), 0o770);
    await expect(keyOf("anna")).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining("chmod 700"),
    });
    await rm(join(folder, ".waybill"), { recursive: true });
    await writeFile(join(folder, ".waybill"), "");
    await expect(keyOf("anna")).rejects.toMatchObject({ status: 400 });
  },
);

test("the error for a folder that can't be created says what to do", async () => {
  await writeFile(join(folder, "file"), "");
  vi.stubEnv("WAYBILL_KEYS", join(folder, "file/keys"));
  await expect(keyOf("anna")).rejects.toThrow(/WAYBILL_KEYS, or pass a key to createAgent/);
});

test("a runtime without files is told to pass a key", async () => {
  for (const runtime of [undefined, {}, { getBuiltinModule: () => undefined }]) {
    vi.stubGlobal("process", runtime);
    const refused = keyOf("anna");
    await expect(refused).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(
        /^anna has no key.*no file system.*createAgent\(\{ id, hub, key: /,
      ),
    });
    vi.unstubAllGlobals();
  }
});

test("a hub in memory needs no key on disk, and recognizes its agents again", async () => {
  await runs("main.js", { "package.json": APP });
  const hub = await openHub({ store: memoryStore() });
  const first = createAgent({ id: "anna", hub });
  await first.start();
  await first.stop();
  const second = createAgent({ id: "anna", hub });
  second.serve("greet", () => "hello");
  await second.start();
  expect(await second.handoff({ capability: "greet" }).result).toMatchObject({ output: "hello" });
  await second.stop();
  await hub.close();
  await expect(stat(join(folder, ".waybill"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("a hub recognizes a restarted agent, and the error for a lost key says where it was looked up", async () => {
  await runs("main.js", { "package.json": APP });
  const store = memoryStore();
  // Stands for a hub over a durable store.
  const { isVolatile: _, ...hub } = await openHub({ store, key: generateKey() });
  for (let start = 1; start <= 2; start++) {
    const agent = createAgent({ id: "anna", hub });
    agent.serve("greet", () => "hello");
    expect((await agent.handoff({ capability: "greet" }).result).output).toBe("hello");
    await agent.stop();
  }
  const path = join(folder, `.waybill/keys/${hub.domain}/anna.key`);
  await rm(path);
  const stranger = createAgent({ id: "anna", hub });
  await expect(stranger.start()).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining(path),
  });
  await hub.close();
});

test("a program that is started from two folders is one application", async () => {
  const program = join(folder, "main.mjs");
  await writeFile(join(folder, "package.json"), APP);
  const source = new URL("own-key.ts", import.meta.url).href;
  await writeFile(
    program,
    `import { OwnKey } from ${JSON.stringify(source)};
    console.log((await new OwnKey({ domain: "domain" }, "anna", undefined).load()).kid);`,
  );
  const run = promisify(execFile);
  const env = { ...process.env, WAYBILL_KEYS: "" };
  const here = await run(process.execPath, [program], { cwd: folder, env });
  const there = await run(process.execPath, [program], { cwd: tmpdir(), env });
  expect(here.stdout).toBe(there.stdout);
});
