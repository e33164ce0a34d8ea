import { deepEqual, equal } from "node:assert/strict";
import type { Commit, SettingChange } from "@waybill/hub/store";
import type { Cases } from "../case.ts";
import { commitAll, inPages } from "../case.ts";
import { sampleEntry } from "../sample.ts";
import { commitOne } from "@waybill/hub/store";

const changing = (...settings: SettingChange[]): Commit => ({
  handoff: null,
  entries: [sampleEntry(JSON.stringify(settings))],
  settings,
});

const TICKET = "invitation one";
const open: SettingChange = { name: TICKET, from: null, to: "open" };
const used = (by: string): SettingChange => ({ name: TICKET, from: "open", to: `used by ${by}` });

export const settingCases: Cases = {
  "a commit changes its settings, and removes those without a value": async ({ store }) => {
    await commitAll(store, [changing(open, { name: "other", from: null, to: "1" })]);
    equal(await store.setting(TICKET), "open");
    await commitAll(store, [changing(used("anna"), { name: "other", from: "1", to: null })]);
    equal(await store.setting(TICKET), "used by anna");
    equal(await store.setting("other"), undefined);
  },

  "a commit whose settings are not as it expects is a conflict, and changes nothing": async ({
    store,
  }) => {
    await commitAll(store, [changing(open)]);
    const wrong = [open, { ...open, from: "something else" }, { name: "x", from: "y", to: null }];
    for (const change of wrong) {
      const more: SettingChange = { name: "more", from: null, to: "1" };
      equal((await commitOne(store, changing(more, change))).type, "conflict");
    }
    equal(await store.setting(TICKET), "open");
    equal(await store.setting("more"), undefined);
  },

  "of concurrent commits that consume one setting exactly one succeeds": async ({ store }) => {
    await commitAll(store, [changing(open)]);
    const names = ["anna", "ben", "cleo", "dora"];
    const outcomes = await Promise.all(names.map((name) => commitOne(store, changing(used(name)))));
    const winners = names.filter((_, index) => outcomes[index]!.type === "committed");
    equal(winners.length, 1);
    equal(outcomes.filter(({ type }) => type === "conflict").length, 3);
    equal(await store.setting(TICKET), `used by ${winners[0]}`);
  },

  "settings are listed by name prefix, in pages": async ({ store }) => {
    await store.saveSetting("pin", "not one of them");
    const names = ["pin a", "pin b", "pin b-1", "pin c"];
    const changes = ["pin/", ...names.toReversed()].map((name) => ({ name, from: null, to: name }));
    await commitAll(store, [changing(...changes)]);
    await commitAll(store, [changing({ name: "pin c", from: "pin c", to: "changed" })]);
    const read = (page: { readonly after?: string; readonly limit: number }) =>
      store.settings("pin ", page);
    const values = ["pin a", "pin b", "pin b-1", "changed"];
    const all = names.map((name, index) => ({ name, value: values[index] }));
    deepEqual(
      (await read({ limit: 100 })).map((each) => ({ ...each })),
      all,
    );
    deepEqual(
      (await inPages(read, ({ name }) => name)).map((each) => ({ ...each })),
      all,
    );
    deepEqual(await store.settings("none", { limit: 100 }), []);
  },
};
