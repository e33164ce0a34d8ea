import { expect, test } from "vitest";
import type { WaybillError } from "../error.ts";
import { digestOf } from "../signing/digest.ts";
import {
  blobKeptUntil,
  blobPath,
  blobsIn,
  blobUploadPath,
  checkBlob,
  checkBlobPart,
  checkNamedBlob,
  checkUploadedBlob,
  readBlobUpload,
  readContentRange,
  readProblem,
  readRange,
  shapes,
  writeBlobUpload,
  writeContentRange,
  writeProblem,
} from "../wire.ts";
import { NOW, read, readWith, refusal, SOUND, statusOf } from "./rules-fixture.ts";

const DIGEST = digestOf("abc");
const OTHER = digestOf("abd");

function sent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test("WB-250 a part names its first byte, its last byte and the size of the whole", () => {
  expect(blobPath(DIGEST)).toBe(`/v1/blobs/${DIGEST}`);
  expect(blobUploadPath(DIGEST)).toBe(`/v1/blobs/${DIGEST}/upload`);
  for (const [text, first, end, size] of [
    ["bytes 0-0/1", 0, 1, 1],
    ["bytes 0-9/10", 0, 10, 10],
    ["bytes 7-9/5368709120", 7, 10, 5_368_709_120],
  ] as const) {
    expect(readContentRange(text)).toEqual({ first, end, size });
    expect(writeContentRange({ first, end, size })).toBe(text);
  }
  for (const wrong of [
    "",
    "bytes",
    "bytes */10",
    "bytes 0-9/*",
    "bytes 0-10/10",
    "bytes 9-8/10",
    "bytes -1-8/10",
    "bytes=0-9/10",
    "Bytes 0-9/10",
    "bytes 0-9/10 ",
    "bytes 0x0-9/10",
    "bytes 0-9/99999999999999999",
    "bytes 0-9/9007199254740992",
  ]) {
    expect(
      statusOf(() => readContentRange(wrong)),
      wrong,
    ).toBe(400);
  }
});

test("WB-250 a part that does not begin where the hub's bytes end is refused with 409 and their number", () => {
  const upload = { received: 5, size: 10 };
  const part = (first: number, size: number) => () => checkBlobPart({ first, size }, upload);
  expect(statusOf(part(5, 10))).toBe("taken");
  // From the first byte the upload starts over, also with another size.
  for (const size of [10, 11]) expect(statusOf(part(0, size))).toBe("taken");
  for (const [first, size] of [
    [4, 10],
    [6, 10],
    [5, 11],
    [5, 9],
  ] as const) {
    expect(statusOf(part(first, size))).toBe(409);
    let thrown: unknown;
    try {
      part(first, size)();
    } catch (error) {
      thrown = error;
    }
    const problem = writeProblem(thrown as WaybillError);
    expect(problem.received).toBe(5);
    expect(shapes().problem.safeParse(sent(problem)).success).toBe(true);
    expect(readProblem(sent(problem)).received).toBe(5);
  }
  expect(statusOf(() => checkBlobPart({ first: 3, size: 10 }, { received: 0 }))).toBe(409);
});

test("WB-250 a hub says how much of an upload has arrived", () => {
  for (const upload of [
    { received: 0, size: undefined, isComplete: false },
    { received: 5, size: 10, isComplete: false },
    { received: 10, size: 10, isComplete: true },
  ]) {
    expect(readBlobUpload(sent(writeBlobUpload(upload)))).toEqual(upload);
  }
  for (const wrong of [null, {}, { received: -1, complete: true }, { received: 1 }]) {
    expect(statusOf(() => readBlobUpload(wrong))).toBe(400);
  }
});

test("WB-251 an upload whose bytes have another digest is refused with 400", () => {
  expect(statusOf(() => checkUploadedBlob(DIGEST, DIGEST))).toBe("taken");
  expect(statusOf(() => checkUploadedBlob(DIGEST, OTHER))).toBe(400);
});

test("WB-252 a blob that the sender may not name is refused with 403, and one of another size with 400", () => {
  const blob = { name: "a", media_type: "a/b", digest: DIGEST };
  const artifacts = [
    { name: "b", media_type: "a/b", digest: DIGEST, data: "YWJj" },
    { ...blob, size: 3 },
    { ...blob, size: 3 },
    { ...blob, size: 4 },
    { ...blob, digest: OTHER, size: 3 },
  ];
  for (const kind of ["handoff", "result"] as const) {
    const { envelope } = readWith(kind, { body: { ...SOUND[kind].body, artifacts } });
    expect(blobsIn(envelope)).toEqual([
      { digest: DIGEST, size: 3, at: "/body/artifacts/1" },
      { digest: DIGEST, size: 4, at: "/body/artifacts/3" },
      { digest: OTHER, size: 3, at: "/body/artifacts/4" },
    ]);
  }
  expect(blobsIn(read(SOUND.handoff).envelope)).toEqual([]);
  const named = { digest: DIGEST, size: 3, at: "/body/artifacts/0" };
  expect(statusOf(() => checkNamedBlob(named, 3))).toBe("taken");
  expect(refusal(() => checkNamedBlob(named, undefined))).toEqual({ status: 403, at: named.at });
  for (const size of [0, 2, 4]) {
    expect(refusal(() => checkNamedBlob(named, size))).toEqual({
      status: 400,
      at: "/body/artifacts/0/size",
    });
  }
});

test("WB-253 a part of a blob is requested by Range, and several ranges return the whole", () => {
  for (const [header, first, end] of [
    ["bytes=0-0", 0, 1],
    ["bytes=2-4", 2, 5],
    ["bytes=2-", 2, 10],
    ["bytes=2-99", 2, 10],
    ["bytes=-3", 7, 10],
    ["bytes=-99", 0, 10],
  ] as const) {
    expect(readRange(header, 10)).toEqual({ first, end, size: 10 });
  }
  for (const whole of [undefined, "", "bytes=0-1,3-4", "lines=1-2", "bytes=4-2", "bytes=-"]) {
    expect(readRange(whole, 10)).toBeUndefined();
  }
  for (const outside of ["bytes=10-", "bytes=10-12", "bytes=-0"]) {
    expect(statusOf(() => readRange(outside, 10))).toBe(400);
  }
});

test("WB-254 a blob is kept while a handoff that names it is open, and for a time after its end", () => {
  expect(blobKeptUntil(null, 1_000)).toBeUndefined();
  expect(blobKeptUntil(NOW, 1_000)).toBe(NOW + 1_000);
});

test("WB-255 bytes that are not the blob named by an artifact are refused with 422", () => {
  const named = { digest: DIGEST, size: 3 };
  expect(statusOf(() => checkBlob(named, named))).toBe("taken");
  for (const wrong of [
    { digest: OTHER, size: 3 },
    { digest: DIGEST, size: 2 },
    { digest: DIGEST, size: 4 },
  ]) {
    expect(statusOf(() => checkBlob(named, wrong))).toBe(422);
  }
});
