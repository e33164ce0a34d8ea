/// <reference types="node" />
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SETTINGS } from "./table.ts";
import { resolveSettings } from "./settings.ts";
import type { SettingsInput } from "./settings.ts";

function resolve(input: Partial<SettingsInput> = {}): ReturnType<typeof resolveSettings> {
  return resolveSettings({
    flags: {},
    environment: {},
    file: undefined,
    folder: "/work",
    readData: () => ({ why: "which does not exist" }),
    ...input,
  });
}

const FLAG = { port: "1" };
const ENVIRONMENT = { WAYBILL_PORT: "2" };
const FILE = { path: "/etc/waybill.json", members: { port: 3 } };

describe("a flag wins over the environment, the file and the default, in this order", () => {
  test.each([
    [{ flags: FLAG, environment: ENVIRONMENT, file: FILE }, 1, "flag"],
    [{ environment: ENVIRONMENT, file: FILE }, 2, "environment"],
    [{ file: FILE }, 3, "file"],
    [{ environment: { WAYBILL_PORT: "" }, file: FILE }, 3, "file"],
    [{}, 7411, "default"],
  ])("%j", (input, port, source) => {
    const { values, origins } = resolve(input);
    expect(values.port).toBe(port);
    expect(origins.port.source).toBe(source);
  });
});

test("a path in a file is relative to the file's folder, any other to the current one", () => {
  expect(
    resolve({ file: { path: "/etc/waybill.json", members: { data: "hub" } } }).values.data,
  ).toBe("/etc/hub");
  expect(resolve({ flags: { data: "hub" } }).values).toMatchObject({
    data: "/work/hub",
    database: "/work/hub/hub.db",
    key: "/work/hub/operator.key",
  });
});

test("the running hub and its token are found in the data folder", () => {
  const lies: Record<string, string> = {
    "/work/.waybill/hub.url": "http://127.0.0.1:5",
    "/work/.waybill/operator.token": "t",
  };
  const readData = (path: string) => ({ text: `${lies[path]}\n` });
  const { values, origins } = resolve({ readData });
  expect(values).toMatchObject({ hub: "http://127.0.0.1:5", token: "t" });
  expect(origins.hub).toEqual({ source: "default", name: "/work/.waybill/hub.url" });
});

test("without a hub on the data folder no other hub on this machine is used", () => {
  const { values, origins } = resolve({ flags: FLAG });
  expect([values.hub, values.token]).toEqual([undefined, undefined]);
  expect(origins.hub.name).toBe("/work/.waybill/hub.url, which does not exist");
  for (const text of ["", "not a url", "file:///etc/passwd"]) {
    const read = resolve({ readData: () => ({ text }) });
    expect(read.values.hub).toBeUndefined();
    expect(read.origins.hub.name).toContain("has unexpected contents");
  }
});

test.each([
  [{ flags: { port: "http" } }, "--port must be a port"],
  [{ flags: { "max-blob": "5 giga" } }, "--max-blob must be a size such as 500MB"],
  [{ flags: { "blob-space": "0" } }, "--blob-space must be a size such as 500MB"],
  [{ flags: { "keep-blobs": "30" } }, "--keep-blobs must be a time such as 90m"],
  [{ environment: { WAYBILL_HUB: "hub" } }, "WAYBILL_HUB must be a URL"],
  [
    { file: { path: "/w.json", members: { behind_proxy: "maybe" } } },
    "behind_proxy in /w.json must be true or false",
  ],
  [{ file: { path: "/w.json", members: { operators: [1] } } }, "must be a list"],
  [
    { file: { path: "/w.json", members: { prot: 1 } } },
    'the member "prot", which is not a setting. Did you mean port?',
  ],
])("%j is refused", (input, message) => {
  expect(() => resolve(input)).toThrow(message);
});

test.each([
  ["1", 1],
  ["500MB", 500_000_000],
  ["1.5 GiB", 1_610_612_736],
  ["2T", 2_000_000_000_000],
  [4_096, 4_096],
])("a size of %j is %i bytes", (given, bytes) => {
  const file = { path: "/w.json", members: { max_blob: given } };
  expect(resolve({ file }).values.max_blob).toBe(bytes);
});

test("the README lists every setting", () => {
  const text = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const readme = text.replaceAll(/ +/g, " ").replaceAll("\\", "");
  for (const [name, { says }] of Object.entries(SETTINGS)) {
    expect(readme).toContain(`| \`${name}\` | ${says} |`);
  }
});

test("an invalid token is not shown", () => {
  expect(() =>
    resolve({ file: { path: "/w.json", members: { token: { hidden: "secret" } } } }),
  ).toThrow(expect.objectContaining({ message: expect.not.stringContaining("secret") }) as Error);
});
