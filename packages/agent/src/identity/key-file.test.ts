/// <reference types="node" />
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadKey } from "./key-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-key-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("a key is created once, readable by its owner only, and stays the same", async () => {
  const path = join(folder, "agent.key");
  const keys = await Promise.all([loadKey(path), loadKey(path), loadKey(path)]);
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(1);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(["agent.key"]);
  expect((await loadKey(path)).kid).toBe(keys[0].kid);
});

test.skipIf(process.platform === "win32")("a key that others can read is refused", async () => {
  const path = join(folder, "agent.key");
  await loadKey(path);
  await chmod(path, 0o640);
  await expect(loadKey(path)).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining("chmod 600"),
  });
});

test("the error for a file that is no key does not show its content", async () => {
  const path = join(folder, "agent.key");
  await writeFile(path, '{"secret', { mode: 0o600 });
  await expect(loadKey(path)).rejects.toSatisfy(
    (error: Error) => !String(error).includes("secret") && String(error).includes("not JSON"),
  );
  await expect(loadKey(join(folder, "missing", "agent.key"))).rejects.toMatchObject({
    message: expect.stringContaining("could not be created"),
  });
});
