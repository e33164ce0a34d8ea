/// <reference types="node" />
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isReservedId } from "@waybill/protocol/hub";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSettings } from "../settings/read-settings.ts";
import { takeSeat } from "./seat.ts";
import type { Seat } from "./seat.ts";

let folder = "";
const taken: Seat[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-seats-"));
});
afterEach(() => {
  for (const seat of taken.splice(0)) seat.leave();
  rmSync(folder, { recursive: true });
});

async function take(): Promise<Seat> {
  const seat = await takeSeat(readSettings({}, {}, folder));
  taken.push(seat);
  return seat;
}

test("commands that hand off at the same time have names and keys of their own", async () => {
  const seats = [await take(), await take(), await take()];
  const [first, second, third] = seats.map(({ agent }) => agent);
  expect(first).toBe("operator");
  for (const name of [second!, third!]) {
    expect(name).toMatch(/^terminal-[0-9a-f]{8}$/);
    // A hub enrols nobody under a name that is reserved for its operators.
    expect(isReservedId(name, [])).toBe(false);
  }
  expect(new Set(seats.map(({ key }) => key.kid)).size).toBe(3);
  expect(second).not.toBe(third);
});

test("the next command in a seat uses the same name and key", async () => {
  await take();
  const second = await take();
  second.leave();
  taken.splice(taken.indexOf(second), 1);
  const next = await take();
  expect(next.agent).toBe(second.agent);
  expect(next.key.kid).toBe(second.key.kid);
});

test("a command that must be the operator does not wait for other seats", async () => {
  await take();
  await expect(takeSeat(readSettings({}, {}, folder), true)).rejects.toMatchObject({ status: 503 });
  expect(existsSync(join(folder, ".waybill", "operator-2.key"))).toBe(false);
});
