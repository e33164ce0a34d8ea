import { createHandoff } from "@waybill/protocol";
import { expect, test } from "vitest";
import { UsageTally } from "../serving/usage-tally.ts";
import { checkParentOpen } from "./parent-work.ts";

const envelope = createHandoff({
  from: "owner",
  domain: "hub",
  to: "worker",
  timeoutMs: 1_000,
  body: { capability: "work" },
});
const deadline = Date.parse(envelope.deadline);

function parent({ signal }: AbortController) {
  return { envelope, signal, trace: undefined, tally: new UsageTally() };
}

test("work has parts until its deadline", () => {
  const open = parent(new AbortController());
  expect(() => checkParentOpen(open, deadline - 1)).not.toThrow();
  expect(() => checkParentOpen(open, deadline)).toThrow(
    `Its deadline ${envelope.deadline} has passed.`,
  );
});

test("work has no parts once its attempt was aborted, and the error says why", () => {
  const controller = new AbortController();
  controller.abort(new Error("Another agent has the work."));
  expect(() => checkParentOpen(parent(controller), deadline - 1)).toThrow(
    "Another agent has the work.",
  );
});
