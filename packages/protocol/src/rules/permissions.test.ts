import fc from "fast-check";
import { expect, test } from "vitest";
import { checkQuota, untakenError } from "../wire.ts";
import { QUOTA_MINUTE_MS } from "../wire/quota.ts";
import { audiencesFor, audiencesOf } from "../hub.ts";
import {
  askerOf,
  checkMayActFor,
  createHandoff,
  isAgentId,
  isPrincipal,
  parseManifest,
  principalOf,
  takesFrom,
  WaybillError,
} from "../index.ts";
import type { Asker, TakesFrom } from "../index.ts";
import { DOMAIN, handoff, NOW, readWith, refusal, SOURCE, statusOf } from "./rules-fixture.ts";

/** The error, with its time to retry. */
function refusalOf(run: () => unknown): WaybillError {
  try {
    run();
  } catch (error) {
    return WaybillError.from(error);
  }
  throw new Error("It was not refused.");
}

const KIDS = ["a".repeat(43), "b".repeat(43)] as const;
const ANNA: Asker = { agent: "anna", kid: KIDS[0] };

function read(...given: readonly unknown[]) {
  const capabilities = given.map((from, index) => ({ name: `edit-${index}`, from }) as never);
  return parseManifest({ agent_id: "ben", capabilities }).capabilities;
}

function isTaken(from: TakesFrom | undefined, asker: Asker, ...groups: readonly string[]): boolean {
  const [capability] = from === undefined ? read(undefined) : read(from);
  return takesFrom(capability!, asker, (group) => groups.includes(group));
}

test("WB-210 a capability takes work from everybody, or from the agents, keys and groups that it names", () => {
  expect(isTaken(undefined, ANNA)).toBe(true);
  expect(isTaken({ agents: ["anna"] }, ANNA)).toBe(true);
  expect(isTaken({ keys: [KIDS[0]] }, ANNA)).toBe(true);
  expect(isTaken({ groups: ["editors"] }, ANNA, "editors")).toBe(true);
  expect(isTaken({ agents: ["carl"], keys: [KIDS[0]], groups: [] }, ANNA)).toBe(true);
});

test("WB-210 a capability takes no work from others, whatever their names", () => {
  expect(isTaken({ agents: ["carl", "anna-2"] }, ANNA)).toBe(false);
  expect(isTaken({ keys: [KIDS[1]] }, ANNA)).toBe(false);
  expect(isTaken({ groups: ["editors"] }, ANNA)).toBe(false);
  expect(isTaken({ groups: ["anna"] }, ANNA, "editors")).toBe(false);
});

test("WB-210 a from that names nobody is refused with 400, and one that names too many with 413", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `a-${index}`);
  const wrong: readonly (readonly [unknown, number])[] = [
    [{}, 400],
    [{ agents: [] }, 400],
    [{ agents: ["Anna"] }, 400],
    [{ keys: ["anna"] }, 400],
    [{ groups: ["my friends"] }, 400],
    [{ groups: ["g".repeat(65)] }, 400],
    [["anna"], 400],
    [null, 400],
    [{ agents: many(33) }, 413],
    [{ keys: Array.from({ length: 17 }, () => KIDS[0]) }, 413],
    [{ groups: many(17) }, 413],
  ];
  for (const [from, status] of wrong) {
    const error = refusal(() => read(from));
    expect([error.status, error.at?.slice(0, 20)], JSON.stringify(from)).toEqual([
      status,
      "/capabilities/0/from",
    ]);
  }
  const full = Array.from({ length: 32 }, () => ({ agents: many(32) }));
  expect(read(...full)).toHaveLength(32);
  const over = refusal(() => read(...full, { groups: ["one-more"] }));
  expect([over.status, over.at]).toEqual([413, "/capabilities/32/from"]);
});

test("WB-211 a refusing named recipient is 403, and a capability that nobody offers to its delegator 404", () => {
  const untaken = { from: "anna", capability: "edit", isOffered: true };
  expect(untakenError({ ...untaken, to: "ben" }).status).toBe(403);
  expect(untakenError({ ...untaken, to: "ben", isOffered: false }).status).toBe(404);
  const to = { capability: "edit" };
  const [open, closed] = [false, true].map((isOffered) =>
    untakenError({ ...untaken, to, isOffered }).toJSON(),
  );
  expect(open).toEqual(closed);
  expect(open).toMatchObject({ status: 404 });
});

test("WB-212 a search by audiences finds exactly what takes work from the searcher", () => {
  const name = fc.constantFrom<string>("anna", "ben", "g", "h");
  const kid = fc.constantFrom(...KIDS);
  const from = fc.option(
    fc.record({
      agents: fc.array(name, { maxLength: 3 }),
      keys: fc.array(kid, { maxLength: 2 }),
      groups: fc.array(name, { maxLength: 3 }),
    }),
    { nil: undefined },
  );
  fc.assert(
    fc.property(
      from,
      fc.record({ agent: name, kid }),
      fc.uniqueArray(name),
      (given, asker, groups) => {
        const own = new Set(audiencesOf({ from: given }));
        const isFound = audiencesFor(asker, groups).some((audience) => own.has(audience));
        expect(isFound).toBe(takesFrom({ from: given }, asker, (group) => groups.includes(group)));
        // An unauthenticated searcher sees what is for everybody.
        const isOpen = audiencesFor(undefined, groups).some((audience) => own.has(audience));
        expect(isOpen).toBe(given === undefined);
      },
    ),
  );
});

test("WB-213 a recipient relies on its hub for groups, and refuses delegators that neither agents nor keys name", () => {
  const asRecipient = (from: TakesFrom) => takesFrom({ from }, ANNA, () => true);
  expect(asRecipient({ groups: ["editors"] })).toBe(true);
  expect(asRecipient({ agents: ["carl"], groups: [] })).toBe(false);
  expect(asRecipient({ agents: ["carl"], keys: [KIDS[1]] })).toBe(false);
});

const GATEWAY = { from: "gateway" };
const ADA = { from: "gateway", on_behalf_of: "ada@example.com" };

test("WB-215 the principal of a handoff is its delegator, or whom that names, behind its id and a slash", () => {
  expect(principalOf(GATEWAY)).toBe("gateway");
  expect(principalOf(ADA)).toBe("gateway/ada@example.com");
  expect(principalOf({ ...ADA, from: "other" })).not.toBe(principalOf(ADA));
  expect(isAgentId(principalOf({ from: "a", on_behalf_of: "b" }))).toBe(false);
  for (const name of ["anna", "gateway/ada@example.com", "gateway/a/b"]) {
    expect(isPrincipal(name), name).toBe(true);
  }
  for (const name of ["", "/ada", "gateway/", "Gateway/ada", "gateway/a b", "gate way/ada"]) {
    expect(isPrincipal(name), name).toBe(false);
  }
});

test("WB-215 an on_behalf_of of another form is refused with 400, and a child does not inherit one", () => {
  for (const name of ["!~", "x".repeat(128), "a/b", "ada@example.com"]) {
    const { envelope } = readWith("handoff", { on_behalf_of: name });
    expect(envelope).toMatchObject({ on_behalf_of: name });
  }
  for (const name of ["", "a b", "\u00e9", "a\n", "x".repeat(129), null, 1, ["a"]]) {
    const found = refusal(() => readWith("handoff", { on_behalf_of: name }));
    expect(found, String(name)).toEqual({ status: 400, at: "/on_behalf_of" });
  }
  const parent = handoff({ on_behalf_of: "ada" });
  const child = { from: "researcher", domain: DOMAIN, body: { capability: "c" }, parent };
  expect(createHandoff(child, SOURCE).on_behalf_of).toBeUndefined();
  expect(createHandoff({ ...child, onBehalfOf: "ada" }, SOURCE).on_behalf_of).toBe("ada");
});

test("WB-216 only members of the group edges may act for others", () => {
  expect(statusOf(() => checkMayActFor(ADA, ["x", "edges"]))).toBe("taken");
  for (const groups of [[], ["edge"], ["gateway"]]) {
    expect(statusOf(() => checkMayActFor(ADA, groups))).toBe(403);
    expect(statusOf(() => checkMayActFor(GATEWAY, groups))).toBe("taken");
  }
});

test("WB-217 the permissions of a handoff are those of its principal, and not of the edge or its key", () => {
  const ada = askerOf(ADA, KIDS[0]);
  const [gateway, customers] = [{ agents: ["gateway"] }, { groups: ["customers"] }];
  expect(isTaken(undefined, ada)).toBe(true);
  expect(isTaken(gateway, ada)).toBe(false);
  expect(isTaken({ keys: [KIDS[0]] }, ada)).toBe(false);
  expect(isTaken(customers, ada)).toBe(false);
  expect(isTaken(customers, ada, "customers")).toBe(true);
  expect(audiencesFor(ada, ["customers"])).toEqual([
    ...audiencesFor(undefined, []),
    "agent gateway/ada@example.com",
    "group customers",
  ]);
  const itself = askerOf(GATEWAY, KIDS[0]);
  expect(isTaken(gateway, itself)).toBe(true);
  expect(isTaken({ keys: [KIDS[0]] }, itself)).toBe(true);
});

test("WB-214 a handoff beyond a quota is refused with 301, and told when to retry", () => {
  const open = { group: "g", open: 2 };
  expect(statusOf(() => checkQuota({ open: 3 }, open, NOW))).toBe("taken");
  const full = refusalOf(() => checkQuota({ open: 2 }, open, NOW));
  expect([full.status, full.retryable]).toEqual([301, true]);
  expect(full.retryAfterMs).toBeGreaterThan(0);
  expect(refusalOf(() => checkQuota({ open: 0 }, { group: "g", open: 0 }, NOW)).status).toBe(301);
});

test("WB-214 a quota for a minute applies to any minute, from the earliest of the last that fill it", () => {
  const quota = { per_minute: 5 };
  const use = { group: "g", open: 1_000 };
  expect(statusOf(() => checkQuota(quota, use, NOW))).toBe("taken");
  const earliest = NOW - QUOTA_MINUTE_MS;
  expect(statusOf(() => checkQuota(quota, { ...use, earliest }, NOW))).toBe("taken");
  const refused = refusalOf(() => checkQuota(quota, { ...use, earliest: earliest + 1 }, NOW));
  expect([refused.status, refused.retryAfterMs]).toEqual([301, 1]);
  expect(refusalOf(() => checkQuota(quota, { ...use, earliest: NOW }, NOW)).retryAfterMs).toBe(
    60_000,
  );
});
