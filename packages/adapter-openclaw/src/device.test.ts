/// <reference types="node" />
import { createPublicKey, verify } from "node:crypto";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadDevice, saveDevice, signedDevice } from "./device.ts";

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "waybill-device-"));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

test("a device is created once, and readable by its owner only", async () => {
  const path = join(await folder(), "device.json");
  const device = await loadDevice(path);
  expect(await loadDevice(path)).toEqual(device);
  await saveDevice(path, { ...device, token: "t" });
  expect(await loadDevice(path)).toEqual({ ...device, token: "t" });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a file that is no device is refused", async () => {
  const path = join(await folder(), "device.json");
  await writeFile(path, "{}");
  await expect(loadDevice(path)).rejects.toMatchObject({ status: 400 });
});

test("the signature covers the challenge and what is asked for", async () => {
  const device = await loadDevice(join(await folder(), "device.json"));
  const client = { id: "c", mode: "m", platform: "p", role: "r", scopes: ["a", "b"], token: "t" };
  const signed = signedDevice(device, client, { nonce: "n", ts: 7 });
  const text = `v3|${signed["id"]}|c|m|r|a,b|7|t|n|p|`;
  const signature = Buffer.from(signed["signature"] as string, "base64url");
  const key = createPublicKey(device.privateKey);
  expect(verify(undefined, Buffer.from(text), key, signature)).toBe(true);
});
