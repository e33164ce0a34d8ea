/// <reference types="node" />
import { createReply, digestOf, digestOfJws, signEnvelope } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, openWorld } from "./served-fixture.ts";
import type { Party, Signed, Wire, World } from "./served-fixture.ts";

let world: World;
let owner: Party;
let worker: Party;
let owners: Wire;
let workers: Wire;
let bystanders: Wire;

beforeAll(async () => {
  world = await openWorld();
  owner = await world.party("owner");
  worker = await world.party("worker", [{ name: "work" }]);
  owners = await owner.attach(0);
  workers = await worker.attach();
  bystanders = await (await world.party("bystander")).attach(0);
});

afterAll(() => world.close());

interface Scene {
  readonly handoff: Signed;
  readonly question: Digest;
}

type Given = { readonly kind: string; readonly [member: string]: unknown };

interface Row {
  readonly by: "owner" | "worker";
  readonly say: (scene: Scene) => Given;
  /** What has happened before. */
  readonly after: readonly ("accepted" | "asked" | "ended")[];
  readonly right: string;
  /** To whom the hub forwards it, if it does. */
  readonly for?: "owner" | "worker";
}

const ofWorker = ({ handoff }: Scene) => ({ attempt: 1, re: digestOfJws(handoff.text) });
const ANYBODY = ["owner", "worker", "bystander", "nobody", "hub"];

const ROWS: Readonly<Record<string, Row>> = {
  acceptance: {
    by: "worker",
    say: (scene) => ({ kind: "receipt", ...ofWorker(scene), body: { status: 101 } }),
    after: [],
    right: "owner",
    for: "owner",
  },
  rejection: {
    by: "worker",
    say: (scene) => ({ kind: "receipt", ...ofWorker(scene), body: { status: 422 } }),
    after: [],
    right: "owner",
    for: "owner",
  },
  release: {
    by: "worker",
    say: (scene) => ({
      kind: "receipt",
      ...ofWorker(scene),
      body: { status: 300, retry_after_ms: 50_000 },
    }),
    after: ["accepted"],
    right: "owner",
    for: "owner",
  },
  progress: {
    by: "worker",
    say: (scene) => ({ kind: "progress", ...ofWorker(scene), body: {} }),
    after: ["accepted"],
    right: "owner",
    for: "owner",
  },
  question: {
    by: "worker",
    say: (scene) => ({ kind: "question", ...ofWorker(scene), body: { questions: [{ id: "q" }] } }),
    after: ["accepted"],
    right: "owner",
    for: "owner",
  },
  pause: {
    by: "worker",
    say: (scene) => ({
      kind: "question",
      ...ofWorker(scene),
      body: { questions: [{ id: "q" }], state: "s" },
    }),
    after: ["accepted"],
    right: "owner",
    for: "owner",
  },
  result: {
    by: "worker",
    say: (scene) => ({ kind: "result", ...ofWorker(scene), body: { status: 200, output: 1 } }),
    after: ["accepted"],
    right: "owner",
    for: "owner",
  },
  "late result": {
    by: "worker",
    say: (scene) => ({ kind: "result", ...ofWorker(scene), body: { status: 200, output: 2 } }),
    after: ["accepted", "ended"],
    right: "owner",
  },
  answer: {
    by: "owner",
    say: ({ question: re }) => ({ kind: "answer", re, body: { question_id: "q", answer: 1 } }),
    after: ["accepted", "asked"],
    right: "worker",
    for: "worker",
  },
  acknowledgement: {
    by: "owner",
    say: ({ handoff }) => ({
      kind: "receipt",
      re: digestOfJws(endOf(handoff)),
      body: { status: 200 },
    }),
    after: ["accepted", "ended"],
    right: "hub",
  },
};

function said(party: Party, { envelope }: Signed, given: Given): string {
  const reply = createReply(envelope, { from: party.id, ...given } as never);
  return signEnvelope(reply, party.key);
}

const ends = new Map<Signed, string>();
function endOf(handoff: Signed): string {
  const text = ends.get(handoff) ?? worker.result(handoff);
  ends.set(handoff, text);
  return text;
}

async function statusOf(text: string): Promise<number> {
  const { status, json } = await ask(`${world.url}/v1/envelopes`, { body: { envelope: text } });
  return json.waybill_status ?? status;
}

async function begun(after: Row["after"], to?: "worker"): Promise<Scene> {
  const handoff = owner.handoff("worker", to === undefined ? { to: { capability: "work" } } : {});
  expect(await statusOf(handoff.text)).toBe(200);
  await workers.next(
    "delivery",
    ({ delivery }) => delivery.handoff_id === handoff.envelope.handoff_id,
  );
  const scene = { handoff, question: digestOf("none was asked") };
  const take = async (text: string): Promise<Digest> => {
    expect(await statusOf(text)).toBe(200);
    const { delivery } = await owners.next("delivery");
    expect(delivery).toMatchObject({ envelope: text });
    return digestOfJws(text);
  };
  if (after.includes("accepted")) await take(worker.accept(handoff));
  if (after.includes("ended")) await take(endOf(handoff));
  if (!after.includes("asked")) return scene;
  const asked = { kind: "question", ...ofWorker(scene), body: { questions: [{ id: "q" }] } };
  return { ...scene, question: await take(said(worker, handoff, asked)) };
}

async function refused(by: Party, { handoff }: Scene, given: Given): Promise<void> {
  const path = `/v1/handoffs/${handoff.envelope.handoff_id}`;
  const before = [await world.store.ledgerHead(), (await owner.ask(path)).json];
  expect(await statusOf(said(by, handoff, given)), `to ${given["to"] as string}`).toBe(403);
  expect([await world.store.ledgerHead(), (await owner.ask(path)).json]).toEqual(before);
}

test.each(Object.entries(ROWS))(
  "an envelope with another addressee than it is meant for is refused: %s",
  async (_, { by, say, after, right, for: reader }) => {
    const party = by === "owner" ? owner : worker;
    const scene = await begun(after, "worker");
    for (const to of ANYBODY.filter((each) => each !== right)) {
      await refused(party, scene, { ...say(scene), to });
    }
    const text = said(party, scene.handoff, { ...say(scene), to: right });
    const isLate = after.includes("ended") && by === "worker";
    expect(await statusOf(text)).toBe(isLate ? 410 : 200);
    if (reader === undefined) return;
    // The first one to arrive is the right one: the others were not delivered.
    const { delivery } = await (reader === "owner" ? owners : workers).next("delivery");
    expect(delivery).toMatchObject({ type: "envelope", envelope: text });
  },
);

test("a cancellation goes to the recipient that the handoff names, or to the hub", async () => {
  for (const right of ["worker", "hub"]) {
    const scene = await begun(["accepted"], "worker");
    for (const to of ["owner", "bystander", "nobody"]) {
      await refused(owner, scene, { kind: "cancel", to, body: {} });
    }
    const text = said(owner, scene.handoff, { kind: "cancel", to: right, body: {} });
    expect(await statusOf(text)).toBe(200);
    await workers.next("delivery", ({ delivery }) => delivery.type === "stop");
    await owners.next("delivery");
  }
});

test("a cancellation goes to the hub if the hub has picked the recipient", async () => {
  const scene = await begun(["accepted"]);
  for (const to of ["owner", "worker", "bystander", "nobody"]) {
    await refused(owner, scene, { kind: "cancel", to, body: {} });
  }
  const text = said(owner, scene.handoff, { kind: "cancel", to: "hub", body: {} });
  expect(await statusOf(text)).toBe(200);
  await workers.next("delivery", ({ delivery }) => delivery.type === "stop");
  await owners.next("delivery");
});

test("none of these was delivered to a wrong addressee", async () => {
  bystanders.say({ type: "ping" });
  await bystanders.next("pong");
  expect(bystanders.has("delivery")).toBe(false);
});
