import { test } from "vitest";
import { testRatios } from "../ratios-fixture.ts";
import { protocol } from "./group.ts";

const group = protocol();

// Only the import of the compiled package needs preparing, and a unit test has nothing compiled.
test.each(group.cases.filter((each) => each.prepare === undefined))("$name runs", async (each) => {
  for (let i = 0; i < 3; i++) await each.run(2 * (each.opsPerRun ?? 1), () => 0);
});

testRatios(group);
