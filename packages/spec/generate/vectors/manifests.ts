import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { HANDOFF_TEXT } from "./envelope.ts";
import {
  agreedBy,
  DAY,
  digest,
  digestOfJws,
  editor,
  hub,
  jwkOf,
  MINUTE,
  NOW,
  party,
  provenBy,
  recoveryOf,
  researcher,
  stranger,
  timeAt,
} from "./parties.ts";
import { hexBytes, SMALL_ORDER } from "./points.ts";
import { many } from "./text.ts";
import type { Party } from "./parties.ts";
import type { Text } from "./text.ts";
import { flip, signed } from "./wire.ts";

type Members = Record<string, unknown>;

const spare = party(editor.agent, "the editor's second key");

const FIRST: Members = {
  waybill: 1,
  kind: "manifest",
  agent_id: editor.agent,
  capabilities: [{ name: "edit", input_schema: { text: "string" } }],
  keys: [editor.jwk],
  sequence: 1,
};
const FIRST_TEXT = signed(FIRST, editor);

/** The next manifest of the editor. */
function after(text: string, sequence: number, over: Members = {}): Members {
  return { ...FIRST, sequence, previous: digestOfJws(text), ...over };
}

const SECOND_TEXT = signed(after(FIRST_TEXT, 2, { version: "2" }), editor);
/** A rotation: the new key is listed by the old one, then the old one is dropped. */
const BOTH_TEXT = signed(after(FIRST_TEXT, 2, { keys: [editor.jwk, provenBy(spare)] }), editor);
const ROTATED_TEXT = signed(after(BOTH_TEXT, 3, { keys: [spare.jwk] }), spare);

/** The first key is lost. */
const PINNED_TEXT = signed(after(FIRST_TEXT, 2, { keys: [spare.jwk] }), spare);

const offline = party(editor.agent, "the editor's recovery key");
const otherOffline = party(editor.agent, "the editor's second recovery key");
const kept = recoveryOf(offline);

const WITH_RECOVERY = signed({ ...FIRST, keys: [editor.jwk, kept] }, editor);

/** An update of the manifest that lists the recovery key, with that key's signature. */
function agreed(over: Members, by: Party = offline, prefix?: string): Members {
  const members = after(WITH_RECOVERY, 2, over);
  return { ...members, recovery: agreedBy(by, members, prefix) };
}

const RECOVERY: Members = { keys: [spare.jwk, kept] };
const RECOVERED_TEXT = signed(agreed(RECOVERY), spare);

/** The thief has to keep the recovery key, which lets the agent recover. */
const STOLEN_TEXT = signed(
  after(WITH_RECOVERY, 2, { keys: [provenBy(stranger, { agent: editor.agent }), kept] }),
  editor,
);
const BACK = after(STOLEN_TEXT, 3, RECOVERY);
const BACK_TEXT = signed({ ...BACK, recovery: agreedBy(offline, BACK) }, spare);

/** The key of the envelopes is a recovery key here. */
const BY_RECOVERY_KEY = signed({ ...FIRST, keys: [spare.jwk, recoveryOf(editor)] }, spare);

interface Given {
  readonly text: string;
  readonly at: number;
}
const now = (text: string): Given => ({ text, at: NOW });
const later = (text: string, days: number): Given => ({ text, at: NOW + days * DAY });

type Result = Members & { readonly status: number | "ok" };
const read = (text: string, sequence: number, more: Members = {}): Result => ({
  status: "ok",
  digest: digestOfJws(text),
  sequence,
  ...more,
});
const refused = (status: number): Result => ({ status });

/** Each is verified as the update of the last accepted one before it. */
function inOrder(
  rules: readonly number[],
  title: string,
  manifests: readonly (readonly [given: Given, result: Result])[],
  more: { input?: Members; expect?: Members } = {},
): Row {
  return {
    rules,
    title,
    input: { operation: "verify", manifests: manifests.map(([given]) => given), ...more.input },
    expect: { results: manifests.map(([, result]) => result), ...more.expect },
  };
}

const one = (
  rules: readonly number[],
  title: string,
  status: number,
  text: string,
  input: Members = {},
): Row => inOrder(rules, title, [[now(text), refused(status)]], { input });

const update = (rules: readonly number[], title: string, status: number, text: string): Row =>
  inOrder(rules, title, [
    [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
    [now(text), refused(status)],
  ]);

const BOTH_KEYS: Result = { status: "ok", sequence: 1, kids: [editor.kid, spare.kid] };

const unproven = (rules: readonly number[], title: string, key: unknown): Row =>
  one(rules, title, 401, signed({ ...FIRST, keys: [editor.jwk, key] }, editor));

const chain: readonly (readonly [Given, Result])[] = [
  [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
  [later(BOTH_TEXT, 1), read(BOTH_TEXT, 2)],
  [later(ROTATED_TEXT, 2), read(ROTATED_TEXT, 3, { kids: [spare.kid] })],
];

/** After the rotation: an envelope of the old key, which arrives then or had arrived before. */
function afterRotation(
  rules: readonly number[],
  title: string,
  at: number,
  status: number | "ok",
): Row {
  return inOrder(rules, title, chain, {
    input: { envelope: { compact: HANDOFF_TEXT, at } },
    expect: { envelope: { status } },
  });
}

/** The successor of the manifest with the recovery key, as a text. */
const followed = (
  rules: readonly number[],
  title: string,
  status: number,
  text: string,
  input: Members = {},
): Row =>
  inOrder(
    rules,
    title,
    [
      [now(WITH_RECOVERY), read(WITH_RECOVERY, 1)],
      [now(text), refused(status)],
    ],
    { input },
  );

const accepted = (
  rules: readonly number[],
  title: string,
  text: string,
  input: Members = {},
): Row =>
  inOrder(
    rules,
    title,
    [
      [now(WITH_RECOVERY), read(WITH_RECOVERY, 1)],
      [now(text), read(text, 2)],
    ],
    { input },
  );

const firstWith = (title: string, key: unknown, status: number, rule = 200): Row =>
  one([rule], title, status, signed({ ...FIRST, keys: [editor.jwk, key] }, editor));

/** A recovery with a changed member that the recovery key has not signed. */
const unsignedChange = (title: string, over: Members): Row =>
  followed([202], title, 401, signed({ ...agreed(RECOVERY), ...over }, spare));

const RECOVERIES: readonly Row[] = [
  inOrder([200], "a manifest with a recovery key", [
    [now(WITH_RECOVERY), read(WITH_RECOVERY, 1, { kids: [editor.kid], recovery: offline.kid })],
  ]),
  inOrder([200], "a key whose use is to sign", [
    [
      now(signed({ ...FIRST, keys: [{ ...editor.jwk, use: "sig" }] }, editor)),
      { status: "ok", sequence: 1, kids: [editor.kid], recovery: null },
    ],
  ]),
  firstWith("a key with a use that there is not", { ...provenBy(spare), use: "enc" }, 400),
  firstWith("a recovery key without a proof", { ...offline.jwk, use: "recovery" }, 401),
  firstWith(
    "a recovery key with the proof of one that signs",
    { ...provenBy(offline), use: "recovery" },
    401,
  ),
  firstWith(
    "a recovery key with the proof for another agent",
    recoveryOf(offline, { agent: stranger.agent }),
    401,
  ),
  firstWith(
    "a key that signs with the proof of a recovery key",
    provenBy(offline, { purpose: "recover" }),
    401,
    90,
  ),
  ...(["not_before", "not_after", "retired_at"] as const).map((member) =>
    firstWith(`a recovery key with ${member}`, { ...kept, [member]: timeAt(DAY) }, 400),
  ),
  one(
    [200],
    "two recovery keys",
    400,
    signed({ ...FIRST, keys: [editor.jwk, kept, recoveryOf(otherOffline)] }, editor),
  ),
  followed(
    [200],
    "a key that signs becomes the recovery key",
    409,
    signed(agreed({ keys: [spare.jwk, recoveryOf(editor)] }), spare),
  ),
  followed(
    [200],
    "the recovery key becomes a key that signs",
    409,
    signed(agreed({ keys: [editor.jwk, provenBy(offline)] }), editor),
  ),
  one(
    [201],
    "a first manifest by a recovery key",
    401,
    signed({ ...FIRST, keys: [provenBy(editor), kept] }, offline),
  ),
  followed([201], "an update by the recovery key", 401, signed(agreed(RECOVERY), offline)),
  followed(
    [201],
    "an update by the recovery key that a pin names",
    401,
    signed(after(WITH_RECOVERY, 2, { keys: [provenBy(spare), kept] }), offline),
    { vouched: [offline.kid] },
  ),
  inOrder(
    [201],
    "an envelope by a recovery key",
    [[now(BY_RECOVERY_KEY), read(BY_RECOVERY_KEY, 1)]],
    {
      input: { envelope: { compact: HANDOFF_TEXT, at: NOW } },
      expect: { envelope: { status: 401 } },
    },
  ),
  one(
    [202],
    "a first manifest with a recovery",
    400,
    signed({ ...FIRST, recovery: agreedBy(offline, { ...FIRST, previous: "" }) }, editor),
  ),
  update(
    [202],
    "a recovery where the manifest before lists no recovery key",
    401,
    signed(
      {
        ...after(FIRST_TEXT, 2, RECOVERY),
        recovery: agreedBy(offline, after(FIRST_TEXT, 2, RECOVERY)),
      },
      spare,
    ),
  ),
  followed(
    [202],
    "an update by the old key with a recovery that does not hold",
    401,
    signed({ ...agreed({ keys: [editor.jwk, kept] }), version: "2", recovery: "AAAA" }, editor),
  ),
  followed([202], "a recovery by another key", 401, signed(agreed(RECOVERY, stranger), spare)),
  followed([202], "a recovery by the old key", 401, signed(agreed(RECOVERY, editor), spare)),
  followed(
    [202],
    "a recovery by the recovery key that it brings",
    401,
    signed(agreed({ keys: [spare.jwk, recoveryOf(otherOffline)] }, otherOffline), spare),
  ),
  followed(
    [202],
    "a recovery of another version",
    401,
    signed(agreed(RECOVERY, offline, "waybill recovery 2"), spare),
  ),
  unsignedChange("a recovery that was made for fewer keys", {
    keys: [spare.jwk, provenBy(stranger, { agent: editor.agent }), kept],
  }),
  unsignedChange("a recovery that was made for another order of keys", {
    keys: [kept, spare.jwk],
  }),
  unsignedChange("a recovery that was made for another number", { sequence: 3 }),
  unsignedChange("a recovery that was made after another manifest", { previous: digest("x") }),
  unsignedChange("a recovery that was made for another agent", { agent_id: stranger.agent }),
  inOrder([203, 65], "a recovery ends the old key", [
    [now(WITH_RECOVERY), read(WITH_RECOVERY, 1)],
    [now(RECOVERED_TEXT), read(RECOVERED_TEXT, 2, { kids: [spare.kid], recovery: offline.kid })],
    [
      now(signed(after(RECOVERED_TEXT, 3, { keys: [provenBy(editor), kept] }), editor)),
      refused(401),
    ],
    [now(signed(after(RECOVERED_TEXT, 3, RECOVERY), spare)), { status: "ok", sequence: 3 }],
  ]),
  inOrder(
    [203, 65],
    "an envelope of a key that a recovery has ended",
    [
      [now(WITH_RECOVERY), read(WITH_RECOVERY, 1)],
      [now(RECOVERED_TEXT), read(RECOVERED_TEXT, 2)],
    ],
    {
      input: { envelope: { compact: HANDOFF_TEXT, at: NOW } },
      expect: { envelope: { status: 401 } },
    },
  ),
  inOrder([203], "a recovery from a thief who has changed the key", [
    [now(WITH_RECOVERY), read(WITH_RECOVERY, 1)],
    [now(STOLEN_TEXT), read(STOLEN_TEXT, 2)],
    [now(BACK_TEXT), read(BACK_TEXT, 3, { kids: [spare.kid], recovery: offline.kid })],
  ]),
  followed(
    [203],
    "a recovery by a key that it does not list",
    401,
    signed(agreed({ keys: [provenBy(otherOffline), kept] }), spare),
  ),
  followed(
    [203],
    "a recovery that lists an old key",
    400,
    signed(agreed({ keys: [spare.jwk, provenBy(editor), kept] }), spare),
  ),
  inOrder([203, 63], "a second recovery with the number of the first", [
    [now(WITH_RECOVERY), read(WITH_RECOVERY, 1)],
    [now(RECOVERED_TEXT), read(RECOVERED_TEXT, 2)],
    [now(signed(agreed({ keys: [stranger.jwk, kept] }), stranger)), refused(401)],
  ]),
  followed(
    [204],
    "an update that drops the recovery key",
    401,
    signed(after(WITH_RECOVERY, 2), editor),
  ),
  followed(
    [204],
    "an update that changes the recovery key",
    401,
    signed(after(WITH_RECOVERY, 2, { keys: [editor.jwk, recoveryOf(otherOffline)] }), editor),
  ),
  accepted(
    [204],
    "an update that drops the recovery key, which agrees",
    signed(agreed({ keys: [editor.jwk] }), editor),
  ),
  accepted(
    [204],
    "an update that changes the recovery key, which agrees",
    signed(agreed({ keys: [editor.jwk, recoveryOf(otherOffline)] }), editor),
  ),
  accepted(
    [204],
    "an update by a pinned key that drops a lost recovery key",
    signed(after(WITH_RECOVERY, 2, { keys: [spare.jwk] }), spare),
    { vouched: [spare.kid] },
  ),
  accepted(
    [204],
    "an update by the old key, which is pinned, that drops a lost recovery key",
    signed(after(WITH_RECOVERY, 2), editor),
    { vouched: [editor.kid] },
  ),
  inOrder([200], "an update that adds a recovery key", [
    [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
    [
      now(signed(after(FIRST_TEXT, 2, { keys: [editor.jwk, kept] }), editor)),
      { status: "ok", sequence: 2 },
    ],
  ]),
];

/** A verifier that trusts one manifest is shown a history of its agent. */
const chainOf = (title: string, known: string, shown: readonly string[], status: unknown): Row => ({
  rules: [205],
  title,
  input: { operation: "chain", known, shown, at: NOW },
  expect: { status },
});

const HISTORIES: readonly Row[] = [
  chainOf("a history that leads on", WITH_RECOVERY, [WITH_RECOVERY, RECOVERED_TEXT], "ok"),
  chainOf("a history that begins otherwise", FIRST_TEXT, [WITH_RECOVERY], 401),
  chainOf("a history that ends earlier", RECOVERED_TEXT, [WITH_RECOVERY], 401),
  chainOf("a history with nothing in it", FIRST_TEXT, [], 401),
];
/** A manifest with a capability that takes work only from these. */
const taking = (from: unknown): string =>
  signed({ ...FIRST, capabilities: [{ name: "edit", from }] }, editor);
const takes = (title: string, from: unknown): Row => {
  const text = taking(from);
  return inOrder([210], title, [[now(text), read(text, 1)]]);
};
const takesNot = (title: string, status: number, from: unknown): Row =>
  one([210], title, status, taking(from));
const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `a-${index}`);
/** A manifest whose capabilities name this many agents together. */
const named = (count: number): string => {
  const capabilities = Array.from({ length: Math.ceil(count / 32) }, (_, index) => ({
    name: `edit-${index}`,
    from: { agents: names(Math.min(32, count - 32 * index)) },
  }));
  return signed({ ...FIRST, capabilities }, editor);
};

const SIGNED: readonly Row[] = [
  inOrder([60, 61], "the first manifest of an agent", [
    [now(FIRST_TEXT), read(FIRST_TEXT, 1, { kids: [editor.kid] })],
  ]),
  inOrder([60, 63], "an update", [
    [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
    [now(SECOND_TEXT), read(SECOND_TEXT, 2)],
  ]),
  inOrder([63], "the same manifest again changes nothing", [
    [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
    [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
  ]),
  inOrder([62, 63, 65], "a key is rotated in two steps", chain),
  afterRotation([32, 65], "an envelope of a dropped key that comes in now", NOW + 2 * DAY, 401),
  afterRotation(
    [32, 65],
    "an envelope of a dropped key that came in before",
    NOW + 2 * DAY - 1,
    "ok",
  ),
  takes("a capability for agents, keys and groups", {
    agents: ["anna"],
    keys: [stranger.kid],
    groups: ["partners"],
  }),
  takes("a capability for 32 agents", { agents: names(32) }),
  takes("a capability for a group alone, with empty lists beside", {
    agents: [],
    keys: [],
    groups: ["partners"],
  }),
  takesNot("a capability for nobody", 400, {}),
  takesNot("a capability with empty lists", 400, { agents: [], keys: [], groups: [] }),
  takesNot("a capability for a list of agents", 400, ["anna"]),
  takesNot("a capability for an agent that can't be", 400, { agents: ["Anna"] }),
  takesNot("a capability for a key that can't be", 400, { keys: ["anna"] }),
  takesNot("a capability for a group that can't be", 400, { groups: ["my partners"] }),
  takesNot("a capability for a group with too long a name", 400, { groups: ["g".repeat(65)] }),
  takesNot("a capability for 33 agents", 413, { agents: names(33) }),
  takesNot("a capability for 17 keys", 413, { keys: Array.from({ length: 17 }, () => editor.kid) }),
  takesNot("a capability for 17 groups", 413, { groups: names(17) }),
  inOrder([210], "capabilities that name 1,024 agents together", [
    [now(named(1024)), read(named(1024), 1)],
  ]),
  one([210], "capabilities that name 1,025 agents together", 413, named(1025)),
  one([60], "a handoff where a manifest should be", 400, HANDOFF_TEXT),
  one(
    [60],
    "a manifest that says that it is a handoff",
    400,
    signed({ ...FIRST, kind: "handoff" }, editor),
  ),
  one([60], "a manifest without a kind", 400, signed({ ...FIRST, kind: undefined }, editor)),
  one([26, 60], "a manifest of version 2", 400, signed({ ...FIRST, waybill: 2 }, editor)),
  one([60], "a list where a manifest should be", 400, signed([FIRST], editor)),
  one([7], "a manifest with a member twice", 400, twice()),
  one([61], "a first manifest by a key that it does not list", 401, signed(FIRST, stranger)),
  one([61], "a first manifest that lists no key", 401, signed({ ...FIRST, keys: [] }, editor)),
  one(
    [20],
    "a manifest whose signature was changed",
    401,
    signed(FIRST, editor, { tamper: (bytes) => flip(bytes, 3) }),
  ),
  one([20], "a manifest whose content was changed", 401, changedContent()),
  one(
    [63],
    "an update without the manifest before it",
    400,
    signed({ ...FIRST, sequence: 2 }, editor),
  ),
  one(
    [63],
    "a first manifest that names one before it",
    400,
    signed({ ...FIRST, previous: digest("x") }, editor),
  ),
  one([91], "the second manifest of an agent, where a hub knows none", 409, SECOND_TEXT, {
    from_first: true,
  }),
  inOrder(
    [91],
    "the first and the second manifest, where a hub knows none",
    [
      [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
      [now(SECOND_TEXT), read(SECOND_TEXT, 2)],
    ],
    { input: { from_first: true } },
  ),
  inOrder([63], "the second manifest of an agent, to a reader that knows none", [
    [now(SECOND_TEXT), read(SECOND_TEXT, 2)],
  ]),
  one([28], "a sequence of 0", 400, signed({ ...FIRST, sequence: 0 }, editor)),
  update(
    [62],
    "a key change without the old key",
    401,
    signed(after(FIRST_TEXT, 2, { keys: [spare.jwk] }), spare),
  ),
  update(
    [62],
    "an update by a key that only the update lists",
    401,
    signed(after(FIRST_TEXT, 2, { keys: [provenBy(editor), spare.jwk] }), spare),
  ),
  update(
    [63],
    "the same number with other content",
    409,
    signed({ ...FIRST, version: "other" }, editor),
  ),
  update([63], "a skipped number", 409, signed(after(FIRST_TEXT, 3), editor)),
  update(
    [63],
    "another branch of history",
    409,
    signed(after(signed({ ...FIRST, version: "other" }, editor), 2), editor),
  ),
  update(
    [63],
    "another agent's id",
    409,
    signed(after(FIRST_TEXT, 2, { agent_id: researcher.agent }), editor),
  ),
  inOrder([63], "a manifest that is rolled back", [
    ...chain,
    [later(FIRST_TEXT, 3), refused(409)],
    [later(BOTH_TEXT, 3), refused(409)],
  ]),
  inOrder([62, 65], "a dropped key that signs an update", [
    ...chain,
    [later(signed(after(ROTATED_TEXT, 4, { keys: [editor.jwk] }), editor), 3), refused(401)],
  ]),
  inOrder(
    [114],
    "an update by a pinned key",
    [
      [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
      [now(PINNED_TEXT), read(PINNED_TEXT, 2, { kids: [spare.kid] })],
      [now(signed(after(PINNED_TEXT, 3), editor)), refused(401)],
    ],
    { input: { vouched: [spare.kid] } },
  ),
  inOrder(
    [114],
    "an update by a pinned key that it does not list",
    [
      [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
      [now(signed(after(FIRST_TEXT, 2), spare)), refused(401)],
    ],
    { input: { vouched: [spare.kid] } },
  ),
  inOrder(
    [114],
    "an update by another key than the pinned one",
    [
      [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
      [now(PINNED_TEXT), refused(401)],
    ],
    { input: { vouched: [stranger.kid] } },
  ),
  inOrder(
    [114],
    "a pinned key does not bring an old number back",
    [
      [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
      [now(signed({ ...FIRST, keys: [spare.jwk] }, spare)), refused(409)],
    ],
    { input: { vouched: [spare.kid] } },
  ),
  inOrder(
    [114],
    "a pinned key lists a key of the one before without a proof",
    [
      [now(FIRST_TEXT), read(FIRST_TEXT, 1)],
      [now(signed(after(FIRST_TEXT, 2, { keys: [spare.jwk, editor.jwk] }), spare)), refused(401)],
    ],
    { input: { vouched: [spare.kid] } },
  ),
  inOrder([62], "an update by a key that has run out", [
    [
      now(
        signed(
          { ...FIRST, keys: [editor.jwk, { ...provenBy(spare), not_after: timeAt(DAY) }] },
          editor,
        ),
      ),
      { status: "ok", sequence: 1 },
    ],
    [
      later(
        signed(
          after(
            signed(
              { ...FIRST, keys: [editor.jwk, { ...provenBy(spare), not_after: timeAt(DAY) }] },
              editor,
            ),
            2,
          ),
          spare,
        ),
        1,
      ),
      refused(401),
    ],
  ]),
  one(
    [61],
    "a first manifest by a key that is not valid yet",
    401,
    signed({ ...FIRST, keys: [{ ...editor.jwk, not_before: timeAt(MINUTE) }] }, editor),
  ),
  one(
    [61],
    "a first manifest by a key that is retired",
    401,
    signed({ ...FIRST, keys: [{ ...editor.jwk, retired_at: timeAt(-MINUTE) }] }, editor),
  ),
  one(
    [64],
    "a key of another agent",
    409,
    signed({ ...FIRST, keys: [editor.jwk, provenBy(researcher, { agent: editor.agent })] }, editor),
    {
      known_keys: { [researcher.kid]: researcher.agent },
    },
  ),
  one(
    [15],
    "a key of small order among its keys",
    401,
    signed({ ...FIRST, keys: [editor.jwk, jwkOf(hexBytes(SMALL_ORDER[3]![1]))] }, editor),
  ),
  one(
    [17],
    "a private key among its keys",
    400,
    signed({ ...FIRST, keys: [{ ...editor.jwk, d: "AAAA" }] }, editor),
  ),
  one(
    [16],
    "a key under a kid that is not its thumbprint",
    400,
    signed({ ...FIRST, keys: [{ ...editor.jwk, kid: spare.kid }] }, editor),
  ),
  inOrder([89, 90], "a second key, with its proof", [
    [now(signed({ ...FIRST, keys: [editor.jwk, provenBy(spare)] }, editor)), BOTH_KEYS],
  ]),
  inOrder([89, 90], "a key that signs and carries a proof all the same", [
    [now(signed({ ...FIRST, keys: [provenBy(editor), provenBy(spare)] }, editor)), BOTH_KEYS],
  ]),
  unproven([89], "a second key without a proof", spare.jwk),
  unproven([89], "a key that was copied from another agent's manifest", researcher.jwk),
  unproven([89], "a proof that is empty", { ...spare.jwk, proof: "" }),
  unproven([89], "a proof that is cut short", {
    ...spare.jwk,
    proof: (provenBy(spare)["proof"] as string).slice(0, -4),
  }),
  unproven([89], "a proof of zeros", { ...spare.jwk, proof: "A".repeat(86) }),
  unproven([90], "a proof by another key", {
    ...spare.jwk,
    proof: provenBy({ ...editor, kid: spare.kid })["proof"],
  }),
  unproven([90], "a proof for another agent", provenBy(spare, { agent: stranger.agent })),
  unproven([90], "a proof for another key", provenBy(spare, { kid: editor.kid })),
  unproven([90], "a proof for another purpose", provenBy(spare, { purpose: "recover" })),
  unproven([90], "a proof of another version", provenBy(spare, { prefix: "waybill key 2" })),
  update(
    [89],
    "an update that drops the key that signs it, for one without a proof",
    401,
    signed(after(FIRST_TEXT, 2, { keys: [spare.jwk] }), editor),
  ),
  update(
    [89],
    "an update by the new key that lists the old one without a proof",
    401,
    signed(after(FIRST_TEXT, 2, { keys: [editor.jwk, spare.jwk] }), spare),
  ),
  one(
    [67],
    "a schema with a remote reference",
    400,
    signed(
      {
        ...FIRST,
        capabilities: [{ name: "edit", input_schema: { $ref: "https://example.com/s.json" } }],
      },
      editor,
    ),
  ),
  one(
    [6],
    "a key with a time that there is not",
    400,
    signed({ ...FIRST, keys: [{ ...editor.jwk, not_after: "2027-02-30T00:00:00Z" }] }, editor),
  ),
];

function twice(): string {
  const text = JSON.stringify(FIRST).replace("{", '{"sequence":9,');
  return signed(JSON.parse("{}") as object, editor, {
    encodedPayload: Buffer.from(text).toString("base64url"),
  });
}

function changedContent(): string {
  const [head, , signature] = FIRST_TEXT.split(".") as [string, string, string];
  const payload = Buffer.from(JSON.stringify({ ...FIRST, version: "9" })).toString("base64url");
  return `${head}.${payload}.${signature}`;
}

const BY: Members = { kids: [editor.kid] };
const BY_OTHER: Members = { kids: [stranger.kid] };
const EXACT: Members = { digest: digestOfJws(FIRST_TEXT) };
const CHANGED: Members = { digest: digest("another form") };
const policy = (over: Members): Members => ({
  trust: { pins: null, allow_list: null, registry: null, first_use: false, ...over },
});
const of = (vouched: Members): Members => ({ [editor.agent]: vouched });

function trusted(title: string, over: Members, by: string): Row {
  return inOrder(
    [70],
    `trust: ${title}`,
    [[now(FIRST_TEXT), read(FIRST_TEXT, 1, { trusted_by: by })]],
    { input: policy(over) },
  );
}
const distrusted = (title: string, over: Members, status: number): Row =>
  one([70], `trust: ${title}`, status, FIRST_TEXT, policy(over));

const TRUST: readonly Row[] = [
  trusted("a pinned key", { pins: of(BY) }, "pin"),
  trusted("a pinned form", { pins: of(EXACT) }, "pin"),
  trusted("an entry of the allow-list with its key", { allow_list: of(BY) }, "allow_list"),
  trusted("the registry", { registry: of(BY) }, "registry"),
  trusted("first use, where it is switched on", { first_use: true }, "first_use"),
  trusted(
    "a pin before an allow-list that does not know the agent",
    { pins: of(BY), allow_list: {} },
    "pin",
  ),
  trusted(
    "an allow-list before a registry that says otherwise",
    { allow_list: of(BY), registry: of(BY_OTHER) },
    "allow_list",
  ),
  distrusted("nothing vouches", {}, 401),
  distrusted("only others are pinned", { pins: { [researcher.agent]: BY } }, 401),
  distrusted(
    "another key is pinned, though the registry vouches",
    { pins: of(BY_OTHER), registry: of(BY) },
    401,
  ),
  distrusted("a manifest that changed under a pinned digest", { pins: of(CHANGED) }, 403),
  distrusted(
    "an allow-list without the agent, though the registry vouches",
    { allow_list: { [hub.agent]: {} }, registry: of(BY), first_use: true },
    403,
  ),
  distrusted(
    "another key in the registry, though first use is on",
    { registry: of(BY_OTHER), first_use: true },
    401,
  ),
  distrusted("another form in the registry", { registry: of(CHANGED) }, 403),
];

const FOUNDING = {
  agent_id: "research-agent-001",
  capabilities: [
    {
      name: "web_research",
      input_schema: { query: "string", depth: "int" },
      output_schema: { sources: "array", summary: "string" },
      timeout_seconds: 300,
      reliability_sla: 0.95,
    },
  ],
  discovery_endpoint: "https://agent-registry.example.com/research-agent-001",
};

const plain = (
  rules: readonly number[],
  title: string,
  manifest: unknown,
  expect: Members,
): Row => ({
  rules,
  title,
  input: { operation: "read", manifest },
  expect,
});
const capability = (over: Members): Members => ({
  ...FOUNDING,
  capabilities: [{ name: "web_research", ...over }],
});

const PLAIN: readonly Row[] = [
  plain([66], "the manifest of the founding document, as it stands", FOUNDING, {
    status: "ok",
    manifest: {
      agent_id: "research-agent-001",
      sequence: 1,
      keys: [],
      discovery_endpoint: "https://agent-registry.example.com/research-agent-001",
      capabilities: [
        {
          name: "web_research",
          input_schema: {
            type: "object",
            properties: { query: { type: "string" }, depth: { type: "integer" } },
            required: ["query", "depth"],
          },
          output_schema: {
            type: "object",
            properties: { sources: { type: "array" }, summary: { type: "string" } },
            required: ["sources", "summary"],
          },
          timeout_seconds: 300,
          reliability_sla: 0.95,
        },
      ],
    },
  }),
  plain([66], "a capability that is only a name", capability({}), {
    status: "ok",
    manifest: {
      capabilities: [
        {
          name: "web_research",
          version: "1",
          takes: "structured",
          effects: "possible",
          max_attempts: 3,
          lease_seconds: 30,
          timeout_seconds: 300,
          reliability_sla: 0,
        },
      ],
    },
  }),
  plain(
    [29, 66],
    "members that nobody knows",
    { ...FOUNDING, colour: "blue" },
    { status: "ok", manifest: { agent_id: "research-agent-001" } },
  ),
  plain(
    [28],
    "no agent_id",
    { ...FOUNDING, agent_id: undefined },
    { status: 400, at: "/agent_id" },
  ),
  plain(
    [5],
    "an agent_id in upper case",
    { ...FOUNDING, agent_id: "Research-Agent-001" },
    { status: 400, at: "/agent_id" },
  ),
  plain(
    [28],
    "no capabilities",
    { ...FOUNDING, capabilities: undefined },
    { status: 400, at: "/capabilities" },
  ),
  plain(
    [28],
    "a capability without a name",
    { ...FOUNDING, capabilities: [{}] },
    { status: 400, at: "/capabilities/0/name" },
  ),
  plain([28], "a reliability above 1", capability({ reliability_sla: 1.5 }), {
    status: 400,
    at: "/capabilities/0/reliability_sla",
  }),
  plain([28], "a timeout of 0", capability({ timeout_seconds: 0 }), {
    status: 400,
    at: "/capabilities/0/timeout_seconds",
  }),
  plain(
    [28],
    "an endpoint that is no web address",
    { ...FOUNDING, discovery_endpoint: "javascript:alert(1)" },
    { status: 400, at: "/discovery_endpoint" },
  ),
  plain(
    [66],
    "a type of the shorthand that there is not",
    capability({ input_schema: { query: "text" } }),
    { status: 400 },
  ),
  plain(
    [68],
    "a pattern with a lookahead in a schema",
    capability({ input_schema: { type: "string", pattern: "(?=a)" } }),
    { status: 400 },
  ),
  plain([28], "a list", [FOUNDING], { status: 400 }),
  long([93], "20,000 schemas in two capabilities", schemas(9_998, 9_998), { status: "ok" }),
  long([93], "more than 20,000 schemas in three capabilities", schemas(9_000, 9_000, 9_000), {
    status: 413,
  }),
  long([93], "more than two million characters in five capabilities", texts(5), { status: 413 }),
  long([93], "fewer than that in four capabilities", texts(4), { status: "ok" }),
];

function long(
  rules: readonly number[],
  title: string,
  input_schemas: readonly Text[],
  expect: Members,
): Row {
  const parts = input_schemas.flatMap((schema, index): Text[] => [
    `${index === 0 ? "" : ","}{"name":"c${index}","input_schema":`,
    schema,
    "}",
  ]);
  const manifest_text = {
    concat: [`{"agent_id":"${editor.agent}","capabilities":[`, ...parts, "]}"],
  };
  return { rules, title, input: { operation: "read", manifest_text }, expect };
}

/** One schema with this many others in it. */
function schemas(...counts: readonly number[]): Text[] {
  return counts.map((count) => ({ concat: ['{"anyOf":[', many("true,", count - 1), "true]}"] }));
}

/** Half a million characters each, counting eight for each of the values. */
function texts(count: number): Text[] {
  const schema = { concat: ['{"enum":[', many("0,", 59_999), "0]}"] };
  return Array.from({ length: count }, () => schema);
}

export const MANIFESTS: VectorFile = vectorFile(
  "manifests",
  "manifest",
  "Manifests: signed, one after the other, with whom to trust; and plain ones, to be read and normalised.",
  [...SIGNED, ...TRUST, ...PLAIN, ...RECOVERIES, ...HISTORIES],
);
