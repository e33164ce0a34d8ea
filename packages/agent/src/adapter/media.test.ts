/// <reference types="node" />
import { Buffer } from "node:buffer";
import { parseManifest } from "@waybill/protocol";
import type { Message, Takes } from "@waybill/protocol";
import { expect, test } from "vitest";
import { artifactOf } from "./artifact.ts";
import { filesIn, withFiles } from "./files.ts";
import { workFrom } from "./handoff-arguments.ts";
import { base64Of, mediaFrom, mediaIn, mediaOf, shownByUsers, sourceOf } from "./media.ts";
import { textMessage, toolCallPart, toolResultPart } from "./message.ts";

const image = { type: "image", media_type: "image/png", name: "a.png", data: "_-8" };

test("a data URL and a media part convert into each other, in either base64 alphabet", () => {
  const source = "data:image/png;base64,/+8=";
  expect(sourceOf(mediaOf(image)!)).toBe(source);
  expect(base64Of(mediaOf(image)!)).toBe("/+8=");
  expect(mediaFrom({ type: "image", source, name: "a.png" })).toEqual(image);
});

test("a URL stays a URL, with its known media type", () => {
  const source = "https://files.example/a";
  const part = { type: "image", media_type: "image/*", url: source };
  expect(mediaFrom({ type: "image", source })).toEqual(part);
  expect(sourceOf(mediaOf(part)!)).toBe(source);
  expect(mediaFrom({ type: "file", source, mediaType: "text/csv" })).toMatchObject({
    media_type: "text/csv",
  });
});

test("a data URL without base64 is converted to bytes too", () => {
  const part = {
    type: "file",
    media_type: "text/csv",
    data: Buffer.from("a,b").toString("base64url"),
  };
  expect(mediaFrom({ type: "file", source: "data:text/csv;charset=utf-8,a%2Cb" })).toEqual(part);
  expect(mediaFrom({ type: "file", source: "data:,a%2Cb", mediaType: "text/csv" })).toEqual(part);
  const encoded = "data:text/csv;charset=utf-8;base64,YSxi";
  expect(mediaFrom({ type: "file", source: encoded })).toEqual(part);
});

test.for([
  { type: "image", data: "AAAA" },
  { type: "audio", media_type: "audio/wav" },
  { type: "file", media_type: "text/csv", data: "AAAA", url: "https://files.example/a" },
])("the part %o is refused, not dropped", (part) => {
  expect(() => mediaOf(part)).toThrow(/can't be read/);
});

test("parts of other types are not media", () => {
  const content = [{ type: "text", text: "x" }, { type: "reasoning" }, image];
  expect(mediaIn({ role: "user", content })).toEqual([mediaOf(image)]);
});

test("media of an assistant become a user's turn under its name, after the results of its tools", () => {
  const call = toolCallPart({ id: "c1", name: "draw", arguments: {} });
  const result: Message = { role: "tool", content: [toolResultPart({ id: "c1", output: "x" })] };
  const text = { type: "text", text: "Look." };
  expect(
    shownByUsers([
      { role: "user", name: "anna", content: [image] },
      { role: "assistant", name: "painter", content: [text, image, call] },
      result,
      textMessage("user", "Nice."),
      { role: "assistant", content: [image] },
    ]),
  ).toEqual([
    { role: "user", name: "anna", content: [image] },
    { role: "assistant", name: "painter", content: [text, call] },
    result,
    { role: "user", name: "painter", content: [image] },
    textMessage("user", "Nice."),
    { role: "user", name: "assistant", content: [image] },
  ]);
});

test("a file that a message shows already is not added again", () => {
  const shown = artifactOf("a.png", "image/png", new Uint8Array([255, 239]));
  const other = artifactOf("b.csv", "text/csv", new Uint8Array([1]));
  const message: Message = { role: "user", content: [image] };
  expect(withFiles([message], [shown, other])).toEqual([
    {
      role: "user",
      content: [image, { type: "file", name: "b.csv", media_type: "text/csv", data: "AQ" }],
    },
  ]);
});

test("media of messages become files where no messages are sent, each of them once", () => {
  const shown = artifactOf("a.png", "image/png", new Uint8Array([255, 239]));
  const other = artifactOf("b.csv", "text/csv", new Uint8Array([1]));
  const elsewhere = { type: "image", media_type: "image/png", url: "https://files.example/a" };
  const message: Message = { role: "user", content: [image, image, elsewhere] };
  expect(filesIn([message, message])).toEqual([shown]);
  expect(filesIn([message], [other, shown])).toEqual([other, shown]);
  expect(filesIn([{ role: "user", content: [{ ...image, name: undefined }] }])).toEqual([
    { ...shown, name: "image" },
  ]);
});

test("a task or a value that a model hands off carries the media of the conversation", () => {
  const messages: Message[] = [{ role: "user", content: [image] }];
  const shown = artifactOf("a.png", "image/png", new Uint8Array([255, 239]));
  const other = artifactOf("b.csv", "text/csv", new Uint8Array([1]));
  const capability = (takes: Takes) =>
    parseManifest({ agent_id: "a", capabilities: [{ name: "see", takes }] }).capabilities[0]!;
  const given = { instruction: "Look." };
  expect(workFrom(given, capability("delegation"), messages, [other]).artifacts).toEqual([
    other,
    shown,
  ]);
  expect(workFrom({ input: 1 }, capability("structured"), messages).artifacts).toEqual([shown]);
  const talk = workFrom(given, capability("conversation"), messages, [other]);
  expect([talk.messages, talk.artifacts]).toEqual([messages, [other]]);
});
