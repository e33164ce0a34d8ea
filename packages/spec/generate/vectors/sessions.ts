import { createHash } from "node:crypto";
import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";

/** Written from the rule, and not with the code under test. */
function keyed(title: string, delegator: string, session: string): Row {
  const text = `waybill session 1\n${delegator}\n${session}`;
  const key = createHash("sha256").update(text, "utf8").digest("hex");
  return {
    rules: [221],
    title,
    input: { operation: "key", delegator, session },
    expect: { status: "ok", key },
  };
}

function refused(title: string, session: string): Row {
  return {
    rules: [220],
    title,
    input: { operation: "key", delegator: "editor", session },
    expect: { status: 400 },
  };
}

/**
 * Given the holder of a session, or none: what an offer to `recipient` says, and whether it ranks
 * first.
 */
function offered(
  title: string,
  holder: string | null,
  recipient: string,
  session: string,
  isFirst: boolean,
  failed: readonly string[] = [],
): Row {
  return {
    rules: [222, 223],
    title,
    input: { operation: "offer", holder, recipient, failed },
    expect: { session, is_holder_first: isFirst },
  };
}

function found(title: string, told: string, has: boolean, session: string): Row {
  return {
    rules: [223],
    title,
    input: { operation: "result", offered: told, had_conversation: has },
    expect: { session },
  };
}

export const SESSIONS: VectorFile = vectorFile(
  "sessions",
  "session",
  "The keys of sessions, and texts that name none.",
  [
    keyed("a session", "editor", "trip-42"),
    keyed("the same id from another delegator", "writer", "trip-42"),
    keyed("an id that begins where the delegator ends", "editor-trip", "42"),
    keyed("the shortest id", "editor", "a"),
    keyed("128 characters", "editor", "x".repeat(128)),
    keyed("the first and the last character that there may be", "editor", "!~"),
    keyed("what JSON and shells escape", "editor", "\"\\$`'<>&%/"),
    keyed("an address", "editor", "anna@example.com"),
    keyed("a principal of an edge", "gateway/anna@example.com", "trip-42"),
    keyed("another principal of the edge", "gateway/ben", "trip-42"),
    offered("nobody holds it", null, "ann", "begun", false),
    offered("it is offered to its holder", "ann", "ann", "continued", true),
    offered("it is offered to another", "ann", "ben", "lost", true),
    offered("its holder has failed once", "ann", "ann", "continued", true, ["ann", "ben", "ben"]),
    offered("its holder has failed twice", "ann", "ben", "lost", false, ["ann", "ann"]),
    found("a conversation that goes on", "continued", true, "continued"),
    found("a conversation that another agent has brought here", "lost", true, "continued"),
    found("a conversation that the hub has forgotten", "begun", true, "continued"),
    found("a first turn", "begun", false, "begun"),
    found("a holder that has forgotten", "continued", false, "lost"),
    found("an agent that never had it", "lost", false, "lost"),
    refused("no character", ""),
    refused("129 characters in a session", "x".repeat(129)),
    refused("a space", "trip 42"),
    refused("a line feed at the end", "trip-42\n"),
    refused("a line feed in the middle", "trip\n42"),
    refused("a DEL", "trip\u007f"),
    refused("a letter with an accent", "\u00e9t\u00e9"),
    refused("a NUL in a session", "trip\u0000"),
  ],
);
