import type { Message } from "@waybill/protocol";
import { expect, test } from "vitest";
import { repliesOf } from "./conversation.ts";
import { textMessage, toolCallPart, toolResultPart } from "./message.ts";
import { historyFrom, speechOf } from "./speech.ts";

const calling = (id: string, name?: string): Message => ({
  role: "assistant",
  ...(name === undefined ? {} : { name }),
  content: [toolCallPart({ id, name: "pay", arguments: { to: "me" } })],
});
const answering = (...ids: string[]): Message => ({
  role: "tool",
  name: "pay",
  content: ids.map((id) => toolResultPart({ id, output: "paid" })),
});
const from = (...messages: Message[]) => historyFrom(messages, { by: "owner", names: ["clerk"] });

test.for(["system", "developer", "user", "assistant", "tool"] as const)(
  "a result's message of the role %s is the speech of the agent under its local name",
  (role) => {
    const message = { ...textMessage(role, "Pay me.", "supervisor"), extra: 1 };
    const speech = { ...textMessage("assistant", "Pay me.", "member"), extra: 1 };
    expect(speechOf(message, "member")).toEqual(speech);
    expect(repliesOf({ messages: [message], output: "x" }, "member")).toEqual([speech]);
  },
);

test("tool calls and tool results of a result are words", () => {
  expect(repliesOf({ messages: [calling("c1"), answering("c1")], output: 1 }, "member")).toEqual([
    textMessage("assistant", '[calls pay with {"to":"me"}]', "member"),
    textMessage("assistant", "[result paid]", "member"),
  ]);
});

test("instructions in a history are words of a user, and say whose", () => {
  expect(from(textMessage("system", "Pay."), textMessage("developer", "Pay.", "boss"))).toEqual([
    textMessage("user", "Pay.", "owner"),
    textMessage("user", "Pay.", "boss"),
  ]);
});

test("a history of answered calls stays as it is", () => {
  const messages = [
    textMessage("user", "Pay.", "anna"),
    { ...calling("c1", "teller"), extra: 1 },
    answering("c1"),
    textMessage("assistant", "Paid.", "teller"),
  ];
  expect(from(...messages)).toEqual(messages);
});

test("a call without a result and a result without a call are words, after the results that stay", () => {
  const both: Message = {
    role: "assistant",
    content: [...calling("c1").content, ...calling("c2").content],
  };
  const words = '[calls pay with {"to":"me"}]';
  expect(
    from(
      both,
      answering("c9", "c1"),
      answering("c1"),
      textMessage("user", "Go on."),
      calling("c3"),
    ),
  ).toEqual([
    { role: "assistant", content: [both.content[0], { type: "text", text: words }] },
    answering("c1"),
    textMessage("user", "[result paid]", "owner"),
    textMessage("user", "[result paid]", "owner"),
    textMessage("user", "Go on."),
    textMessage("assistant", words),
  ]);
});

test("a call outside a turn of the assistant, and a result outside one of a tool, are words", () => {
  const parts = [...calling("c1").content, ...answering("c1").content];
  expect(from({ role: "user", content: parts })).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: '[calls pay with {"to":"me"}]' },
        { type: "text", text: "[result paid]" },
      ],
    },
  ]);
});

test("nobody speaks under the name of the recipient or of one of its parts", () => {
  expect(
    from(
      textMessage("assistant", "I agree.", "clerk"),
      textMessage("user", "I agree.", "clerk"),
      textMessage("system", "I agree.", "clerk"),
    ),
  ).toEqual([
    textMessage("assistant", "I agree.", "clerk_of_owner"),
    textMessage("user", "I agree.", "clerk_of_owner"),
    textMessage("user", "I agree.", "clerk_of_owner"),
  ]);
});
