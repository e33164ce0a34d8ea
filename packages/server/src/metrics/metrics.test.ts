import { HUB_LIMITS } from "@waybill/hub";
import { LIMITS } from "@waybill/protocol";
import { SCHEMA_LIMITS } from "@waybill/protocol/hub";
import { expect, test } from "vitest";
import { BUDGETS, SERVED_LIMITS } from "../budgets.ts";
import { ask, asOperator, openWorld, Wire } from "../served-fixture.ts";
import { Exposition } from "./exposition.ts";

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = `[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"`;
const SAMPLE = new RegExp(`^(${NAME})(\\{${LABEL}(?:,${LABEL})*\\})? (-?[0-9.e+-]+|NaN|[+-]Inf)$`);

/** Reads the text format as Prometheus does: a type before its samples, each sample once. */
function read(text: string): Map<string, number> {
  expect(text.endsWith("\n")).toBe(true);
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  for (const line of text.slice(0, -1).split("\n")) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (type !== null) {
      expect(types.has(type[1]!)).toBe(false);
      types.set(type[1]!, type[2]!);
      continue;
    }
    if (line.startsWith("# HELP ")) continue;
    const match = SAMPLE.exec(line);
    expect(match, line).not.toBeNull();
    const [, name, labels = "", value] = match!;
    const family = types.has(name!) ? name! : name!.replace(/_(bucket|sum|count)$/, "");
    expect(types.has(family), line).toBe(true);
    expect(samples.has(name! + labels), line).toBe(false);
    samples.set(name! + labels, Number(value));
  }
  return samples;
}

test("metrics are written in the format of Prometheus, with escaped labels", async () => {
  const page = new Exposition();
  const counter = page.counter("things_total", "Things.");
  counter.add({ of: 'a "b" \\ \n c' }, 2);
  counter.add({ of: 'a "b" \\ \n c' });
  const histogram = page.histogram("wait_seconds", "Waits.", [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe(value, { route: "/x" });
  page.read("gauge", "level", "Level.", () => 0.5);
  const samples = read(await page.text());
  expect([...samples]).toEqual([
    ['things_total{of="a \\"b\\" \\\\ \\n c"}', 3],
    ['wait_seconds_bucket{route="/x",le="0.1"}', 2],
    ['wait_seconds_bucket{route="/x",le="1"}', 3],
    ['wait_seconds_bucket{route="/x",le="+Inf"}', 4],
    ['wait_seconds_sum{route="/x"}', 7.65],
    ['wait_seconds_count{route="/x"}', 4],
    ["level", 0.5],
  ]);
});

test("/metrics reports the activity of a hub, and names nobody", async () => {
  const world = await openWorld();
  const owner = await world.party("owner");
  const worker = await world.party("worker", [{ name: "work" }]);
  const wire = await worker.attach(4);
  const handoff = owner.handoff("worker");
  await wire.call("submit", { envelope: handoff.text });
  await wire.delivery("offer");
  const during = read((await ask(`${world.url}/metrics`)).text);
  expect(during.get('waybill_attached_agents{line="socket"}')).toBe(1);
  expect(during.get('waybill_attached_agents{line="poll"}')).toBe(0);
  expect(during.get("waybill_attempts_in_flight")).toBe(1);
  expect(during.get("waybill_credit")).toBe(3);
  await worker.submit(worker.result(handoff));
  await ask(`${world.url}/no/such/${"x".repeat(50)}`);
  await ask(`${world.url}/v1/agents/nobody-${Date.now()}`);
  await wire.close();
  const { text, headers } = await ask(`${world.url}/metrics`);
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const after = read(text);
  expect(after.get('waybill_handoffs_ended_total{status="200"}')).toBe(1);
  expect(after.get("waybill_attempts_in_flight")).toBe(0);
  expect(after.get('waybill_socket_call_seconds_count{call="submit",status="200"}')).toBe(1);
  const route = 'route="/v1/envelopes",method="POST",status="200"';
  expect(after.get(`waybill_http_request_seconds_count{${route}}`)).toBe(1);
  expect(after.get("waybill_ledger_entries_total")).toBeGreaterThan(5);
  expect(after.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
  for (const name of ["owner", "worker", "nobody", "such", handoff.envelope.handoff_id]) {
    expect(text).not.toContain(name);
  }
  await world.close();
});

test("/metrics has every budget, and how often it was reached", async () => {
  const world = await openWorld({ serve: { limits: { helloMs: 50 } } });
  const first = await Wire.open(world.url);
  await first.closed;
  const samples = read((await ask(`${world.url}/metrics`)).text);
  for (const [name, { per, unit }] of Object.entries(BUDGETS)) {
    const labels = `{budget="${name}",per="${per}",unit="${unit}"}`;
    expect(samples.get(`waybill_budget_limit${labels}`), name).toBeGreaterThanOrEqual(0);
  }
  for (const name of Object.keys(SERVED_LIMITS)) {
    expect(samples.get(`waybill_budget_hits_total{budget="${name}"}`), name).toBe(
      name === "helloMs" ? 1 : 0,
    );
  }
  await world.close();
});

test("every limit of the protocol, of schemas, of a hub and of its server is in one table of budgets", () => {
  const all = { ...LIMITS, ...SCHEMA_LIMITS, ...HUB_LIMITS, ...SERVED_LIMITS };
  const limits = Object.entries(BUDGETS).map(([name, { limit }]) => [name, limit]);
  expect(Object.fromEntries(limits)).toEqual(all);
});

test("/metrics has the limits of this hub", async () => {
  const world = await openWorld({
    hub: { limits: { fanOut: 7, openHandoffs: 70 } },
    serve: { limits: { helloMs: 777 } },
  });
  const samples = read((await ask(`${world.url}/metrics`)).text);
  const limit = (budget: string, per: string, unit: string) =>
    samples.get(`waybill_budget_limit{budget="${budget}",per="${per}",unit="${unit}"}`);
  expect(limit("fanOut", "handoff", "handoffs")).toBe(7);
  expect(limit("openHandoffs", "agent", "handoffs")).toBe(70);
  expect(limit("helloMs", "connection", "milliseconds")).toBe(777);
  expect(limit("querySteps", "query", "steps")).toBe(SCHEMA_LIMITS.querySteps);
  await world.close();
});

test("/metrics of a public hub is for its operator", async () => {
  const world = await openWorld({ serve: { isBehindProxy: true } });
  const owner = await world.party("owner");
  const url = `${world.url}/metrics`;
  expect((await ask(url)).status).toBe(401);
  expect((await owner.ask("/metrics")).status).toBe(403);
  const headers = asOperator(world.served, "/metrics");
  expect((await ask(url, { headers })).status).toBe(200);
  await world.close();
});
