/// <reference types="node" />
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { signCompactBatch } from "../hub.ts";
import {
  digestOf,
  digestOfJws,
  isAgentId,
  isDigest,
  isId,
  isTime,
  newId,
  parseJson,
  parseManifest,
  parseTime,
  publicKeyFrom,
  readCompact,
} from "../index.ts";
import {
  base64url,
  editor,
  handoff,
  headerOf,
  NOW,
  readWith,
  RE,
  seal,
  signRaw,
  statusOf,
  time,
  verify,
} from "./rules-fixture.ts";

const PAYLOAD = JSON.stringify(handoff());

test("WB-01 a payload that is not UTF-8 is refused with 400, although its signature is valid", () => {
  expect(statusOf(() => verify(seal(PAYLOAD)))).toBe("taken");
  const [before, after] = PAYLOAD.split("waybills").map((part) => Buffer.from(part));
  const faults = ["ff", "c080", "e282", "eda080", "f8a1a1a1a1", "80", "f4908080"];
  for (const fault of faults) {
    const bytes = Buffer.concat([before!, Buffer.from(fault, "hex"), after!]);
    for (const reader of [verify, readCompact]) {
      expect(
        statusOf(() => reader(seal(bytes))),
        fault,
      ).toBe(400);
    }
  }
  const good = Buffer.concat([before!, Buffer.from("ü€😀"), after!]);
  expect(statusOf(() => verify(seal(good)))).toBe("taken");
});

test("WB-02 every part of an envelope has one encoding, and any other is refused with 400", () => {
  // Three bytes more or less, so that each part ends in padding for one of the payloads.
  for (const blanks of ["", " ", "  "]) {
    const header = base64url(headerOf(editor));
    const payload = base64url(PAYLOAD + blanks);
    expect(statusOf(() => verify(signRaw(`${header}.${payload}`)))).toBe("taken");
    for (const other of otherSpellings(payload)) {
      expect(
        statusOf(() => verify(signRaw(`${header}.${other}`))),
        other.slice(-8),
      ).toBe(400);
    }
    for (const other of otherSpellings(header)) {
      expect(
        statusOf(() => verify(signRaw(`${other}.${payload}`))),
        other.slice(-8),
      ).toBe(400);
    }
    const [signingInput, signature] = splitSignature(signRaw(`${header}.${payload}`));
    for (const other of otherSpellings(signature)) {
      expect(
        statusOf(() => verify(`${signingInput}.${other}`)),
        other.slice(-8),
      ).toBe(400);
    }
  }
  for (const x of otherSpellings(editor.jwk.x)) {
    expect(
      statusOf(() => publicKeyFrom({ ...editor.jwk, x })),
      x,
    ).not.toBe("taken");
  }
});

function splitSignature(text: string): [string, string] {
  const dot = text.lastIndexOf(".");
  return [text.slice(0, dot), text.slice(dot + 1)];
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Texts that a lenient decoder takes for the same bytes, and one of an impossible length. */
function otherSpellings(text: string): string[] {
  const start = text.slice(0, -1);
  const last = ALPHABET.indexOf(text.at(-1)!);
  const hasUnusedBits = text.length % 4 > 0;
  return [
    `${text}=`,
    `${text}==`,
    `${text} `,
    ` ${text}`,
    `${text}\n`,
    `${text.slice(0, 8)}\n${text.slice(8)}`,
    text.padEnd(text.length + ((5 - (text.length % 4)) % 4), "A"),
    ...(hasUnusedBits ? [start + ALPHABET[last + 1]!] : []),
    ...[text.replace("-", "+"), text.replace("_", "/")].filter((other) => other !== text),
  ];
}

test("WB-03 a digest is sha256: and the lower-case hex of the string's UTF-8", () => {
  const abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(digestOf("abc")).toBe(abc);
  const wide = "sha256:bec2d3e7c2047c817dc4c8c4e13f7a4801bb0c7f8798e3ac3e2fd65d71cb4993";
  expect(digestOf("ü€😀")).toBe(wide);
  const others = [abc.toUpperCase(), abc.slice(7), abc.slice(0, -1), `${abc}0`, `md5:${abc}`];
  for (const other of [...others, abc.replace("sha256:", "SHA256:"), `${abc}\n`]) {
    expect(isDigest(other), other).toBe(false);
    expect(
      statusOf(() => readWith("answer", { re: other })),
      other,
    ).toBe(400);
  }
  expect(isDigest(abc)).toBe(true);
});

test("WB-03 the digest of an envelope is that of its key and its payload, however it is signed", () => {
  const leaf = createHash("sha256").update(`\0${editor.kid}\n${PAYLOAD}`).digest("hex");
  const [inBatch, other] = signCompactBatch([PAYLOAD, PAYLOAD.replace("{", "{ ")], editor);
  for (const text of [seal(PAYLOAD), inBatch!]) {
    expect(verify(text).digest).toBe(`sha256:${leaf}`);
    expect(digestOfJws(text)).toBe(`sha256:${leaf}`);
  }
  expect(verify(other!).digest).not.toBe(`sha256:${leaf}`);
  expect(readWith("answer", { re: RE }).envelope).toMatchObject({ re: RE });
});

test("WB-04 an id in any spelling but the canonical one of a UUIDv7 is refused with 400", () => {
  const id = newId(NOW);
  const spellings = [
    id.toUpperCase(),
    id.replaceAll("-", ""),
    `{${id}}`,
    `urn:uuid:${id}`,
    ` ${id}`,
    `${id}\n`,
    "0f8fad5b-d9cb-469f-a165-70867728950e",
    `${id.slice(0, 19)}7${id.slice(20)}`,
    `${id.slice(0, 19)}c${id.slice(20)}`,
    `${id.slice(0, 24)}${id.slice(25)}`,
    "",
    7,
  ];
  for (const wrong of spellings) {
    expect(isId(wrong), String(wrong)).toBe(false);
    for (const member of ["id", "handoff_id", "correlation_id", "parent_id", "replay_of"]) {
      expect(
        statusOf(() => readWith("handoff", { [member]: wrong })),
        member,
      ).toBe(400);
    }
    const group = { id: wrong, index: 0, size: 1, join: "all" };
    expect(
      statusOf(() => readWith("handoff", { group })),
      "group",
    ).toBe(400);
  }
  expect(isId(id)).toBe(true);
  const members = { parent_id: id, replay_of: id, group: { id, index: 0, size: 1, join: "all" } };
  expect(statusOf(() => readWith("handoff", members))).toBe("taken");
});

test("WB-05 an agent id that could be mistaken for another one is refused with 400", () => {
  const wrong = [
    "Editor-001",
    "\u0435ditor-001",
    "edit\u00f6r",
    "editor-001 ",
    "editor 001",
    "editor/001",
    "editor@001",
    "editor-001\n",
    "-editor",
    "editor-",
    ".editor",
    "editor.",
    "_editor",
    "editor_",
    "a".repeat(129),
    "",
    7,
  ];
  for (const id of wrong) {
    expect(isAgentId(id), String(id)).toBe(false);
    expect(
      statusOf(() => readWith("handoff", { from: id })),
      String(id),
    ).toBe(400);
    expect(
      statusOf(() => readWith("handoff", { to: id })),
      String(id),
    ).toBe(400);
    expect(
      statusOf(() => readWith("cancel", { to: id })),
      String(id),
    ).toBe(400);
    expect(
      statusOf(() => parseManifest({ agent_id: id, capabilities: [] })),
      String(id),
    ).toBe(400);
  }
  for (const id of ["a", "7", "a.b_c-9", "a".repeat(128)]) {
    expect(isAgentId(id)).toBe(true);
    expect(statusOf(() => readWith("handoff", { to: id }))).toBe("taken");
    expect(statusOf(() => parseManifest({ agent_id: id, capabilities: [] }))).toBe("taken");
  }
});

test("WB-06 a time that is not UTC, or not in the calendar, is refused with 400", () => {
  const wrong = [
    "2026-02-30T00:00:00Z",
    "2027-02-29T00:00:00Z",
    "2100-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-11-00T00:00:00Z",
    "2026-11-18T24:00:00Z",
    "2026-11-18T23:60:00Z",
    "2026-11-18T23:59:60Z",
    "2026-11-18T08:00:00",
    "2026-11-18T08:00:00+00:00",
    "2026-11-18T08:00:00-01:00",
    "2026-11-18t08:00:00Z",
    "2026-11-18T08:00:00z",
    "2026-11-18 08:00:00Z",
    "2026-11-18T08:00Z",
    "2026-11-18T08:00:00.Z",
    "2026-11-18T08:00:00,5Z",
    "2026-11-18T08:00:00.0123456789Z",
    "2026-11-18",
    "+02026-11-18T08:00:00Z",
    1_795_000_000,
  ];
  const manifest = (not_before: unknown) => ({
    agent_id: "a",
    capabilities: [],
    keys: [{ ...editor.jwk, not_before }],
  });
  for (const text of wrong) {
    expect(isTime(text), String(text)).toBe(false);
    expect(
      statusOf(() => readWith("handoff", { issued_at: text })),
      String(text),
    ).toBe(400);
    expect(
      statusOf(() => readWith("handoff", { deadline: text })),
      String(text),
    ).toBe(400);
    expect(
      statusOf(() => parseManifest(manifest(text))),
      String(text),
    ).toBe(400);
  }
  const right = [
    "2028-02-29T23:59:59Z",
    "2026-11-18T08:00:00.5Z",
    "2026-11-18T08:00:00.123456789Z",
  ];
  for (const text of right) {
    expect(parseTime(text), text).toBe(Math.trunc(Date.parse(text)));
    expect(
      statusOf(() => parseManifest(manifest(text))),
      text,
    ).toBe("taken");
  }
  expect(statusOf(() => readWith("handoff", { deadline: time(5) }))).toBe("taken");
});

test("WB-07 a duplicate member is refused with 400, in any spelling", () => {
  const twice = [
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '{"a":1,"\\u0061":2}',
    '{"\\u0061":1,"\\u0061":2}',
    '{"":1,"":2}',
    '{"\\"":1,"\\u0022":2}',
    '[{"b":{"a":{},"a":[]}}]',
  ];
  for (const text of twice)
    expect(
      statusOf(() => parseJson(text)),
      text,
    ).toBe(400);
  expect(parseJson('[{"a":1},{"a":{"a":2}},{"A":1,"a":2}]')).toHaveLength(3);
  const doubled = PAYLOAD.replace('"kind":"handoff"', '"kind":"cancel","kind":"handoff"');
  expect(statusOf(() => verify(seal(doubled)))).toBe(400);
});

test("WB-08 __proto__, constructor and prototype are refused with 400 at any depth and in any spelling", () => {
  for (const name of ["__proto__", "constructor", "prototype"]) {
    const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}`;
    for (const spelling of [name, escaped]) {
      for (const text of [`{"${spelling}":1}`, `[[{"a":{"${spelling}":{}}}]]`]) {
        expect(
          statusOf(() => parseJson(text)),
          text,
        ).toBe(400);
      }
      const hidden = PAYLOAD.replace('"query"', `"${spelling}"`);
      expect(
        statusOf(() => verify(seal(hidden))),
        spelling,
      ).toBe(400);
    }
    expect(parseJson(`["${name}",{"${name}s":"${name}"}]`)).toHaveLength(2);
  }
});

test("WB-09 JSON deeper than 64 is refused with 413, without recursion", () => {
  const list = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const object = (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
  for (const text of [list(64), object(64), `{"a":${list(63)}}`]) {
    expect(statusOf(() => parseJson(text))).toBe("taken");
  }
  // The last two are not closed: depth is checked before syntax.
  const tooDeep = [list(65), object(65), `{"a":${list(64)}}`, list(400_000), "[".repeat(65)];
  for (const text of [...tooDeep, '{"a":['.repeat(150_000)]) {
    expect(
      statusOf(() => parseJson(text)),
      text.slice(0, 20),
    ).toBe(413);
  }
  expect(parseJson(`["${"[".repeat(100)}"]`)).toHaveLength(1);
});

test("WB-10 a number that a double can't hold is refused with 400", () => {
  const over = [
    "9007199254740992",
    "-9007199254740992",
    "10000000000000000000000",
    "1".repeat(400),
  ];
  const infinite = ["1e400", "-1e400", "1.5e309", `${"1".repeat(400)}.0`, "1E+999"];
  for (const number of [...over, ...infinite]) {
    for (const text of [number, `{"a":[${number}]}`, `{"\\u0061":${number}}`]) {
      expect(
        statusOf(() => parseJson(text)),
        text.slice(0, 30),
      ).toBe(400);
    }
  }
  const held = ["9007199254740991", "-9007199254740991", "1e300", "9007199254740993.0"];
  for (const text of held) expect(parseJson(text)).toBe(Number(text));
});

test("WB-10 a number that is not whole but whole as a double is refused with 400", () => {
  const lost = [
    "1.0000000000000001",
    "-1.0000000000000001",
    "0.99999999999999999",
    "10000000000000001e-16",
    "9007199254740993.5",
    "1e-400",
    "-1E-400",
    "0.1e-999999999999999999999",
    `0.${"0".repeat(400)}1`,
  ];
  for (const number of lost) {
    expect(Number.isInteger(Number(number)), number).toBe(true);
    for (const text of [number, `{"a":[${number}]}`, `[0.5,${number}]`, `{"\\u0061":${number}}`]) {
      expect(
        statusOf(() => parseJson(text)),
        text.slice(0, 40),
      ).toBe(400);
    }
  }
  const whole = ["1.0", "-1.000", "1e3", "1.5e1", "120e-1", "0.0", "0e-400", "1e22", "4.50E+1"];
  const fractions = ["1.0000000000000002", "0.1", "5e-324", "1.5e0", "123456789012345.6"];
  for (const text of [...whole, ...fractions]) expect(parseJson(text)).toBe(Number(text));
});

test("WB-11 a lone surrogate, U+0000 and a byte order mark are refused with 400", () => {
  const faults = [
    "\\ud800",
    "\\uDC00",
    "a\\udc00\\ud800",
    "\\ud800\\u0041",
    "\\u0000",
    "a\\u0000b",
  ];
  for (const fault of [...faults, "\ud800", "\udc00b", "\0"]) {
    for (const text of [`"${fault}"`, `{"a":["${fault}"]}`, `{"${fault}":1}`]) {
      expect(
        statusOf(() => parseJson(text)),
        JSON.stringify(text),
      ).toBe(400);
    }
  }
  expect(parseJson('"\\ud83d\\ude00 \\\\u0000 😀"')).toBe("😀 \\u0000 😀");
  expect(statusOf(() => parseJson("\ufeff{}"))).toBe(400);
  expect(statusOf(() => verify(seal(`\ufeff${PAYLOAD}`)))).toBe(400);
  expect(parseJson('"\ufeff"')).toBe("\ufeff");
});
