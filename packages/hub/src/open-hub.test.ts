import { generateKey } from "@waybill/protocol";
import { expect, test } from "vitest";
import { memoryStore } from "./memory-store.ts";
import { openHub } from "./open-hub.ts";

test("a hub over a store in memory has a key of its own, as long as the store lives", async () => {
  const store = memoryStore();
  const first = await openHub({ store });
  expect(first.isVolatile).toBe(true);
  await first.close();
  const second = await openHub({ store });
  expect([second.id, second.domain]).toEqual([first.id, first.domain]);
  await second.close();
  const other = await openHub({ store: memoryStore() });
  expect(other.domain).not.toBe(first.domain);
  await other.close();
});

test("a hub over a durable store requires a key", async () => {
  const disk = { read: async () => new Uint8Array(), append: async () => {}, sync: async () => {} };
  await expect(openHub({ store: memoryStore({ disk }) })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("loadKey"),
  });
  const hub = await openHub({ store: memoryStore({ disk }), key: generateKey() });
  expect(hub.isVolatile).toBeUndefined();
  await hub.close();
});
