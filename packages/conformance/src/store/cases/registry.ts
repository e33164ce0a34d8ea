import { deepEqual, equal } from "node:assert/strict";
import type { StoredManifest } from "@waybill/hub";
import type { Cases } from "../case.ts";
import { commitAll, inPages } from "../case.ts";
import { manifestCommit, sampleManifest } from "../sample.ts";

const numbers = (manifests: readonly StoredManifest[]) =>
  manifests.map(({ agent, sequence }) => `${agent} ${sequence}`);

export const registryCases: Cases = {
  "the newest manifest of an agent is read back as it was written": async ({ store }) => {
    const newest = sampleManifest("editor", 2, ["edit", "review"]);
    await commitAll(store, [
      manifestCommit(sampleManifest("editor", 1, ["edit"])),
      manifestCommit(newest),
    ]);
    deepEqual({ ...(await store.manifest("editor")) }, newest);
  },

  "every manifest of an agent is kept, by sequence": async ({ store }) => {
    await commitAll(store, [
      manifestCommit(sampleManifest("editor", 9)),
      manifestCommit(sampleManifest("researcher", 1)),
      manifestCommit(sampleManifest("editor", 10)),
      manifestCommit(sampleManifest("editor", 11)),
    ]);
    deepEqual(numbers(await store.manifests("editor")), ["editor 9", "editor 10", "editor 11"]);
  },

  "a manifest that is not the next of its agent is a conflict": async ({ store }) => {
    await commitAll(store, [manifestCommit(sampleManifest("editor", 5))]);
    for (const sequence of [4, 5, 7]) {
      const { type } = await store.commit(manifestCommit(sampleManifest("editor", sequence)));
      equal(type, "conflict", `number ${sequence} after number 5`);
    }
  },

  "of manifests that race for a sequence exactly one wins": async ({ store }) => {
    await commitAll(store, [manifestCommit(sampleManifest("editor", 1))]);
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => store.commit(manifestCommit(sampleManifest("editor", 2)))),
    );
    equal(outcomes.filter(({ type }) => type === "committed").length, 1);
  },

  "agents are listed by id, each with its newest manifest": async ({ store }) => {
    for (const agent of ["d", "a", "c", "e", "b"]) {
      await commitAll(store, [manifestCommit(sampleManifest(agent, 1))]);
    }
    await commitAll(store, [manifestCommit(sampleManifest("c", 2))]);
    const all = ["a 1", "b 1", "c 2", "d 1", "e 1"];
    const read = (page: { after?: string; limit: number }) => store.agents(page);
    deepEqual(numbers(await read({ limit: 100 })), all);
    deepEqual(numbers(await inPages(read, ({ agent }) => agent)), all);
  },

  "who offers a capability is listed by id, with the newest manifest": async ({ store }) => {
    for (const agent of ["d", "a", "c", "e", "b"]) {
      await commitAll(store, [manifestCommit(sampleManifest(agent, 1, ["edit", agent]))]);
    }
    const all = ["a 1", "b 1", "c 1", "d 1", "e 1"];
    const read = (page: { after?: string; limit: number }) => store.offering("edit", page);
    deepEqual(numbers(await read({ limit: 100 })), all);
    deepEqual(numbers(await inPages(read, ({ agent }) => agent)), all);
    deepEqual(numbers(await store.offering("c", { limit: 100 })), ["c 1"]);
    deepEqual(numbers(await store.offering("x", { limit: 100 })), []);
  },

  "who offers a capability no more is not listed": async ({ store }) => {
    await commitAll(store, [
      manifestCommit(sampleManifest("editor", 1, ["edit", "review"])),
      manifestCommit(sampleManifest("editor", 2, ["edit"])),
    ]);
    deepEqual(numbers(await store.offering("review", { limit: 10 })), []);
    deepEqual(numbers(await store.offering("edit", { limit: 10 })), ["editor 2"]);
  },
};
