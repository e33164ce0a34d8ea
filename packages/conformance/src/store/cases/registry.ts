import { deepEqual, equal } from "node:assert/strict";
import type { ManifestCard, NewManifest, OfferPlace, Store } from "@waybill/hub/store";
import type { Cases } from "../case.ts";
import { commitAll, inPages } from "../case.ts";
import {
  cardOf,
  keyCommit,
  commitOf,
  manifestCommit,
  sampleCapability,
  sampleEnvelope,
  sampleHandoff,
  sampleKey,
  sampleManifest,
} from "../sample.ts";
import { commitOne } from "@waybill/hub/store";

const numbers = (manifests: readonly ManifestCard[]) =>
  manifests.map(({ agent, sequence }) => `${agent} ${sequence}`);

const publishAll = (store: Store, manifests: readonly NewManifest[]) =>
  commitAll(store, manifests.map(manifestCommit));

type By = Parameters<Store["offers"]>[0];

/** The offers, read at once and in pages. */
async function offered(store: Store, by: By): Promise<string[]> {
  const read = (page: { readonly after?: OfferPlace; readonly limit: number }) =>
    store.offers(by, page);
  const nameOf = ({ name, agent, version }: OfferPlace) => `${name} ${agent} ${version}`;
  const all = (await read({ limit: 100 })).map(nameOf);
  deepEqual((await inPages(read, (offer) => offer)).map(nameOf), all);
  return all;
}

export const registryCases: Cases = {
  "the newest manifest of an agent is read back as it was written": async ({ store }) => {
    const newest = sampleManifest("editor", 2, ["edit", "review"]);
    await publishAll(store, [sampleManifest("editor", 1, ["edit"]), newest]);
    deepEqual({ ...(await store.manifest("editor")) }, { ...cardOf(newest), text: newest.text });
    equal(await store.manifest("stranger"), undefined);
  },

  "every manifest of an agent is kept, by sequence": async ({ store }) => {
    const all = Array.from({ length: 11 }, (_, index) => sampleManifest("editor", index + 1));
    await publishAll(store, [...all.slice(0, 5), sampleManifest("researcher", 1)]);
    await publishAll(store, all.slice(5));
    const read = (page: { readonly after?: number; readonly limit: number }) =>
      store.manifests("editor", page);
    deepEqual(numbers(await read({ limit: 100 })), numbers(all));
    deepEqual(numbers(await inPages(read, ({ sequence }) => sequence)), numbers(all));
    deepEqual(numbers(await store.manifests("stranger", { limit: 100 })), []);
  },

  "a page of manifests ends with the text that reaches its characters": async ({ store }) => {
    const all = [1, 2, 3, 4].map((sequence) => sampleManifest("editor", sequence));
    await publishAll(store, all);
    const { length } = all[0]!.text;
    for (const [characters, count] of [
      [1, 1],
      [length, 1],
      [length + 1, 2],
      [3 * length, 3],
      [100 * length, 4],
    ] as const) {
      const page = await store.manifests("editor", { limit: 100, characters });
      deepEqual(numbers(page), numbers(all.slice(0, count)));
    }
    deepEqual(numbers(await store.manifests("editor", { after: 1, limit: 2, characters: 1 })), [
      "editor 2",
    ]);
  },

  "a manifest that is not the next of its agent is a conflict": async ({ store }) => {
    const first = await commitOne(store, manifestCommit(sampleManifest("editor", 2)));
    equal(first.type, "conflict", "the first one must have number 1");
    await publishAll(
      store,
      [1, 2, 3].map((sequence) => sampleManifest("editor", sequence)),
    );
    for (const sequence of [2, 3, 5]) {
      const { type } = await commitOne(store, manifestCommit(sampleManifest("editor", sequence)));
      equal(type, "conflict", `number ${sequence} after number 3`);
    }
  },

  "of manifests that race for a sequence exactly one wins": async ({ store }) => {
    await publishAll(store, [sampleManifest("editor", 1)]);
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () =>
        commitOne(store, manifestCommit(sampleManifest("editor", 2))),
      ),
    );
    equal(outcomes.filter(({ type }) => type === "committed").length, 1);
  },

  "agents are listed by id, each with its newest manifest and without its text": async ({
    store,
  }) => {
    const all = ["d", "a", "c", "e", "b"].map((agent) => sampleManifest(agent, 1));
    const newest = sampleManifest("c", 2);
    await publishAll(store, [...all, newest]);
    const listed = [all[1]!, all[4]!, newest, all[0]!, all[3]!].map(cardOf);
    const read = (page: { readonly after?: string; readonly limit: number }) => store.agents(page);
    deepEqual(
      (await read({ limit: 100 })).map((card) => ({ ...card })),
      listed,
    );
    deepEqual(numbers(await inPages(read, ({ agent }) => agent)), numbers(listed));
  },

  "a key is read back as it was written last": async ({ store }) => {
    const keys = [sampleKey("one", "first"), sampleKey("two", "second")];
    await publishAll(store, [
      sampleManifest("editor", 1, [], keys),
      sampleManifest("editor", 2, [], [sampleKey("one", "retired")]),
    ]);
    deepEqual({ ...(await store.key("one")) }, { kid: "one", agent: "editor", record: "retired" });
    deepEqual({ ...(await store.key("two")) }, { kid: "two", agent: "editor", record: "second" });
    equal(await store.key("three"), undefined);
  },

  "a manifest with a key of another agent is refused, and leaves nothing behind": async ({
    store,
    observe,
  }) => {
    await publishAll(store, [sampleManifest("editor", 1, [], [sampleKey("taken")])]);
    const manifest = sampleManifest(
      "stranger",
      1,
      ["edit"],
      [sampleKey("own"), sampleKey("taken")],
    );
    const commit = { ...commitOf(sampleHandoff(1), sampleEnvelope(1)), manifest };
    deepEqual(
      { ...(await commitOne(store, commit)) },
      {
        type: "key_owned",
        kid: "taken",
        agent: "editor",
      },
    );
    const { handoffs, entries } = await observe();
    equal(handoffs.length, 0);
    equal(entries.length, 1);
    equal(await store.manifest("stranger"), undefined);
    equal(await store.key("own"), undefined);
    deepEqual(await offered(store, {}), []);
  },

  "a key stays with its agent when a later manifest does not name it": async ({ store }) => {
    await publishAll(store, [
      sampleManifest("editor", 1, [], [sampleKey("old")]),
      sampleManifest("editor", 2, [], [sampleKey("new")]),
    ]);
    const squatting = sampleManifest("stranger", 1, [], [sampleKey("old")]);
    equal((await commitOne(store, manifestCommit(squatting))).type, "key_owned");
    equal((await store.key("old"))?.agent, "editor");
  },

  "a commit changes keys and facts without a manifest": async ({ store }) => {
    const newest = sampleManifest("editor", 2, ["edit"], [sampleKey("one"), sampleKey("two")]);
    await publishAll(store, [sampleManifest("editor", 1, ["edit"]), newest]);
    const facts = '{"changed":true}';
    await commitAll(store, [keyCommit("editor", 2, facts, sampleKey("one", "ended"))]);
    deepEqual({ ...(await store.key("one")) }, { kid: "one", agent: "editor", record: "ended" });
    deepEqual({ ...(await store.key("two")) }, { kid: "two", agent: "editor", record: "{}" });
    equal((await store.manifest("editor"))?.facts, facts);
    equal((await store.offers({ agent: "editor" }, { limit: 1 }))[0]?.facts, facts);
    const [first] = await store.manifests("editor", { limit: 1 });
    equal(first?.facts, sampleManifest("editor", 1).facts);
  },

  "an agent can be withdrawn without a manifest, until it publishes the next one": async ({
    store,
  }) => {
    await publishAll(store, [
      sampleManifest("editor", 1, ["edit", "review"]),
      sampleManifest("other", 1, ["edit"]),
    ]);
    const change = keyCommit("editor", 1, "{}");
    await commitAll(store, [{ ...change, keys: { ...change.keys!, isWithdrawn: true } }]);
    deepEqual(await offered(store, {}), ["edit other 1"]);
    deepEqual(await offered(store, { agent: "editor" }), []);
    deepEqual(await offered(store, { audience: "*" }), ["edit other 1"]);
    deepEqual(
      (await store.capabilityNames({ limit: 10 })).map((each) => ({ ...each })),
      [{ name: "edit", agents: 1 }],
    );
    await publishAll(store, [sampleManifest("editor", 2, ["edit"])]);
    deepEqual(await offered(store, { agent: "editor" }), ["edit editor 1"]);
  },

  "a change of keys that does not fit is refused, and changes nothing": async ({ store }) => {
    await publishAll(store, [
      sampleManifest("editor", 1, [], [sampleKey("one")]),
      sampleManifest("editor", 2, [], [sampleKey("two")]),
      sampleManifest("other", 1, [], [sampleKey("taken")]),
    ]);
    const facts = '{"changed":true}';
    for (const [agent, sequence] of [
      ["editor", 1],
      ["editor", 3],
      ["nobody", 1],
    ] as const) {
      const change = keyCommit(agent, sequence, facts, sampleKey("one", "ended"));
      equal((await commitOne(store, change)).type, "conflict", `${agent} ${sequence}`);
    }
    const stolen = keyCommit("editor", 2, facts, sampleKey("one", "ended"), sampleKey("taken"));
    deepEqual(
      { ...(await commitOne(store, stolen)) },
      { type: "key_owned", kid: "taken", agent: "other" },
    );
    equal((await store.key("one"))?.record, "{}");
    equal((await store.manifest("editor"))?.facts, sampleManifest("editor", 2).facts);
  },

  "of manifests that race for a key exactly one wins": async ({ store }) => {
    const agents = Array.from({ length: 8 }, (_, index) => `agent-${index}`);
    const outcomes = await Promise.all(
      agents.map((agent) =>
        commitOne(store, manifestCommit(sampleManifest(agent, 1, [], [sampleKey("wanted")]))),
      ),
    );
    const winners = agents.filter((_, index) => outcomes[index]!.type === "committed");
    equal(winners.length, 1, `the manifests of ${winners.join(", ")} were taken`);
    const agent = winners[0]!;
    for (const outcome of outcomes) {
      if (outcome.type !== "committed") {
        deepEqual({ ...outcome }, { type: "key_owned", kid: "wanted", agent });
      }
    }
    equal((await store.key("wanted"))?.agent, agent);
  },

  "offers are listed by name, agent and version": async ({ store }) => {
    await publishAll(store, [
      sampleManifest("c", 1, ["edit 2", "edit", "review"]),
      sampleManifest("a", 1, ["review", "edit", "edit 3", "edit 2"]),
      sampleManifest("a-b", 1, ["edit"]),
      sampleManifest("b", 1, ["translate"]),
    ]);
    const ofA = ["edit a 1", "edit a 2", "edit a 3"];
    const edit = [...ofA, "edit a-b 1", "edit c 1", "edit c 2"];
    const review = ["review a 1", "review c 1"];
    deepEqual(await offered(store, {}), [...edit, ...review, "translate b 1"]);
    deepEqual(await offered(store, { name: "edit" }), edit);
    deepEqual(await offered(store, { name: "review" }), review);
    deepEqual(await offered(store, { agent: "a" }), [...ofA, "review a 1"]);
    deepEqual(await offered(store, { agent: "a", name: "edit" }), ofA);
    deepEqual(await offered(store, { name: "cook" }), []);
    deepEqual(await offered(store, { agent: "d" }), []);
    const later = { after: { name: "edit", agent: "a ", version: "" }, limit: 1 };
    deepEqual(
      (await store.offers({ name: "edit" }, later)).map(({ agent }) => agent),
      ["a-b"],
    );
  },

  "an offer tells of its capability and of the newest manifest": async ({ store }) => {
    const newest = sampleManifest("editor", 2, ["edit"]);
    await publishAll(store, [sampleManifest("editor", 1, ["edit"]), newest]);
    const { terms, text } = sampleCapability("edit");
    const { sequence, digest, facts } = newest;
    const place = { name: "edit", agent: "editor", version: "1" };
    const offer = { ...place, terms, characters: text.length, sequence, digest, facts };
    for (const by of [{}, { name: "edit" }, { agent: "editor" }]) {
      deepEqual(
        (await store.offers(by, { limit: 10 })).map((each) => ({ ...each })),
        [offer],
      );
    }
  },

  "offers are listed under their audiences": async ({ store }) => {
    const to = (agent: string, ...given: readonly [string, readonly string[]][]): NewManifest => ({
      ...sampleManifest(agent, 1),
      capabilities: given.map(([each, audiences]) => sampleCapability(each, audiences)),
    });
    await publishAll(store, [
      to("a", ["edit", ["*"]], ["edit 2", ["agent x", "group g"]], ["review", ["group g"]]),
      to("b", ["edit", ["group g"]], ["edit 2", ["group g"]]),
      to("b-c", ["edit", ["group"]]),
    ]);
    const group = ["edit a 2", "edit b 1", "edit b 2"];
    deepEqual(await offered(store, { audience: "*" }), ["edit a 1"]);
    deepEqual(await offered(store, { audience: "agent x" }), ["edit a 2"]);
    deepEqual(await offered(store, { audience: "group g" }), [...group, "review a 1"]);
    deepEqual(await offered(store, { audience: "group g", name: "edit" }), group);
    deepEqual(await offered(store, { audience: "group g", name: "cook" }), []);
    deepEqual(await offered(store, { audience: "group h" }), []);
    const changed = to("b", ["edit", ["*", "agent x"]]);
    await publishAll(store, [{ ...changed, sequence: 2 }]);
    deepEqual(await offered(store, { audience: "group g" }), ["edit a 2", "review a 1"]);
    deepEqual(await offered(store, { audience: "agent x", name: "edit" }), [
      "edit a 2",
      "edit b 1",
    ]);
    deepEqual(await offered(store, { audience: "*" }), ["edit a 1", "edit b 1"]);
  },

  "names are listed for an audience with the number of agents that offer them to it": async ({
    store,
  }) => {
    const to = (agent: string, sequence: number, audiences: readonly string[]): NewManifest => ({
      ...sampleManifest(agent, sequence),
      capabilities: ["edit", "edit 2", "review"].map((each) => sampleCapability(each, audiences)),
    });
    await publishAll(store, [to("a", 1, ["*"]), to("b", 1, ["*", "group g"]), to("c", 1, ["*"])]);
    await publishAll(store, [to("c", 2, ["group g"]), to("a", 2, ["agent x"])]);
    const names = (agents: number) => ["edit", "review"].map((name) => ({ name, agents }));
    for (const [audience, agents] of [
      ["*", 1],
      ["group g", 2],
      ["agent x", 1],
    ] as const) {
      const read = (page: { readonly after?: string; readonly limit: number }) =>
        store.capabilityNames(page, audience);
      deepEqual(
        (await inPages(read, ({ name }) => name)).map((each) => ({ ...each })),
        names(agents),
      );
    }
    deepEqual(await store.capabilityNames({ limit: 10 }, "group h"), []);
  },

  "withdrawn offers are not listed": async ({ store }) => {
    await publishAll(store, [
      sampleManifest("editor", 1, ["edit", "review"]),
      sampleManifest("editor", 2, ["edit"]),
    ]);
    deepEqual(await offered(store, { name: "review" }), []);
    deepEqual(await offered(store, { agent: "editor" }), ["edit editor 1"]);
    const place = { name: "review", agent: "editor", version: "1" };
    equal(await store.capability(place), undefined);
  },

  "a capability is read back as it was written, with the number of its manifest": async ({
    store,
  }) => {
    const changed = { ...sampleCapability("review"), text: '{"changed":true} ' };
    const capabilities = [sampleCapability("edit"), changed];
    await publishAll(store, [
      sampleManifest("editor", 1, ["edit", "review"]),
      { ...sampleManifest("editor", 2), capabilities },
    ]);
    for (const { name, version, text } of capabilities) {
      const read = await store.capability({ name, agent: "editor", version });
      deepEqual({ ...read }, { text, sequence: 2 });
    }
  },

  "names are listed with the number of agents that offer them": async ({ store }) => {
    await publishAll(store, [
      sampleManifest("a", 1, ["edit", "edit 2", "review", "cook"]),
      sampleManifest("b", 1, ["edit", "translate"]),
      sampleManifest("c", 1, ["edit"]),
      sampleManifest("c", 2, ["edit 2", "translate"]),
      sampleManifest("a", 2, ["edit", "edit 2", "review"]),
    ]);
    const names = [
      { name: "edit", agents: 3 },
      { name: "review", agents: 1 },
      { name: "translate", agents: 2 },
    ];
    const read = (page: { readonly after?: string; readonly limit: number }) =>
      store.capabilityNames(page);
    deepEqual(
      (await read({ limit: 100 })).map((each) => ({ ...each })),
      names,
    );
    deepEqual(
      (await inPages(read, ({ name }) => name)).map((each) => ({ ...each })),
      names,
    );
  },
};
