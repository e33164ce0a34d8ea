import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { MINUTE, NOW } from "./parties.ts";
import { many } from "./text.ts";

type Members = Record<string, unknown>;

interface Known {
  readonly capability?: Members;
  readonly is_trusted?: boolean;
  /** Outcomes in order: a status, and how many of them. */
  readonly successes?: number;
  readonly failures?: number;
}

function candidate(
  agent_id: string,
  { capability = {}, is_trusted = true, successes = 0, failures = 0 }: Known = {},
): Members {
  return {
    agent_id,
    capability: { name: "web_research", ...capability },
    is_trusted,
    successes,
    failures,
  };
}

const KID = "a".repeat(43);
const CAPABILITY: Members = { capability: "web_research" };
const OTHER_KID = "b".repeat(43);
const QUERY: Members = { capability: "web_research" };

/** `fits`: agents, best first. `left_out`: agents, in any order. */
function found(
  rules: readonly number[],
  title: string,
  query: Members,
  candidates: readonly Members[],
  fits: readonly string[],
): Row {
  const left_out = candidates
    .map(({ agent_id }) => agent_id as string)
    .filter((each) => !fits.includes(each));
  return {
    rules,
    title,
    input: { operation: "find", query: { ...QUERY, ...query }, candidates, at: NOW },
    expect: { fits, left_out },
  };
}

/** Each applies the same test to every number, with its own schema. */
const COSTLY: readonly Members[] = Array.from({ length: 8 }, (_, index) =>
  candidate(`costly-${index}`, {
    capability: {
      input_schema: {
        type: "array",
        title: `Schema ${index}`,
        items: { allOf: Array.from({ length: 10 }, () => ({ not: { const: index - 100 } })) },
      },
    },
  }),
);

function budgeted(title: string, candidates: readonly Members[], fits: readonly string[]): Row {
  const row = found([92], title, {}, candidates, fits);
  const input_text = { concat: ["[", many("1,", 19_999), "1]"] };
  return { ...row, input: { ...(row.input as Members), input_text, steps: 200_000 } };
}

interface AskedBy {
  readonly agent?: string;
  readonly kid?: string;
  readonly groups?: readonly string[];
}

/** Whether a capability takes work that an edge hands off for somebody. */
function takenFor(title: string, from: Members, groups: readonly string[], is_taken: boolean): Row {
  const asker = { agent: "anna", on_behalf_of: "ada", kid: KID, groups };
  return {
    rules: [215, 217],
    title,
    input: { operation: "takes_from", from, asker },
    expect: { is_taken },
  };
}

/** Whether an agent may act for others. */
function edge(title: string, on_behalf_of: string | undefined, groups: string[], ok: boolean): Row {
  const handoff = { from: "anna", ...(on_behalf_of === undefined ? {} : { on_behalf_of }) };
  return {
    rules: [216],
    title,
    input: { operation: "may_act_for", handoff, groups },
    expect: { status: ok ? "ok" : 403 },
  };
}

/** Whether a capability takes work from a delegator. */
function taken(title: string, from: Members | undefined, by: AskedBy, is_taken: boolean): Row {
  const asker = { agent: "anna", kid: KID, groups: [], ...by };
  return {
    rules: [210],
    title,
    input: { operation: "takes_from", ...(from === undefined ? {} : { from }), asker },
    expect: { is_taken },
  };
}

/** What a recipient decides by itself. */
function takenByRecipient(title: string, from: Members, is_taken: boolean): Row {
  const asker = { agent: "anna", kid: KID };
  return {
    rules: [213],
    title,
    input: { operation: "takes_from", from, asker },
    expect: { is_taken },
  };
}

const offer = (agent_id: string, from?: Members): Members => ({
  agent_id,
  capability: { name: "web_research", ...(from === undefined ? {} : { from }) },
});
const OFFERS: readonly Members[] = [
  offer("a", { agents: ["anna"] }),
  offer("b", { groups: ["g"] }),
  offer("c", { agents: ["ben"], keys: [OTHER_KID] }),
];
const OPEN = offer("d");

/** To whom a handoff may be offered, and how it is refused if there is nobody. */
function offeredTo(
  title: string,
  to: string | Members,
  by: AskedBy,
  takers: readonly string[],
  status?: number,
): Row {
  const asker = { agent: "anna", kid: KID, groups: [], ...by };
  return {
    rules: [211],
    title,
    input: { operation: "takers", to, capability: "web_research", candidates: OFFERS, asker },
    expect: { takers, status: status ?? null },
  };
}

/** Which offers a viewer is shown. */
function shown(title: string, viewer: AskedBy | string, agents: readonly string[]): Row {
  const asker = typeof viewer === "string" ? viewer : { groups: [], ...viewer };
  return {
    rules: [212],
    title,
    input: { operation: "shown", candidates: [...OFFERS, OPEN], viewer: asker },
    expect: { agents },
  };
}

/**
 * Whether a group may submit another handoff: `lately` is the age of each of its handoffs, the latest
 * first.
 */
function quota(
  title: string,
  limits: Members,
  used: { readonly open?: number; readonly lately?: readonly number[] },
  retry_after_ms?: number | "any",
): Row {
  const { open = 0, lately = [] } = used;
  const given = { open, lately: lately.map((ago) => NOW - ago) };
  const isRefused = retry_after_ms !== undefined;
  return {
    rules: [214],
    title,
    input: { operation: "quota", quota: limits, used: given, at: NOW },
    expect: {
      status: isRefused ? 301 : null,
      ...(typeof retry_after_ms === "number" && { retry_after_ms }),
    },
  };
}

type Given = { readonly [member: string]: unknown };

/** `refused`: who refuses the input, and at which place; undefined if it is accepted. */
function judged(
  title: string,
  given: Given,
  candidates: readonly Members[],
  refused?: Readonly<Record<string, string>>,
): Row {
  return {
    rules: [100],
    title,
    input: { operation: "judge_input", given, candidates, at: NOW },
    expect: {
      may_be_taken: refused === undefined,
      refusals: Object.entries(refused ?? {}).map(([agent_id, at]) => ({ agent_id, at: [at] })),
    },
  };
}

const DEPTH = { input_schema: { query: "string", depth: "int" } };

function judgedOnBudget(title: string, candidates: readonly Members[]): Row {
  const row = judged(title, {}, candidates);
  const input_text = { concat: ["[", many("1,", 19_999), "1]"] };
  return { ...row, input: { ...(row.input as Members), input_text, steps: 200_000 } };
}

/** Which waiting handoff is offered first, given the time when each became due, and its priority. */
function queued(
  title: string,
  waiting: Readonly<Record<string, readonly [dueAt: number, priority?: number]>>,
  order: readonly string[],
): Row {
  const entries = Object.entries(waiting).map(([id, [after, priority]]) => ({
    id,
    due_at: NOW + after,
    ...(priority !== undefined && { priority }),
  }));
  return {
    rules: [102],
    title,
    input: { operation: "queue", waiting: entries },
    expect: { order },
  };
}

type Moment = readonly [after: number, what: number | "asked", isOut?: boolean];

/** Outcomes of one agent, by status, and whether it is ejected at the given time. */
function ejected(title: string, ...moments: readonly Moment[]): Row {
  return {
    rules: [73],
    title,
    input: {
      operation: "eject",
      moments: moments.map(([after, what]) =>
        what === "asked" ? { at: NOW + after } : { at: NOW + after, status: what },
      ),
    },
    expect: {
      is_out: moments.flatMap(([, what, isOut]) => (what === "asked" ? [isOut === true] : [])),
    },
  };
}

const SECONDS = 1000;
const failures = (after: number): readonly Moment[] => [
  [after, 500],
  [after, 500],
  [after, 500],
];

export const DISCOVERY: VectorFile = vectorFile(
  "discovery",
  "discovery",
  "Who is found for a capability, in which order, and who is out for a while.",
  [
    found(
      [71],
      "somebody who is not trusted",
      {},
      [candidate("a", { is_trusted: false }), candidate("b")],
      ["b"],
    ),
    found(
      [71],
      "another capability",
      {},
      [candidate("a", { capability: { name: "translate" } }), candidate("b")],
      ["b"],
    ),
    found(
      [71],
      "another version",
      { version: "2" },
      [
        candidate("a", { capability: { version: "1.9" } }),
        candidate("b", { capability: { version: "2.0" } }),
      ],
      ["b"],
    ),
    found(
      [71],
      "a tag that is missing",
      { tags: ["en", "fast"] },
      [
        candidate("a", { capability: { tags: ["en"] } }),
        candidate("b", { capability: { tags: ["fast", "de", "en"] } }),
      ],
      ["b"],
    ),
    found(
      [71],
      "an input that breaks the schema",
      { input: { query: "tides", depth: "2" } },
      [
        candidate("a", { capability: { input_schema: { query: "string", depth: "int" } } }),
        candidate("b", { capability: { input_schema: { query: "string" } } }),
      ],
      ["b"],
    ),
    found(
      [71],
      "nobody at all",
      { version: "9" },
      [candidate("a"), candidate("b", { is_trusted: false })],
      [],
    ),
    found(
      [72],
      "what was measured on more outcomes counts for more",
      {},
      [
        candidate("a", { successes: 9, failures: 1 }),
        candidate("b", { successes: 90, failures: 10 }),
      ],
      ["b", "a"],
    ),
    found(
      [72],
      "a single success is worth less than nine in ten of a hundred",
      {},
      [candidate("a", { successes: 1 }), candidate("b", { successes: 90, failures: 10 })],
      ["b", "a"],
    ),
    found(
      [72],
      "a claim that measurement contradicts does not make up for a worse record",
      {},
      [
        candidate("a", { capability: { reliability_sla: 1 }, successes: 50, failures: 50 }),
        candidate("b", { capability: { reliability_sla: 0.5 }, successes: 51, failures: 49 }),
      ],
      ["b", "a"],
    ),
    found(
      [72],
      "a higher claim that measurement contradicts, on a worse record",
      {},
      [
        candidate("a", { capability: { reliability_sla: 0.999 }, successes: 70, failures: 30 }),
        candidate("b", { capability: { reliability_sla: 0 }, successes: 71, failures: 29 }),
      ],
      ["b", "a"],
    ),
    found(
      [72],
      "a newcomer's claim does not beat a record",
      {},
      [
        candidate("a", { capability: { reliability_sla: 1 } }),
        candidate("b", { capability: { reliability_sla: 0.9 }, successes: 99, failures: 1 }),
      ],
      ["b", "a"],
    ),
    found(
      [72],
      "a claim of 1 and a single failure in a hundred, next to nothing measured",
      {},
      [
        candidate("a", { capability: { reliability_sla: 1 } }),
        candidate("b", { capability: { reliability_sla: 1 }, successes: 99, failures: 1 }),
      ],
      ["b", "a"],
    ),
    budgeted(
      "a schema that costs little, behind many that cost more than the budget of the query",
      [...COSTLY, candidate("plain", { capability: { input_schema: { type: "array" } } })],
      ["plain"],
    ),
    budgeted("schemas that each cost more than the budget of the query", COSTLY, []),
    judged(
      "an input that the only candidate refuses",
      { input: { query: "tides", depth: "2" } },
      [candidate("a", { capability: DEPTH })],
      { a: "/depth" },
    ),
    judged(
      "an input that each candidate refuses for another reason",
      { input: { query: "tides", depth: "2" } },
      [
        candidate("a", { capability: DEPTH }),
        candidate("b", { capability: { input_schema: { query: "int" } } }),
        candidate("c", { capability: { max_input_bytes: 5 } }),
      ],
      { a: "/depth", b: "/query", c: "" },
    ),
    judged("an input that one of two takes", { input: { query: "tides", depth: "2" } }, [
      candidate("a", { capability: DEPTH }),
      candidate("b", { capability: { input_schema: { query: "string" } } }),
    ]),
    judged(
      "an input that only strangers and other versions take",
      { input: { query: "tides", depth: "2" }, version: "1", tags: ["en"] },
      [
        candidate("a", { capability: { ...DEPTH, version: "1.2", tags: ["en"] } }),
        candidate("b", { is_trusted: false, capability: { version: "1", tags: ["en"] } }),
        candidate("c", { capability: { version: "2", tags: ["en"] } }),
        candidate("d", { capability: { version: "1", tags: ["de"] } }),
      ],
      { a: "/depth" },
    ),
    judged("no input, where one is needed", {}, [candidate("a", { capability: DEPTH })], { a: "" }),
    judged("no input, where none is needed", {}, [candidate("a")]),
    judged("words without an input, for who takes words", { has_words: true }, [
      candidate("a", { capability: { ...DEPTH, takes: "conversation" } }),
    ]),
    judged(
      "words without an input, for who takes none",
      { has_words: true },
      [candidate("a", { capability: DEPTH })],
      { a: "" },
    ),
    judgedOnBudget("schemas that cost more than the budget refuse nothing", COSTLY),
    taken("everybody, where nothing is said", undefined, {}, true),
    taken("an agent that is named", { agents: ["ben", "anna"] }, {}, true),
    taken("an agent that is not named", { agents: ["ben"] }, {}, false),
    taken(
      "an agent whose name only begins like one that is named",
      { agents: ["anna-2"] },
      {},
      false,
    ),
    taken("an agent that signs with a key that is named", { keys: [OTHER_KID, KID] }, {}, true),
    taken("an agent that signs with another key", { keys: [OTHER_KID] }, {}, false),
    taken("an agent that is in a group", { groups: ["x", "g"] }, { groups: ["g"] }, true),
    taken("an agent that is in another group", { groups: ["x"] }, { groups: ["g"] }, false),
    taken("a group that is called like the agent", { groups: ["anna"] }, { groups: [] }, false),
    taken(
      "an agent that is named, but is in none of the groups",
      { agents: ["anna"], groups: ["x"] },
      {},
      true,
    ),
    taken(
      "a key that is named, of an agent that is not",
      { agents: ["ben"], keys: [KID] },
      {},
      true,
    ),
    takenFor("for somebody, by the name of the edge", { agents: ["anna"] }, [], false),
    takenFor("for somebody, by the key of the edge", { keys: [KID] }, [], false),
    takenFor("for somebody in a group", { groups: ["g"] }, ["g"], true),
    takenFor("for somebody in another group", { groups: ["x"] }, ["g"], false),
    edge("an edge acts for somebody", "ada", ["x", "edges"], true),
    edge("an agent that is no edge acts for somebody", "ada", ["x"], false),
    edge("an agent that is no edge acts for itself", undefined, [], true),
    takenByRecipient("a recipient, of an agent that it names", { agents: ["anna"] }, true),
    takenByRecipient("a recipient, of an agent that it does not name", { agents: ["ben"] }, false),
    takenByRecipient("a recipient, of a key that it does not name", { keys: [OTHER_KID] }, false),
    takenByRecipient(
      "a recipient that names groups, which only its hub knows",
      { agents: ["ben"], groups: ["g"] },
      true,
    ),
    offeredTo("by a capability, only those who take it", CAPABILITY, { groups: ["g"] }, ["a", "b"]),
    offeredTo(
      "by a capability that nobody offers to its delegator",
      CAPABILITY,
      { agent: "carl" },
      [],
      404,
    ),
    offeredTo("by a capability that nobody offers", { capability: "cook" }, {}, [], 404),
    offeredTo("to a recipient that takes it", "a", {}, ["a"]),
    offeredTo("to a recipient that takes it by its key", "c", { kid: OTHER_KID }, ["c"]),
    offeredTo("to a recipient that does not take it", "c", {}, [], 403),
    offeredTo("to a recipient that takes it from a group of others", "b", {}, [], 403),
    offeredTo("to a recipient that does not offer it", "z", {}, [], 404),
    shown("an operator is shown all", "operator", ["a", "b", "c", "d"]),
    shown("who proves no id is shown what is for everybody", "anybody", ["d"]),
    shown("an agent is shown what takes work from it", { agent: "anna", kid: KID }, ["a", "d"]),
    shown(
      "an agent is shown what takes work from its groups and its key",
      { agent: "carl", kid: OTHER_KID, groups: ["g"] },
      ["b", "c", "d"],
    ),
    quota("a group without a quota", {}, { open: 1_000, lately: [0, 0, 0] }),
    quota("one place is free", { open: 3 }, { open: 2 }),
    quota("no place is free", { open: 3 }, { open: 3 }, "any"),
    quota("a quota that was lowered", { open: 3 }, { open: 7 }, "any"),
    quota("a group that may have nothing open", { open: 0 }, {}, "any"),
    quota("the minute has room", { per_minute: 3 }, { lately: [0, 1] }),
    quota("the minute is full", { per_minute: 3 }, { lately: [0, 1, 59_000] }, 1_000),
    quota("the third before has left the minute", { per_minute: 3 }, { lately: [0, 1, 60_000] }),
    quota("more than fill the minute", { per_minute: 2 }, { lately: [0, 10, 20, 30] }, 59_990),
    quota(
      "both quotas, of which one is used up",
      { open: 9, per_minute: 1 },
      { lately: [5] },
      59_995,
    ),
    queued("the first that was due, where priorities are alike", { a: [2], b: [1], c: [3] }, [
      "b",
      "a",
      "c",
    ]),
    queued(
      "a higher priority comes first, and 4 is that of whoever names none",
      { a: [0, 3], b: [2, 9], c: [1], d: [3, 5] },
      ["b", "d", "c", "a"],
    ),
    queued(
      "one more of priority is worth a minute, so that nothing starves",
      { old: [0, 0], late: [9 * MINUTE + 1, 9], soon: [9 * MINUTE - 1, 9] },
      ["soon", "old", "late"],
    ),
    ejected("two failures in a row", [0, 500], [0, 500], [1, "asked", false]),
    ejected(
      "three failures in a row: out for 30 seconds",
      ...failures(0),
      [0, "asked", true],
      [30 * SECONDS - 1, "asked", true],
      [30 * SECONDS, "asked", false],
    ),
    ejected(
      "a success between the failures",
      [0, 500],
      [0, 500],
      [1, 200],
      [2, 500],
      [2, 500],
      [3, "asked", false],
    ),
    ejected(
      "the next failure after the time is over: out for twice as long",
      ...failures(0),
      [MINUTE, 500],
      [MINUTE + 60 * SECONDS - 1, "asked", true],
      [MINUTE + 60 * SECONDS, "asked", false],
    ),
    ejected(
      "a success ends it, and the next time is short again",
      ...failures(0),
      [MINUTE, 500],
      [2 * MINUTE, 200],
      [2 * MINUTE, "asked", false],
      ...failures(3 * MINUTE),
      [3 * MINUTE + 30 * SECONDS, "asked", false],
    ),
    ejected(
      "what the delegator caused counts for nothing",
      [0, 422],
      [0, 499],
      [0, 400],
      [0, 422],
      [1, "asked", false],
    ),
  ],
);
