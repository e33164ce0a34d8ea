/// <reference types="node" />
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readlinkSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open as openFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { generateKey, newId } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyBlobs } from "./copy-blobs.ts";
import { blobFolderOf, fileBlobs } from "./file-blobs.ts";
import { restoreSqliteStore } from "./restore.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import type { SqliteStore } from "./sqlite-store.ts";
import { locate, remove } from "./store-fixture.ts";

const FILM = Buffer.alloc(3_000_000, "a film, ");
const DIGEST = digestOfAll(FILM);

let path: string;
beforeEach(async () => {
  path = await locate();
});
afterEach(() => remove(path));

function digestOfAll(bytes: Uint8Array): Digest {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

async function all(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}

const upload = { digest: DIGEST, size: FILM.length, as: "owner" };

describe("a hub in this process", () => {
  const key = generateKey();
  let store: SqliteStore;
  let hub: HubServer;
  const open = async (file = path) => {
    store = await openSqliteStore(file);
    hub = await openHub({ store, key });
  };
  const close = async () => {
    await hub.close();
    await store.close();
  };

  test("a blob survives its hub, and an upload resumes after a restart", async () => {
    await open();
    await hub.blobs!.put(upload, pieces(FILM.subarray(0, 1_000_000)));
    await close();
    await open();
    expect(await hub.blobs!.upload(upload)).toMatchObject({ received: 1_000_000 });
    await hub.blobs!.put({ ...upload, from: 1_000_000 }, pieces(FILM.subarray(1_000_000)));
    await close();
    await open();
    const { size, bytes } = await hub.blobs!.read(upload);
    expect(size).toBe(FILM.length);
    expect((await all(bytes)).equals(FILM)).toBe(true);
    const part = await hub.blobs!.read({ ...upload, first: 999_999, end: 1_000_002 });
    expect(await all(part.bytes)).toEqual(FILM.subarray(999_999, 1_000_002));
    await close();
  });

  test("a file without a row is removed at the start, and other files in the folder stay", async () => {
    await open();
    await hub.blobs!.put(upload, pieces(FILM));
    await close();
    const folder = blobFolderOf(path);
    const orphan = `${DIGEST.slice(7)}.${newId()}`;
    for (const name of [orphan, "notes.txt"]) writeFileSync(join(folder, name), "x");
    await open();
    while (existsSync(join(folder, orphan))) await new Promise((resolve) => setImmediate(resolve));
    expect(readdirSync(folder)).toHaveLength(2);
    expect((await all((await hub.blobs!.read(upload)).bytes)).equals(FILM)).toBe(true);
    await close();
  });

  test("a backup contains the blobs, and a hub over the restored store serves them", async () => {
    await open();
    await hub.blobs!.put(upload, pieces(FILM));
    const part = { ...upload, as: "other", digest: digestOfAll(Buffer.from("x")), size: 5 };
    await hub.blobs!.put(part, pieces(Buffer.from("abc")));
    const backup = `${path}.backup`;
    await store.backup(backup);
    await expect(store.backup(backup)).rejects.toMatchObject({ status: 400 });
    await hub.blobs!.put({ ...upload, as: "third" }, pieces(FILM));
    await close();
    await restoreSqliteStore(backup, path, { moveTo: `${path}.before` });
    expect(existsSync(blobFolderOf(`${path}.before`))).toBe(true);
    await open();
    expect((await all((await hub.blobs!.read(upload)).bytes)).equals(FILM)).toBe(true);
    expect(await hub.blobs!.upload(part)).toMatchObject({ received: 3 });
    await expect(hub.blobs!.read({ ...upload, as: "third" })).rejects.toMatchObject({
      status: 403,
    });
    await close();
    expect(readdirSync(join(path, "..")).filter((name) => /\.(part|restored)/.test(name))).toEqual(
      [],
    );
  });

  test("a backup during changes contains each blob that its database names", async () => {
    await open();
    let isDone = false;
    const coming = (async () => {
      for (let count = 0; !isDone; count++) {
        const bytes = Buffer.from(`blob ${count}`.repeat(1_000));
        await hub.blobs!.put(
          { digest: digestOfAll(bytes), size: bytes.length, as: "owner" },
          pieces(bytes),
        );
      }
    })();
    const backups = [1, 2, 3].map((number) => `${path}.${number}`);
    for (const backup of backups) await store.backup(backup);
    isDone = true;
    await coming;
    await close();
    for (const backup of backups) {
      await open(backup);
      const blobs = await store.settings("blob ", { limit: 10_000 });
      for (const { name } of blobs) {
        const digest: Digest = `sha256:${name.slice("blob ".length)}`;
        const { bytes } = await hub.blobs!.read({ digest, as: "owner" });
        expect(digestOfAll(await all(bytes))).toBe(digest);
      }
      await close();
    }
  });
});

describe.skipIf(process.platform === "win32")("files (POSIX)", () => {
  test.runIf(process.platform === "linux")(
    "a file is synced, and then the folders that contain it",
    async () => {
      const synced: string[] = [];
      const some = await openFile(path, "w");
      const handles = Object.getPrototypeOf(some) as FileHandle;
      const { sync } = handles;
      handles.sync = async function (this: FileHandle) {
        synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
        return sync.call(this);
      };
      try {
        const folder = blobFolderOf(path);
        const name = `${DIGEST.slice("sha256:".length)}.${newId()}`;
        const writer = await fileBlobs(folder).write(name, 0);
        await writer.write(FILM);
        expect(synced).toEqual([dirname(folder)]);
        await writer.sync();
        expect(synced.slice(1)).toEqual([join(folder, name), folder]);
        await writer.close();
      } finally {
        handles.sync = sync;
        await some.close();
      }
    },
  );

  test("free disk space is checked before anything is written", async () => {
    const { free, total } = await fileBlobs(blobFolderOf(path)).space!();
    expect(free).toBeGreaterThan(0);
    expect(total).toBeGreaterThanOrEqual(free);
  });

  test("blobs are readable by their owner only, in a private folder", async () => {
    const before = process.umask(0o000);
    try {
      const blobs = fileBlobs(blobFolderOf(path));
      const name = `${DIGEST.slice(7)}.${newId()}`;
      const writer = await blobs.write(name, 0);
      await writer.close();
      const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);
      expect(mode(blobFolderOf(path))).toBe("700");
      expect(mode(join(blobFolderOf(path), name))).toBe("600");
      // The folder was opened to others since; the hub closes it again.
      chmodSync(blobFolderOf(path), 0o777);
      await (await fileBlobs(blobFolderOf(path)).write(name, 0)).close();
      expect(mode(blobFolderOf(path))).toBe("700");
    } finally {
      process.umask(before);
    }
  });

  test("a backup of blobs follows no link, at its source or its target", async () => {
    const elsewhere = `${path}-elsewhere`;
    mkdirSync(elsewhere, { mode: 0o755 });
    writeFileSync(join(elsewhere, "secret"), "of somebody else");
    const from = blobFolderOf(path);
    const whole = `${DIGEST.slice(7)}.${newId()}`;
    const writer = await fileBlobs(from).write(whole, 0);
    await writer.write(FILM);
    await writer.close();
    symlinkSync(join(elsewhere, "secret"), join(from, `${DIGEST.slice(7)}.${newId()}`));
    const to = `${path}-copy`;
    symlinkSync(elsewhere, to);
    await expect(copyBlobs(from, to, new Map())).rejects.toMatchObject({ status: 403 });
    expect(readdirSync(elsewhere)).toEqual(["secret"]);
    expect(statSync(elsewhere).mode & 0o777).toBe(0o755);
    rmSync(to);
    await copyBlobs(from, to, new Map());
    expect(readdirSync(to)).toEqual([whole]);
    rmSync(to, { recursive: true });
    symlinkSync(from, `${path}-link`);
    const linked = copyBlobs(`${path}-link`, to, new Map());
    await expect(linked).rejects.toMatchObject({ status: 403 });
    expect(existsSync(to)).toBe(false);
  });

  test("nothing is written through a link, or under a name that is no blob's", async () => {
    const folder = blobFolderOf(path);
    const elsewhere = `${path}.elsewhere`;
    symlinkSync(elsewhere, folder);
    const name = `${DIGEST.slice(7)}.${newId()}`;
    await expect(fileBlobs(folder).write(name, 0)).rejects.toMatchObject({ status: 403 });
    expect(existsSync(elsewhere)).toBe(false);
    rmSync(folder);
    const blobs = fileBlobs(folder);
    await (await blobs.write(name, 0)).close();
    rmSync(join(folder, name));
    symlinkSync(elsewhere, join(folder, name));
    await expect(blobs.write(name, 0)).rejects.toMatchObject({ status: 503 });
    await expect(all(blobs.read(name, 0, 1))).rejects.toMatchObject({ status: 503 });
    expect(existsSync(elsewhere)).toBe(false);
    for (const wrong of ["../x", "x", `${name}/..`, ""]) {
      await expect(blobs.write(wrong, 0)).rejects.toMatchObject({ status: 400 });
    }
  });

  test("a truncated blob file is refused as damaged", async () => {
    const blobs = fileBlobs(blobFolderOf(path));
    const name = `${DIGEST.slice(7)}.${newId()}`;
    const writer = await blobs.write(name, 0);
    await writer.write(Buffer.from("abc"));
    await writer.close();
    expect(await blobs.size(name)).toBe(3);
    await expect(all(blobs.read(name, 0, 4))).rejects.toMatchObject({ status: 500 });
  });
});
