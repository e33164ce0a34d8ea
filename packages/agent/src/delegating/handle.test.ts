import { createReply, digestOfJws, signEnvelope } from "@waybill/protocol";
import type { Envelope } from "@waybill/protocol";
import type { Delivery, Hub } from "@waybill/protocol/wire";
import { beforeEach, expect, test } from "vitest";
import type { Agent } from "../agent.ts";
import { settled, World } from "../world-fixture.ts";
import type { HandoffHandle } from "./handoff-handle.ts";

const OTHER_DIGEST = `sha256:${"1".repeat(64)}` as const;
const OTHER_ID = "01890000-0000-7000-8000-00000000000a";

let world: World;
let owner: Agent;
let handle: HandoffHandle;
/** Delivers to the owner whatever a lying hub may. */
let deliver: (delivery: Delivery) => void;
let failures: unknown[];

beforeEach(async () => {
  world = await World.open();
  // An earlier test's owner may still fail at something.
  const own: unknown[] = [];
  failures = own;
  const lying: Hub = {
    ...world.hub,
    domain: world.hub.domain,
    attach(request, handler, show) {
      deliver = handler;
      return world.hub.attach(request, handler, show);
    },
  };
  for (const id of ["worker", "thief"]) {
    const agent = world.agent(id);
    agent.serve("work", () => new Promise<string>(() => undefined));
    await agent.start();
  }
  owner = world.agent("owner", {
    hub: lying,
    log: ({ event, error }) => void (event === "failure" && own.push(error)),
  });
  handle = owner.handoff({ to: "worker", capability: "work" });
  await handle.accepted;
});

async function pass(envelope: Envelope, signer: string): Promise<void> {
  const text = signEnvelope(envelope, world.key(signer));
  const id = digestOfJws(text);
  deliver({ type: "envelope", id, handoff_id: handle.id, envelope: text, received_at: {} });
  await settled();
}

function result(from: string) {
  const body = { status: 200, output: from } as const;
  const about = { kind: "result", from, attempt: 1, re: handle.digest, body } as const;
  return createReply(handle.envelope, about, {
    now: () => world.clock.now(),
    newId: () => OTHER_ID,
  });
}

test.each([
  ["by a third party", () => result("thief"), "thief"],
  ["about another handoff", () => ({ ...result("worker"), handoff_id: OTHER_ID }), "worker"],
  ["about another text", () => ({ ...result("worker"), re: OTHER_DIGEST }), "worker"],
  ["for somebody else", () => ({ ...result("worker"), to: "thief" }), "worker"],
  ["of another job", () => ({ ...result("worker"), correlation_id: OTHER_ID }), "worker"],
])("a result %s does not settle a handoff", async (_, made, signer) => {
  await pass(made(), signer);
  expect(failures).toMatchObject([{ status: 403 }]);
  await pass(result("worker"), "worker");
  expect(await handle.result).toMatchObject({ output: "worker" });
});

test("a notice by anybody but the hub does not end a handoff", async () => {
  const { re: _re, attempt: _attempt, ...rest } = result("thief");
  const body = { status: 504, reason: "over" };
  await pass({ ...rest, kind: "notice", body } as unknown as Envelope, "thief");
  expect(failures).toMatchObject([{ status: 403 }]);
  await pass(result("worker"), "worker");
  expect(await handle.result).toMatchObject({ output: "worker" });
});

test("of two results the first counts, and a result that is delivered twice counts once", async () => {
  const first = result("worker");
  await pass(first, "worker");
  await pass(first, "worker");
  await pass({ ...first, body: { status: 200, output: "another" } }, "worker");
  expect(failures).toEqual([]);
  expect(await handle.result).toMatchObject({ output: "worker" });
});
