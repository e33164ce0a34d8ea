/// <reference types="node" />
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { toBase64url, utf8 } from "#platform";
import { WaybillError } from "../error.ts";
import { generateKey, privateKeyFrom, publicKeyFrom, thumbprint } from "./key.ts";
import type { PrivateJwk } from "./key.ts";

function refusal(run: () => unknown): WaybillError {
  try {
    run();
  } catch (error) {
    if (WaybillError.is(error)) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
}

// RFC 8037, appendix A.1 to A.4.
const RFC8037 = {
  kty: "OKP",
  crv: "Ed25519",
  d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
} as const satisfies PrivateJwk;
const { d: _, ...RFC8037_PUBLIC } = RFC8037;

describe("a private key", () => {
  test("has the thumbprint and the signature of RFC 8037", () => {
    const key = privateKeyFrom(RFC8037);
    expect(key.kid).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    expect(thumbprint(key.publicKey)).toBe(key.kid);
    expect(key.jwk).toEqual(RFC8037_PUBLIC);
    const signature = key.sign(utf8("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"));
    expect(toBase64url(signature)).toBe(
      "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
    );
    expect(publicKeyFrom(key.jwk).verify(utf8("other"), signature)).toBe(false);
  });

  test("survives its JWK, and is new each time it is generated", () => {
    const key = generateKey();
    const again = privateKeyFrom(JSON.parse(JSON.stringify(key.privateJwk())) as PrivateJwk);
    expect(again.kid).toBe(key.kid);
    expect(publicKeyFrom(key.jwk).verify(utf8("m"), again.sign(utf8("m")))).toBe(true);
    expect(generateKey().kid).not.toBe(key.kid);
    expect(
      privateKeyFrom(bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")).kid,
    ).toBe(privateKeyFrom(RFC8037).kid);
  });

  test("does not show its secret when it is printed, spread or serialized", () => {
    const seed = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    const key = privateKeyFrom(seed);
    const shown = [
      inspect(key, { depth: 9, showHidden: true }),
      JSON.stringify(key),
      JSON.stringify({ ...key }),
      String(key.sign),
    ].join("\n");
    expect(shown).not.toContain(RFC8037.d.slice(0, 10));
    expect(shown).not.toContain("157, 97, 177");
    expect(shown).not.toContain("157,97,177");
    expect(shown).not.toContain("9d61b1");
    expect(shown).toContain(key.kid);
  });

  test("is not changed by later changes to its seed", () => {
    const seed = new Uint8Array(32).fill(7);
    const key = privateKeyFrom(seed);
    seed.fill(0);
    expect(privateKeyFrom(key.privateJwk()).kid).toBe(key.kid);
    expect(publicKeyFrom(key.jwk).verify(utf8("m"), key.sign(utf8("m")))).toBe(true);
  });

  test.each<[string, unknown]>([
    ["a short seed", new Uint8Array(31)],
    ["a long seed", new Uint8Array(64)],
    ["a public JWK", RFC8037_PUBLIC],
    ["a d of another length", { ...RFC8037, d: toBase64url(new Uint8Array(33)) }],
    ["a padded d", { ...RFC8037, d: `${RFC8037.d}=` }],
    ["another curve", { ...RFC8037, crv: "X25519" }],
    ["an x of another key", { ...RFC8037, x: generateKey().jwk.x }],
    ["no x", { kty: "OKP", crv: "Ed25519", d: RFC8037.d }],
    ["nothing", undefined],
  ])("is refused with 400 without repeating the secret: %s", (_name, source) => {
    const error = refusal(() => privateKeyFrom(source as PrivateJwk));
    expect(error.status).toBe(400);
    expect(error.message).not.toContain(RFC8037.d.slice(0, 8));
  });
});

describe("a public key", () => {
  test("is the same from its JWK, from a larger JWK, and from its bytes", () => {
    const key = generateKey();
    const message = utf8("work");
    for (const source of [key.jwk, { ...key.jwk, kid: "x", use: "sig" }, key.publicKey]) {
      const enrolled = publicKeyFrom(source);
      expect(enrolled).toMatchObject({ kid: key.kid, jwk: key.jwk, publicKey: key.publicKey });
      expect(Object.keys(enrolled.jwk)).toEqual(["kty", "crv", "x"]);
      expect(enrolled.verify(message, key.sign(message))).toBe(true);
      expect(enrolled.verify(message, generateKey().sign(message))).toBe(false);
    }
  });

  test("with a d is refused with a warning: it was about to be published", () => {
    const error = refusal(() => publicKeyFrom(RFC8037));
    expect(error).toMatchObject({ status: 400, at: "/d" });
    expect(error.message).toMatch(/private key/);
    expect(error.message).not.toContain(RFC8037.d.slice(0, 8));
  });

  const spellings = RFC8037.x;
  test.each<[string, unknown, string, RegExp]>([
    ["a string", RFC8037.x, "", /neither a JWK nor 32 bytes/],
    ["null", null, "", /neither/],
    ["kty EC", { ...RFC8037_PUBLIC, kty: "EC" }, "/kty", /kty is "EC"/],
    ["no kty", { crv: "Ed25519", x: RFC8037.x }, "/kty", /kty is undefined/],
    ["crv Ed448", { ...RFC8037_PUBLIC, crv: "Ed448" }, "/crv", /crv is "Ed448"/],
    ["x missing", { kty: "OKP", crv: "Ed25519" }, "/x", /strict/],
    ["x padded", { ...RFC8037_PUBLIC, x: `${spellings}=` }, "/x", /strict/],
    ["x with a newline", { ...RFC8037_PUBLIC, x: `${spellings}\n` }, "/x", /strict/],
    ["x in plain base64", { ...RFC8037_PUBLIC, x: spellings.replace("_", "/") }, "/x", /strict/],
    ["x with stray bits", { ...RFC8037_PUBLIC, x: spellings.replace(/o$/, "p") }, "/x", /strict/],
    ["x too short", { ...RFC8037_PUBLIC, x: toBase64url(new Uint8Array(31)) }, "/x", /31 bytes/],
    ["x too long", { ...RFC8037_PUBLIC, x: toBase64url(new Uint8Array(33)) }, "/x", /33 bytes/],
    ["x huge", { ...RFC8037_PUBLIC, x: "A".repeat(1e6) }, "/x", /strict/],
    ["bytes too short", new Uint8Array(31), "", /31 bytes/],
  ])("is refused with 401 and the reason: %s", (_name, source, at, reason) => {
    const error = refusal(() => publicKeyFrom(source));
    expect(error.status).toBe(401);
    expect(error.at ?? "").toBe(at);
    expect(error.message).toMatch(reason);
  });

  test.each([
    ["the identity", `01${"00".repeat(31)}`, /small order/],
    ["order 2", `ec${"ff".repeat(30)}7f`, /small order/],
    ["order 4", "00".repeat(32), /small order/],
    ["order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", /small order/],
    [
      "order 8, other sign",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
      /small order/,
    ],
    ["p + 1, which is 1 again", `ee${"ff".repeat(30)}7f`, /canonical/],
    ["the identity with a sign", `01${"00".repeat(30)}80`, /canonical/],
    ["above p", "ff".repeat(32), /canonical/],
    ["not on the curve", `02${"00".repeat(31)}`, /on the curve/],
  ])("of an unsafe point is refused with 401: %s (HARDENING 1, 3)", (_name, hex, reason) => {
    for (const source of [bytes(hex), { kty: "OKP", crv: "Ed25519", x: toBase64url(bytes(hex)) }]) {
      const error = refusal(() => publicKeyFrom(source));
      expect(error.status).toBe(401);
      expect(error.message).toMatch(reason);
    }
  });

  test("with a torsion component is refused with 401", async () => {
    const { Point } = await import("@noble/ed25519");
    const torsion = Point.fromHex(
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    );
    for (let factor = 1n; factor < 8n; factor++) {
      const mixed = Point.fromBytes(generateKey().publicKey)
        .add(torsion.multiply(factor))
        .toBytes();
      const error = refusal(() => publicKeyFrom(mixed));
      expect(error.status).toBe(401);
      expect(error.message).toMatch(/torsion/);
    }
  });
});
