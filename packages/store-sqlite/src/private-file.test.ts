/// <reference types="node" />
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqliteReader } from "./sqlite-reader.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { locate, remove } from "./store-fixture.ts";

const SCRIPT = fileURLToPath(new URL("umask-fixture.ts", import.meta.url));

let path: string;
let folder: string;
beforeEach(async () => {
  path = await locate();
  folder = dirname(path);
});
afterEach(() => remove(path));

/** The files and folders here that are not private, with their modes. */
function open(): Record<string, string> {
  const names = readdirSync(folder, { recursive: true }) as string[];
  const modes = names.map((name) => {
    const status = statSync(join(folder, name));
    const mode = (status.mode & 0o777).toString(8);
    return { name, mode, isPrivate: mode === (status.isDirectory() ? "700" : "600") };
  });
  return Object.fromEntries(
    modes.filter(({ isPrivate }) => !isPrivate).map(({ name, mode }) => [name, mode]),
  );
}

describe.skipIf(process.platform === "win32")(
  "every file is readable by its owner only (POSIX)",
  () => {
    test.each(["0000", "0022", "0777"])(
      "under a umask of %s, in a public folder",
      async (umask) => {
        chmodSync(folder, 0o777);
        const child = spawn(process.execPath, [SCRIPT, folder, umask], {
          stdio: ["pipe", "pipe", "inherit"],
        });
        await once(child.stdout, "data");
        const names = readdirSync(folder);
        for (const name of [
          "hub.db",
          "hub.db-wal",
          "hub.db-shm",
          "hub.db-owner",
          "hub.db-log",
          "one.db-log",
          "one.db",
          "two.db",
        ]) {
          expect(names).toContain(name);
        }
        expect(open()).toEqual({});
        for (const name of ["hub.db", "hub.db-wal", "one.db"]) chmodSync(join(folder, name), 0o644);
        child.stdin.end("go on\n");
        const [code] = (await once(child, "close")) as [number];
        expect(code).toBe(0);
        // The backup was made readable by its owner, and stays as it is.
        expect(open()).toEqual({ "one.db": "644" });
        expect(readdirSync(folder)).toContain("hub.db.before");
        expect(readdirSync(folder).filter((name) => /\.(part|restored)/.test(name))).toEqual([]);
      },
    );

    test("no file is created through a link", async () => {
      const elsewhere = join(folder, "elsewhere");
      for (const name of [`${path}-owner`, path]) {
        symlinkSync(elsewhere, name);
        await expect(openSqliteStore(path)).rejects.toMatchObject({ status: 403 });
        expect(existsSync(elsewhere)).toBe(false);
        rmSync(name);
      }
      await (await openSqliteStore(path)).close();
      symlinkSync(folder, `${path}-log`);
      await expect(openSqliteStore(path)).rejects.toMatchObject({ status: 403 });
      rmSync(`${path}-log`);
      const store = await openSqliteStore(path);
      await store.saveSetting("name", "value");
      const copy = `${path}.copy`;
      symlinkSync(elsewhere, copy);
      symlinkSync(elsewhere, `${copy}.part`);
      await store.backup(copy);
      await store.close();
      expect(existsSync(elsewhere)).toBe(false);
      await (await openSqliteReader(copy)).close();
    });
  },
);
