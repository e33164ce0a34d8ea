import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { faultsOf, writeSbom } from "./sbom.mjs";

const sound = {
  group: "@noble",
  name: "ed25519",
  version: "3.0.0",
  purl: "pkg:npm/%40noble/ed25519@3.0.0",
  externalReferences: [{ hashes: [{ alg: "SHA-512", content: "00" }] }],
};

test("the bill of materials lists what the published packages install", () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-sbom-"));
  try {
    const file = join(folder, "sbom.json");
    const count = writeSbom(file);
    const { bomFormat, specVersion, components } = JSON.parse(readFileSync(file, "utf8"));
    assert.equal(bomFormat, "CycloneDX");
    assert.equal(specVersion, "1.6");
    assert.equal(components.length, count);
    const names = new Set(components.map(({ group, name }) => (group ? `${group}/${name}` : name)));
    for (const name of ["zod", "@noble/ed25519", "fastify", "ws"]) assert.ok(names.has(name), name);
    for (const tool of ["vitest", "oxlint"]) assert.ok(!names.has(tool), tool);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a component without version, package URL or hash is a fault", () => {
  assert.deepEqual(faultsOf([sound]), []);
  assert.deepEqual(faultsOf([{ ...sound, version: undefined }]), [
    "  @noble/ed25519 has no version",
  ]);
  assert.deepEqual(faultsOf([{ ...sound, purl: "" }]), ["  @noble/ed25519 has no package URL"]);
  assert.deepEqual(faultsOf([{ ...sound, externalReferences: [] }]), [
    "  @noble/ed25519 has no SHA-512",
  ]);
});
