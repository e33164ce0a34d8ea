/// <reference types="node" />
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { privateKeyFrom, verifyManifest } from "@waybill/protocol";
import type { PrivateJwk } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Workplace } from "./waybill-fixture.ts";

let place: Workplace;
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place.close());

test("a key is created once, shown without its secret, and identified by its thumbprint", async () => {
  const made = (await place.json(["keys", "new", "anna.key"])) as { kid: string; jwk: object };
  const secret = JSON.parse(readFileSync(place.path("anna.key"), "utf8")) as PrivateJwk;
  expect(privateKeyFrom(secret).kid).toBe(made.kid);
  if (process.platform !== "win32")
    expect(statSync(place.path("anna.key")).mode & 0o777).toBe(0o600);
  expect(await place.run(["keys", "new", "anna.key"])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("never overwritten"),
  });
  const shown = await place.run(["keys", "show", "anna.key", "--json"]);
  expect(JSON.parse(shown.stdout)).toEqual({ kid: made.kid, jwk: made.jwk });
  expect(shown.stdout + shown.stderr).not.toContain(secret.d);
  const input = JSON.stringify(made.jwk);
  expect(await place.run(["keys", "thumbprint", "-"], { input })).toMatchObject({
    stdout: `${made.kid}\n`,
  });
});

test("a key file that is invalid or readable by others is refused, without showing its content", async () => {
  await place.run(["keys", "new", "anna.key"]);
  chmodSync(place.path("anna.key"), 0o644);
  const open = await place.run(["keys", "show", "anna.key"]);
  expect(open).toMatchObject({ code: 5, stderr: expect.stringContaining("chmod 600") });
  writeFileSync(place.path("none.key"), "hush hush");
  const none = await place.run(["keys", "show", "none.key"]);
  expect(none).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("neither a key file nor a public JWK"),
  });
  expect(none.stderr).not.toContain("hush");
  expect(await place.run(["keys", "show", "missing.key"])).toMatchObject({ code: 2 });
});

test("a manifest is checked, signed, and followed by the next one", async () => {
  await place.run(["keys", "new", "anna.key"]);
  const manifest = {
    agent_id: "anna",
    description: "turns\u001b[31m red",
    capabilities: [{ name: "review", input_schema: { topic: "string" } }],
  };
  writeFileSync(place.path("anna.json"), JSON.stringify(manifest));
  const checked = await place.run(["manifest", "check", "anna.json"]);
  expect(checked.stdout).toContain("valid, and not signed yet");
  expect(checked.stdout).toContain('"required": ["topic"]');
  expect(checked.stdout).not.toContain("\u001b");
  const first = await place.run(["manifest", "sign", "anna.json", "--with", "anna.key"]);
  writeFileSync(place.path("anna.jws"), first.stdout);
  const previous = verifyManifest(first.stdout.trim(), { at: Date.now() });
  expect(previous.manifest).toMatchObject({ agent_id: "anna", sequence: 1 });
  const second = await place.run([
    "manifest",
    "sign",
    "anna.json",
    "--with",
    "anna.key",
    "--previous",
    "anna.jws",
  ]);
  expect(verifyManifest(second.stdout.trim(), { at: Date.now(), previous }).manifest.sequence).toBe(
    2,
  );
  expect(await place.json(["manifest", "check", "anna.jws"])).toMatchObject({
    holds: true,
    signature: { kid: previous.kid },
  });
});

test("a manifest that lists a new key rotates the key, with a proof of possession", async () => {
  await place.run(["keys", "new", "old.key"]);
  await place.run(["keys", "new", "next.key"]);
  const keys = [
    await place.json(["keys", "show", "old.key", "--for", "anna"]),
    await place.json(["keys", "show", "next.key", "--for", "anna"]),
  ];
  const manifest = { agent_id: "anna", capabilities: [], keys };
  writeFileSync(place.path("both.json"), JSON.stringify(manifest));
  const signed = await place.run(["manifest", "sign", "both.json", "--with", "old.key"]);
  const { manifest: read } = verifyManifest(signed.stdout.trim(), { at: Date.now() });
  expect(read.keys).toEqual(keys);
  const next = await place.json(["keys", "show", "next.key", "--for", "bert"]);
  writeFileSync(place.path("both.json"), JSON.stringify({ ...manifest, keys: [keys[0], next] }));
  const refused = await place.run(["manifest", "sign", "both.json", "--with", "old.key"]);
  expect(refused).toMatchObject({ code: 5, stdout: "" });
  expect(await place.run(["keys", "show", "next.key", "--for", "Bert"])).toMatchObject({ code: 2 });
  expect(await place.run(["keys", "show", "no.key", "--for", "anna"])).toMatchObject({ code: 2 });
});

test("errors in a manifest are reported with their place", async () => {
  const wrong = await place.run(["manifest", "check", "-"], {
    input: '{"agent_id":"Anna","capabilities":[]}',
  });
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("/agent_id") });
  const json = await place.run(["manifest", "check", "-"], { input: "{" });
  expect(json).toMatchObject({ code: 2, stderr: expect.stringContaining("not JSON") });
  const unsigned = await place.run(["manifest", "sign", "-"], { input: "{}" });
  expect(unsigned).toMatchObject({ code: 2, stderr: expect.stringContaining("--with <key file>") });
});
