/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "@waybill/store-sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testRatios } from "../ratios-fixture.ts";
import { fill } from "./fill.ts";
import { scale, scaleFrom } from "./group.ts";

const group = scale({ handoffs: 1_000, open: 1_000 });

describe.each(group.cases)("$name", (each) => {
  beforeAll(() => each.prepare?.(), 60_000);
  afterAll(() => each.dispose?.());

  test("runs", async () => {
    let now = 0;
    const elapsed = await each.run(each.opsPerRun ?? 1, () => now++);
    // The memory of a thousand open ones is within the normal variation of a process.
    if (each.name.includes("1 ms for 1 MB")) expect(elapsed).toBeTypeOf("number");
    else expect(elapsed).toBeGreaterThan(0);
  });
});

testRatios(group);

test("the number of handoffs can be set, and an invalid one is refused", () => {
  expect(scaleFrom(undefined).handoffs).toBe(100_000);
  expect(scaleFrom("1000000").handoffs).toBe(1_000_000);
  for (const text of ["", "many", "999", "1.5e3.", "-1"]) {
    expect(() => scaleFrom(text)).toThrow(`not "${text}"`);
  }
});

test("a filled database has handoffs as a hub leaves them, ended and open", async () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
  const store = await openSqliteStore(join(folder, "filled.db"));
  try {
    await fill(store, 600);
    const open = await store.waiting("agent:absent", { limit: 100 });
    expect(open).toHaveLength(6);
    const lines = await store.ledgerOf(open[0]!.id, { limit: 100 });
    expect(lines.map(({ type }) => type)).toContain("envelope");
    const { sequence } = await store.ledgerHead();
    expect(sequence).toBeGreaterThan(600 * lines.length);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
});
