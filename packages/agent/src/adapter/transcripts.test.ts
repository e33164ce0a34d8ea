import { expect, test } from "vitest";
import { textMessage } from "./message.ts";
import { Transcripts } from "./transcripts.ts";

const said = (text: string) => [textMessage("user", text)];
const ROOM = { conversations: 1_000, characters: 1_000_000 };

test("earlier turns are returned in order, and a retried turn once", () => {
  const transcripts = new Transcripts(ROOM);
  expect(transcripts.before("a", "1")).toBeUndefined();
  transcripts.keep("a", "1", said("one"));
  expect(transcripts.before("a", "1")).toBeUndefined();
  transcripts.keep("a", "2", said("two"));
  transcripts.keep("a", "1", said("one again"));
  expect(transcripts.before("a", "3")).toEqual([...said("one again"), ...said("two")]);
  expect(transcripts.before("b", "3")).toBeUndefined();
});

test("a million sessions stay within the budget: the least recently used are forgotten", () => {
  const transcripts = new Transcripts({ ...ROOM, conversations: 100 });
  transcripts.keep("kept", "1", said("one"));
  for (let number = 0; number < 1_000_000; number++) {
    if (number % 50 === 0) transcripts.keep("kept", "1", said("one"));
    transcripts.keep(`session ${number}`, "1", []);
  }
  expect(transcripts.before("kept", "2")).toEqual(said("one"));
  expect(transcripts.before("session 999999", "2")).toEqual([]);
  expect(transcripts.before("session 999000", "2")).toBeUndefined();
});

test("long conversations are forgotten before their sum exceeds the budget", () => {
  const transcripts = new Transcripts({ ...ROOM, characters: 10_000 });
  const long = said("x".repeat(6_000));
  transcripts.keep("a", "1", long);
  transcripts.keep("b", "1", long);
  expect(transcripts.before("a", "2")).toBeUndefined();
  expect(transcripts.before("b", "2")).toEqual(long);
  // A conversation that exceeds the budget alone is not kept either.
  transcripts.keep("b", "2", long);
  expect(transcripts.before("b", "3")).toBeUndefined();
  transcripts.keep("c", "1", said("short"));
  expect(transcripts.before("c", "2")).toEqual(said("short"));
});
