import { expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import type { Store } from "../store.ts";
import { all, BlobWorld, digestOfAll, pieces, someBytes } from "./blobs-fixture.ts";
import type { BlobStore } from "./blob-store.ts";
import { losingBlobs } from "./losing-blobs-fixture.ts";
import { BLOB_ROWS } from "./rows.ts";

const FILM = someBytes(10_000);
const DIGEST = digestOfAll(FILM);

/** The same store, with other blobs, that reports each completed commit. */
function storeOver(store: Store, blobs: BlobStore, committed?: Store["commit"]): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === "blobs") return blobs;
      if (name === "commit" && committed !== undefined) return committed;
      const member = target[name] as unknown;
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

test("a blob is on disk before its row says so, also if it arrived in parts", async () => {
  const store: Store = memoryStore();
  const blobs = losingBlobs();
  const left: BlobStore[] = [];
  const watched = storeOver(store, blobs, async (group) => {
    const outcomes = await store.commit(group);
    const settings = group.flatMap((each) => each.settings ?? []);
    const isWhole = settings.some(({ name }) => name.startsWith(BLOB_ROWS.blobs));
    if (isWhole) left.push(await blobs.afterCrash());
    return outcomes;
  });
  const world = await BlobWorld.open({ store: watched });
  await world.agent("owner");
  const whole = { digest: DIGEST, size: FILM.length, as: "owner" };
  await world.blobs.put(whole, pieces(FILM.subarray(0, 4_000)));
  await world.blobs.put({ ...whole, from: 4_000 }, pieces(FILM.subarray(4_000)));
  await world.hub.close();
  expect(left).toHaveLength(1);
  const [file] = (await store.settings(BLOB_ROWS.blobs, { limit: 1 })).map(
    ({ value }) => (JSON.parse(value) as { file: string }).file,
  );
  expect(await all(left[0]!.read(file!, 0, FILM.length))).toEqual(FILM);
});

test("bytes that the hub has confirmed as arrived survive a crash", async () => {
  const blobs = losingBlobs();
  const world = await BlobWorld.open({ store: storeOver(memoryStore(), blobs) });
  await world.agent("owner");
  const whole = { digest: DIGEST, size: FILM.length, as: "owner" };
  const { received } = await world.blobs.put(whole, pieces(FILM.subarray(0, 4_000)));
  expect(received).toBe(4_000);
  const left = await blobs.afterCrash();
  const [name] = await world.files();
  expect(await left.size(name!)).toBe(4_000);
  await world.hub.close();
});

test("an upload that is completed while orphaned files are looked for keeps its file", async () => {
  const store = memoryStore();
  const isComplete = Promise.withResolvers<void>();
  const uploads = BLOB_ROWS.uploadsOf(DIGEST.slice("sha256:".length));
  // Until the upload is complete, the search for orphaned files waits for its rows.
  const slow: Store = new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === "settings") {
        const settings: Store["settings"] = async (prefix, page) => {
          if (prefix === uploads) await isComplete.promise;
          return target.settings(prefix, page);
        };
        return settings;
      }
      const member = target[name] as unknown;
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const world = await BlobWorld.open({ store: slow });
  await world.agent("owner");
  const whole = { digest: DIGEST, size: FILM.length, as: "owner" };
  await world.blobs.put(whole, pieces(FILM.subarray(0, 4_000)));
  await world.hub.close();
  await world.start();
  await world.blobs.put({ ...whole, from: 4_000 }, pieces(FILM.subarray(4_000)));
  isComplete.resolve();
  // Closing waits for the search.
  await world.hub.close();
  await world.start();
  const { bytes } = await world.blobs.read(whole);
  expect(await all(bytes)).toEqual(FILM);
  await world.hub.close();
});
