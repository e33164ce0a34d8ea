/// <reference types="node" />
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AdapterFixture } from "./fixture.ts";
import { plainFixture } from "./plain-fixture.ts";

/** Locks its session while it runs. A process that is killed leaves a stale lock. */
export const fixture: AdapterFixture = plainFixture({
  async run(run, next, { folder }) {
    const lock = join(folder, "lock");
    if (existsSync(lock)) throw new Error("The session is in use.");
    writeFileSync(lock, run.handoffId);
    try {
      return await next(run);
    } finally {
      rmSync(lock);
    }
  },
});
