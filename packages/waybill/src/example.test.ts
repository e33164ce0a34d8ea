/// <reference types="node" />
import { afterEach, expect, test, vi } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";

const EXAMPLE = new URL("../examples/agent.ts", import.meta.url);

const place = new Workplace();
afterEach(async () => {
  vi.unstubAllEnvs();
  await place.close();
});

test("the README's agent keeps its identity across restarts on the same hub", async () => {
  vi.stubEnv("WAYBILL_KEYS", place.path("keys"));
  await startDev(place);
  for (let start = 1; start <= 2; start++) {
    const agent = place.startScript(EXAMPLE, ["anna"]);
    expect(await agent.line()).toBe("anna is ready");
    agent.child.kill("SIGKILL");
    await agent.ended();
  }
});
