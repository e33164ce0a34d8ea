/// <reference types="node" />
import { newId } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask, asOperator, openWorld } from "./served-fixture.ts";
import type { Answer, Party, Wire, World } from "./served-fixture.ts";

let world: World;
let editor: Party;
let other: Party;

beforeEach(async () => {
  world = await openWorld();
  editor = await world.party("editor");
  other = await world.party("other");
  const from = { agents: ["editor"] };
  await world.party("closed", [
    { name: "edit", from },
    { name: "secret", from },
  ]);
  await world.party("mixed", [
    { name: "edit", description: "for everybody" },
    { name: "edit", version: "2", from: { keys: [editor.key.kid] } },
    { name: "review", from: { agents: ["nobody-here"] } },
  ]);
});

afterEach(() => world.close());

type Asking = (path: string, body?: unknown) => Promise<Answer>;

/** The ways to ask: as an agent, unauthenticated, as an operator. */
const asParty =
  (party: Party): Asking =>
  (path, body) =>
    party.ask(path, body === undefined ? {} : { body });
const asAnybody: Asking = (path, body) => ask(world.url + path, { body });
const asTheOperator: Asking = (path, body) =>
  ask(world.url + path, { body, headers: asOperator(world.served, path, { body }) });

interface Fit {
  readonly agent_id: string;
  readonly capability: { readonly name: string; readonly version: string };
}

const placesOf = ({ json }: Answer): readonly string[] =>
  (json["fits"] as readonly Fit[]).map(
    ({ agent_id: agent, capability: { name, version } }) => `${agent} ${name} ${version}`,
  );

/** Every way to see what is offered, each with a text of what it has shown. */
async function seen(asking: Asking): Promise<Record<string, unknown>> {
  const [names, found, anything, list, card] = await Promise.all([
    asking("/v1/capabilities"),
    asking("/v1/capabilities?capability=edit"),
    asking("/v1/capabilities/find", {}),
    asking("/v1/agents"),
    asking("/v1/agents/mixed"),
  ]);
  const agents = list.json["agents"] as readonly {
    readonly agent_id: string;
    readonly capabilities: readonly { readonly name: string; readonly version: string }[];
    readonly capability_count: number;
  }[];
  const ofMixed = card.json["capabilities"] as readonly Fit["capability"][];
  return {
    names: names.json["capabilities"],
    edit: placesOf(found).toSorted(),
    leftOut: found.json["left_out"],
    all: placesOf(anything).toSorted(),
    agents: agents
      .filter(({ agent_id: agent }) => agent === "closed" || agent === "mixed")
      .map(({ agent_id: agent, capabilities, capability_count: count }) => [
        agent,
        count,
        ...capabilities.map(({ name, version }) => `${name} ${version}`),
      ]),
    mixed: [
      card.json["capability_count"],
      ...ofMixed.map(({ name, version }) => `${name} ${version}`),
    ],
  };
}

const OPEN_TO_ALL = {
  names: [{ name: "edit", agents: 1 }],
  edit: ["mixed edit 1"],
  leftOut: [],
  all: ["mixed edit 1"],
  agents: [
    ["closed", 0],
    ["mixed", 1, "edit 1"],
  ],
  mixed: [1, "edit 1"],
};

test("WB-212 an agent, and an unauthenticated client, sees only what is for it in lists and searches", async () => {
  expect(await seen(asParty(other))).toEqual(OPEN_TO_ALL);
  expect(await seen(asAnybody)).toEqual(OPEN_TO_ALL);
  const texts = await Promise.all(
    ["/v1/capabilities", "/v1/agents", "/v1/capabilities?capability=edit"].map((path) =>
      other.ask(path).then(({ text }) => text),
    ),
  );
  for (const text of texts) expect(text).not.toMatch(/secret|review/);
});

test("WB-212 an agent that is named by id or key sees what is for it besides what is for everybody", async () => {
  expect(await seen(asParty(editor))).toEqual({
    names: [
      { name: "edit", agents: 1 },
      { name: "secret", agents: 1 },
    ],
    edit: ["closed edit 1", "mixed edit 1", "mixed edit 2"],
    leftOut: [],
    all: ["closed edit 1", "closed secret 1", "mixed edit 1", "mixed edit 2"],
    agents: [
      ["closed", 2, "edit 1", "secret 1"],
      ["mixed", 2, "edit 1", "edit 2"],
    ],
    mixed: [2, "edit 1", "edit 2"],
  });
});

test("WB-212 an operator sees everything", async () => {
  const shown = await seen(asTheOperator);
  expect(shown["names"]).toEqual([
    { name: "edit", agents: 2 },
    { name: "review", agents: 1 },
    { name: "secret", agents: 1 },
  ]);
  expect(shown["mixed"]).toEqual([3, "edit 1", "edit 2", "review 1"]);
  expect(shown["agents"]).toEqual([
    ["closed", 2, "edit 1", "secret 1"],
    ["mixed", 3, "edit 1", "edit 2", "review 1"],
  ]);
});

test("WB-212 a search on a socket shows what is for the attached agent, and for the key of its hello", async () => {
  const search = async (party: Party): Promise<unknown> => {
    const wire: Wire = await party.attach();
    const { fits } = await wire.call("find", { capability: "edit" });
    await wire.close();
    return (fits as readonly Fit[]).map(({ agent_id: agent }) => agent).toSorted();
  };
  expect(await search(other)).toEqual(["mixed"]);
  expect(await search(editor)).toEqual(["closed", "mixed", "mixed"]);
});

test("WB-212 a manifest that is requested by agent id is complete, because its signature covers it", async () => {
  const path = "/.well-known/waybill/agents/mixed";
  const whole = (await asTheOperator(path)).text;
  expect((await other.ask(path)).text).toBe(whole);
  expect((await asAnybody(path)).text).toBe(whole);
});

test("WB-212 pages contain what is for the asker, however much for others is in between", async () => {
  for (let index = 0; index < 30; index++) {
    await world.party(`hidden-${index}`, [{ name: "edit", from: { agents: ["editor"] } }]);
  }
  await world.party("z", [{ name: "edit" }]);
  const pages: (readonly string[])[] = [];
  let after = "";
  for (let isMore = true; isMore;) {
    const query = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
    const page = await other.ask(`/v1/capabilities?capability=edit&limit=1${query}`);
    pages.push(placesOf(page));
    expect(page.text).not.toContain("hidden");
    after = (page.json["next"] as string | undefined) ?? "";
    isMore = after !== "";
  }
  expect(pages).toEqual([["mixed edit 1"], ["z edit 1"], []]);
});

test("WB-211 a handoff to an agent that does not take it is refused over HTTP and sockets, and not recorded", async () => {
  const before = await world.store.ledgerHead();
  const { text, envelope } = other.handoff("closed", { body: { capability: "secret" } });
  const refused = await other.submit(text);
  expect(refused).toMatchObject({ status: 403, json: { waybill_status: 403 } });
  expect(refused.json.detail).toContain("closed does not take secret from other");
  const wire = await other.attach();
  expect(await wire.call("submit", { envelope: text })).toMatchObject({
    problem: { waybill_status: 403 },
  });
  await wire.close();
  const unnamed = other.handoff("closed", {
    handoffId: newId(),
    to: { capability: "secret" },
    body: { capability: "secret" },
  });
  expect((await other.submit(unnamed.text)).json).toMatchObject({ waybill_status: 404 });
  expect(await world.store.ledgerHead()).toEqual(before);
  expect(await world.hub.handoff(envelope.handoff_id, "other")).toBeUndefined();
});
