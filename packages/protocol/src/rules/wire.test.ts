/// <reference types="node" />
import { expect, test } from "vitest";
import {
  digestOfJws,
  generateKey,
  LIMITS,
  readCompact,
  signCompact,
  signEnvelope,
  signEnvelopes,
} from "../index.ts";
import {
  base64url,
  editor,
  handoff,
  headerOf,
  researcher,
  seal,
  signRaw,
  SOUND,
  statusOf,
  stranger,
  verify,
} from "./rules-fixture.ts";

const { kid, jwk } = editor;
const PAYLOAD = JSON.stringify(handoff());

function withHeader(header: string): string {
  return signRaw(`${base64url(header)}.${base64url(PAYLOAD)}`);
}

test("WB-18 a header that is not the exact text for its algorithm and key is refused with 400", () => {
  expect(statusOf(() => verify(withHeader(headerOf(editor))))).toBe("taken");
  const typ = "waybill+jws";
  const others: unknown[] = [
    { alg: "none", kid, typ },
    { alg: "EdDSA", kid, typ },
    { alg: "HS256", kid, typ },
    { alg: "ed25519", kid, typ },
    { alg: "Ed25519", kid },
    { alg: "Ed25519", typ },
    { kid, typ },
    {},
    { alg: "Ed25519", kid, typ: "JWT" },
    { alg: "Ed25519", kid: "k", typ },
    { alg: "Ed25519", kid: `${kid}A`, typ },
    { alg: "Ed25519", kid: kid.slice(0, -1), typ },
    { alg: "Ed25519", typ, kid },
    { kid, alg: "Ed25519", typ },
    { alg: "Ed25519", kid, typ, crit: ["exp"] },
    { alg: "Ed25519", kid, typ, jwk },
    { alg: "Ed25519", kid, typ, jku: "https://example.com" },
    { alg: "Ed25519", kid, typ, b64: false },
    { alg: ["Ed25519"], kid, typ },
    null,
    [],
  ];
  const spellings = [
    `${headerOf(editor)} `,
    ` ${headerOf(editor)}`,
    headerOf(editor).replace(":", ": "),
    headerOf(editor).replace("alg", "\\u0061lg"),
    headerOf(editor).replace("waybill+jws", "waybill\\u002bjws"),
    headerOf(editor).replace('"kid"', '"alg":"none","kid"'),
    headerOf(editor).slice(0, -1),
    "",
  ];
  for (const header of [...others.map((other) => JSON.stringify(other)), ...spellings]) {
    expect(
      statusOf(() => verify(withHeader(header))),
      header,
    ).toBe(400);
  }
});

test("WB-19 an envelope over 1,048,576 bytes is refused with 413, before it is decoded", () => {
  const limits = { ...LIMITS, envelopeBytes: 2 * LIMITS.envelopeBytes };
  const body = (blanks: number) => JSON.stringify(handoff()) + " ".repeat(blanks);
  const overhead = signCompact(body(0), editor).length;
  // Four characters of base64url encode three bytes, so one more space adds one or two characters.
  let blanks = Math.floor(((1_048_576 - overhead) * 3) / 4);
  while (signCompact(body(blanks), editor, limits).length <= 1_048_576) blanks++;
  const largest = signCompact(body(blanks - 1), editor);
  expect(largest.length).toBeGreaterThan(1_048_573);
  expect(statusOf(() => verify(largest))).toBe("taken");
  const tooLarge = signCompact(body(blanks), editor, limits);
  expect(statusOf(() => verify(tooLarge))).toBe(413);
  expect(statusOf(() => signCompact(body(blanks), editor))).toBe(413);
  // A text that is no envelope is not parsed either: beyond the limit it is 413, below it 400.
  expect(statusOf(() => verify("x".repeat(1_048_577)))).toBe(413);
  expect(statusOf(() => verify("x".repeat(1_048_576)))).toBe(400);
  expect(statusOf(() => verify("é".repeat(524_289)))).toBe(413);
  expect(statusOf(() => verify("é".repeat(524_288)))).toBe(400);
});

test("WB-20 a signature that does not verify is refused with 401", () => {
  const text = seal(PAYLOAD);
  const [header, , signature] = text.split(".") as [string, string, string];
  const changed = PAYLOAD.replace("waybills", "weybills");
  expect(statusOf(() => verify(`${header}.${base64url(changed)}.${signature}`))).toBe(401);
  const bytes = Buffer.from(signature, "base64url");
  for (const bit of [0, 100, 255, 256, 300, 500]) {
    const other = new Uint8Array(bytes);
    other[bit >> 3]! ^= 1 << (bit & 7);
    const forged = `${text.slice(0, text.lastIndexOf("."))}.${base64url(other)}`;
    expect(
      statusOf(() => verify(forged)),
      `bit ${bit}`,
    ).toBe(401);
  }
  const byAnother = signRaw(text.slice(0, text.lastIndexOf(".")), researcher);
  expect(statusOf(() => verify(byAnother))).toBe(401);
});

test("WB-20 a signature part of a length that its algorithm can't have is refused with 400", () => {
  const text = seal(PAYLOAD);
  const signingInput = text.slice(0, text.lastIndexOf("."));
  for (const length of [0, 1, 32, 63, 65, 128]) {
    const other = `${signingInput}.${base64url(new Uint8Array(length))}`;
    expect(
      statusOf(() => verify(other)),
      `${length} bytes`,
    ).toBe(400);
  }
  expect(statusOf(() => verify(`${signingInput}.${base64url(new Uint8Array(64))}`))).toBe(401);
});

test("WB-20 a kid that belongs to no enrolled key is refused with 401", () => {
  for (const key of [stranger, generateKey()]) {
    expect(statusOf(() => verify(seal(PAYLOAD, key)))).toBe(401);
  }
});

test("WB-21 a reader verifies before it parses: a forged envelope is 401, whatever is in it", () => {
  const { signature } = readCompact(seal(PAYLOAD));
  for (const payload of ["{", "null", "[".repeat(100), '{"waybill":2}', '{"a":1,"a":2}']) {
    const forged = `${base64url(headerOf(editor))}.${base64url(payload)}.${base64url(signature)}`;
    expect(
      statusOf(() => verify(forged)),
      payload,
    ).toBe(401);
    expect(
      statusOf(() => verify(seal(payload))),
      payload,
    ).not.toBe(401);
  }
});

test("WB-21 the text is kept as it came, and never re-encoded for its digest", () => {
  const { id, ...members } = handoff();
  const payload = ` {"new":[1.0,1e2], "id" :"\\u0030${id.slice(1)}",${JSON.stringify(members).slice(1)}\n`;
  const text = seal(payload);
  const verified = verify(text);
  expect(verified.text).toBe(text);
  expect(verified.digest).toBe(digestOfJws(text));
  expect(verified.envelope.id).toBe(`0${id.slice(1)}`);
  // The digest of a new encoding would name nothing that was ever signed.
  expect(verified.digest).not.toBe(digestOfJws(seal(JSON.stringify(verified.envelope))));
});

test("WB-24 every reader accepts both algorithms, and a lone envelope is signed alone", () => {
  const receipt = SOUND.receipt;
  const alone = signEnvelopes([receipt], editor).map(({ text }) => text);
  expect(alone).toEqual([signEnvelope(receipt, editor)]);
  expect(readCompact(alone[0]).alg).toBe("Ed25519");
  const batch = signEnvelopes([receipt, handoff(), receipt], editor).map(({ text }) => text);
  expect(batch.map((text) => readCompact(text).alg)).toEqual(Array(3).fill("Ed25519-batch"));
  for (const text of [...alone, ...batch]) {
    expect(statusOf(() => verify(text))).toBe("taken");
    expect(statusOf(() => readCompact(text))).toBe("taken");
  }
});
