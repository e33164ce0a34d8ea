import { createHandoff, newId, signEnvelope, WaybillError } from "@waybill/protocol";
import type { Delivery, Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { settled, World } from "./world-fixture.ts";

test("a recipient refuses a handoff that was signed for another custody domain", async () => {
  const [here, there] = [await World.open(), await World.open()];
  expect(there.hub.id).toBe(here.hub.id);
  expect(there.hub.domain).not.toBe(here.hub.domain);
  // A hub that has got hold of another domain's handoff, and offers it as its own.
  let offer: (delivery: Delivery) => void = () => undefined;
  const submitted: string[] = [];
  const thief: Hub = {
    ...there.hub,
    manifests: (query) => here.hub.manifests(query),
    submit: (envelope) => {
      submitted.push(envelope);
      return there.hub.submit(envelope);
    },
    attach: (request, handler) => {
      offer = handler;
      return there.hub.attach(request, handler);
    },
  };
  const worker = there.agent("worker", {
    hub: thief,
    log: ({ event, error }) => event === "failure" && failures.push(error),
  });
  const failures: unknown[] = [];
  let runs = 0;
  worker.serve("work", () => ++runs);
  await worker.start();
  await here.agent("owner").start();
  const handoff = (domain: string) => {
    const { handoff_id, ...envelope } = createHandoff(
      { from: "owner", domain, to: "worker", body: { capability: "work" }, timeoutMs: 60_000 },
      { now: () => here.clock.now(), newId: () => newId() },
    );
    const text = signEnvelope({ ...envelope, handoff_id }, here.key("owner"));
    const times = { remaining_ms: 60_000, lease_ms: 30_000, received_at: {} };
    const about = { id: newId(), handoff_id, attempt: 1, is_accepted: false, answers: [] };
    return { type: "offer", ...about, ...times, envelope: text } as const;
  };

  offer(handoff(here.hub.domain));
  await settled();
  expect(failures.map((error) => WaybillError.from(error))).toMatchObject([
    { status: 403, at: "/domain" },
  ]);
  expect({ runs, submitted }).toEqual({ runs: 0, submitted: [] });
  // The same handoff of the hub's own domain is done.
  offer(handoff(there.hub.domain));
  await settled();
  expect(runs).toBe(1);
  await worker.stop({ mode: "abandon" });
});
